"""Whether all servers answer the same rows: what must hold before any of them is measured.

Compared are the values of every field of every row and whether a page follows. Put aside is what a server may spell in
its own way: cursors, the name of the id, the case of enumerations, how many digits a fraction has.
"""

import http.client
import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from scripts.benchmarking.contenders import Contender
from scripts.benchmarking.load import HOST
from scripts.benchmarking.shapes import SHAPES, Shape

PAGES = 2
_ANSWER_SECONDS = 60

Row = dict[str, Any]  # Any: JSON


class AnswersDiffer(Exception):
    """A server answers other rows than the gateway; the message names it, the page and the field."""


def exchange(port: int, request: bytes) -> Any:  # Any: JSON
    """The JSON that a server answers to a request made beforehand."""
    head, _, body = request.partition(b"\r\n\r\n")
    first, *lines = head.decode("ascii").split("\r\n")
    method, target, _ = first.split(" ")
    connection = http.client.HTTPConnection(HOST, port, timeout=_ANSWER_SECONDS)
    try:
        connection.request(method, target, body or None, dict(line.split(": ", 1) for line in lines))
        response = connection.getresponse()
        content = response.read()
    finally:
        connection.close()
    if response.status != http.HTTPStatus.OK:
        raise AnswersDiffer(f"{target.partition('?')[0]} answered {response.status}: {content[:300]!r}")
    return json.loads(content)


def check_answers(contenders: Sequence[Contender], principals: Sequence[int]) -> int:
    """Compare every contender with the first one on the first pages of each shape: how many pages were compared.

    Raises AnswersDiffer.
    """
    compared = 0
    for shape in SHAPES:
        for principal in principals:
            first, *others = contenders
            expected = _walk(first, shape, principal)
            if any(len(rows) < shape.rows for rows, _ in expected):
                raise AnswersDiffer(f"principal {principal} has too few rows for {PAGES} pages of {shape.rows}")
            for other in others:
                for number, (page, wanted) in enumerate(zip(_walk(other, shape, principal), expected, strict=True), 1):
                    _compare(f"{other.name}, page {number} of {shape.name}", page, wanted)
                    compared += 1
    return compared


def _walk(contender: Contender, shape: Shape, principal: int) -> list[tuple[list[Row], bool]]:
    pages, after = [], None
    for _ in range(PAGES):
        answer = exchange(contender.server.port, contender.page(shape, principal, after=after))
        if "errors" in answer:
            raise AnswersDiffer(f"{contender.name} answers with errors: {str(answer['errors'])[:300]}")
        page = answer["data"]["page"]
        after = page["pageInfo"]["endCursor"]
        pages.append(([plain(edge["node"]) for edge in page["edges"]], page["pageInfo"]["hasNextPage"]))
    return pages


def _compare(place: str, page: tuple[list[Row], bool], wanted: tuple[list[Row], bool]) -> None:
    if len(page[0]) != len(wanted[0]):
        raise AnswersDiffer(f"{place}: {len(page[0])} rows, not {len(wanted[0])}")
    for number, (row, expected) in enumerate(zip(page[0], wanted[0], strict=True)):
        for field, value in expected.items():
            if field not in row or row[field] != value:
                raise AnswersDiffer(f"{place}, row {number}: {field} is {row.get(field)!r}, not {value!r}")
    if page[1] is not wanted[1]:
        raise AnswersDiffer(f"{place}: hasNextPage is {page[1]}")


def plain(node: Row) -> Row:
    """A row with every value in the one spelling of the comparison."""
    return {"id" if field == "rowId" else field: _plain(field, value) for field, value in node.items()}


def _plain(field: str, value: Any) -> Any:  # Any: JSON
    if value is None:
        return None
    if field == "confidence":
        return float(value)
    if field.endswith("At") or field in {"validFrom", "validTo"}:
        return datetime.fromisoformat(value).timestamp()
    if isinstance(value, str) and field not in {"statement", "subject"}:
        return value.lower()
    return value
