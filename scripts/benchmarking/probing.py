"""The gateway alone: what a page costs on principals of other sizes, at depth, with a text, with its count; writes.

A probe is one request over and over on one connection; its figure is the median latency. Probes are interleaved too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, islice

from gateway.service.cursors import encode_cursor
from scripts.benchmarking.contenders import Contender
from scripts.benchmarking.data import ABSENT_WORD, TENANT, WORDS
from scripts.benchmarking.database import Database
from scripts.benchmarking.figures import Probe, Round, Writes, median_of
from scripts.benchmarking.load import REQUESTS_MAX, Job, drive
from scripts.benchmarking.loading import connected
from scripts.benchmarking.measuring import checked, measured
from scripts.benchmarking.shapes import CEILING, SMALL
from scripts.benchmarking.sizes import CONNECTIONS, Sizes

CROWD_CONNECTIONS = 200
WARM_ROUNDS = 2
"""The first use of a token is written down, behind the request."""
WARM_SECONDS_MAX = 30.0
SHOWN = "sensitivity <= 2 and status in (1, 2) and ends_at > now()"
"""What the ceiling of the questions shows of live beliefs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A request to be probed."""

    group: str
    label: str
    request: bytes


async def questions(
    contender: Contender, database: Database, principals: Mapping[int, int], sizes: Sizes
) -> list[Question]:
    """What is asked of principals by their number of rows. The first question of a group is what others are held to."""
    rows_max = max(principals)
    largest = principals[rows_max]
    asked = [
        *(
            Question(group="rows of one principal", label=f"{rows:,}", request=contender.page(SMALL, principal))
            for rows, principal in principals.items()
        ),
        *(
            Question(group="total count", label=f"{rows:,} rows", request=contender.ask(_COUNT, principal))
            for rows, principal in principals.items()
        ),
    ]
    for page in sizes.depth_pages:
        after = None if page == 1 else await _cursor_before(database, largest, page)
        label = f"page {page:,} of {SMALL.rows} rows"
        asked.append(Question(group="depth", label=label, request=contender.page(SMALL, largest, after=after)))
    asked.append(Question(group="text", label="no text", request=contender.page(SMALL, largest)))
    for word in (*WORDS, ABSENT_WORD):
        share = f"in {100 * WORDS[word][1] / WORDS[word][0]:g} %" if word in WORDS else "in none"
        asked.append(
            Question(group="text", label=f"{share} of {rows_max:,} rows", request=contender.ask(_text(word), largest))
        )
    return asked


def probe(contender: Contender, database: Database, asked: Sequence[Question], sizes: Sizes) -> list[Probe]:
    """The probes of the questions, in their order."""
    rounds = [
        [measured(contender, database, _repeated(contender, question, sizes.probe_seconds))[0] for question in asked]
        for _ in range(sizes.probe_rounds + 1)
    ]
    # The first round makes plans and fills caches.
    medians = [median_of(each) for each in zip(*rounds[1:], strict=True)]
    probes = [_probe(question.group, question.label, each) for question, each in zip(asked, medians, strict=True)]
    return [each for _, group in groupby(probes, key=lambda each: each.group) for each in held_to_first(list(group))]


def probe_total(contender: Contender, database: Database, principals: Sequence[int], total: int, sizes: Sizes) -> Probe:
    """A page while so many rows are stored in all, of principals in turn; its multiple is left to `held_to_first`."""
    job = Job(
        port=contender.server.port,
        requests=contender.pages(SMALL, principals),
        connections=1,
        seconds=WARM_SECONDS_MAX,
        count=WARM_ROUNDS * len(principals),
    )
    checked(contender.name, drive(job))
    each, _ = measured(contender, database, replace(job, seconds=10 * sizes.probe_seconds, count=REQUESTS_MAX))
    return _probe("rows of all principals", f"{total:,}", each)


def held_to_first(probes: Sequence[Probe]) -> list[Probe]:
    """The probes as multiples of the first one."""
    return [each.held_to(probes[0]) for each in probes]


async def measure_writes(
    contender: Contender, database: Database, principals: Sequence[int], sizes: Sizes
) -> list[Writes]:
    """Reviews by a few and by a crowd, then deletes: each write of another belief, all of them durable."""
    kinds = (
        ("review", _review, CONNECTIONS),
        ("review", _review, CROWD_CONNECTIONS),
        ("delete", _delete, CONNECTIONS),
    )
    ids = await _visible_ids(database, principals, len(kinds) * sizes.write_count)
    found = []
    for number, (label, request_of, connections) in enumerate(kinds):
        share = ids[number * len(ids) // len(kinds) : (number + 1) * len(ids) // len(kinds)]
        job = Job(
            port=contender.server.port,
            requests=[request_of(contender, principal, id) for principal, id in share],
            connections=connections,
            seconds=sizes.write_seconds,
            distinct=True,
        )
        # A crowd may wait longer for a connection than the gateway lets it.
        each, outcome = measured(contender, database, job, refusals_allowed=True)
        found.append(
            Writes(
                label=label,
                connections=connections,
                count=outcome.answers,
                refused=outcome.wrong,
                rate=each.rate,
                p50=each.p50,
                p99=each.p99,
                server_cpu=each.server_cpu,
                database_cpu=each.database_cpu,
            )
        )
    return found


def asked_in_turn(count: int, most: int) -> list[int]:
    """At most so many of the principals 1 to `count`, spread over all of them."""
    return sorted({1 + number * count // min(count, most) for number in range(min(count, most))})


def _probe(group: str, label: str, each: Round) -> Probe:
    """A probe that is held to nothing yet."""
    return Probe(
        group=group,
        label=label,
        p50=each.p50,
        server_cpu=each.server_cpu,
        database_cpu=each.database_cpu,
        multiple=1.0,
        cpu_multiple=1.0,
    )


_FIELDS = " ".join(SMALL.fields)
_COUNT = f"{{ page: memories(ceiling: {CEILING}, first: 1) {{ totalCount }} }}"


def _text(word: str) -> str:
    return (
        f'{{ page: memories(ceiling: {CEILING}, first: {SMALL.rows}, text: "{word}") {{ '
        f"edges {{ cursor node {{ {_FIELDS} }} }} pageInfo {{ hasNextPage endCursor }} }} }}"
    )


_REVIEW = "mutation Review($input: ReviewMemoryInput!) { reviewMemory(input: $input) { memory { id status } } }"
_DELETE = "mutation Delete($input: DeleteMemoryInput!) { deleteMemory(input: $input) { deletedId } }"


def _review(contender: Contender, principal: int, id: str) -> bytes:
    given = {"id": id, "ceiling": CEILING, "outcome": "DISMISS", "idempotencyKey": f"review-{id}"}
    return contender.ask(_REVIEW, principal, {"input": given})


def _delete(contender: Contender, principal: int, id: str) -> bytes:
    given = {"id": id, "ceiling": CEILING, "idempotencyKey": f"delete-{id}"}
    return contender.ask(_DELETE, principal, {"input": given})


def _repeated(contender: Contender, question: Question, seconds: float) -> Job:
    return Job(
        port=contender.server.port, requests=[question.request], connections=1, seconds=seconds, count=REQUESTS_MAX
    )


async def _cursor_before(database: Database, principal: int, page: int) -> str:
    """The cursor behind which that page begins: of the last row shown before it."""
    async with connected(database.url) as connection:
        row = await connection.fetchrow(
            f"""select store_position, id from beliefs
            where tenant_id = $1 and principal_id = $2 and store_position > 0 and {SHOWN}
            order by store_position desc, id offset $3 limit 1""",
            TENANT,
            str(principal),
            (page - 1) * SMALL.rows - 1,
        )
    assert row is not None, f"principal {principal} has {page} pages"
    return encode_cursor(row["store_position"], row["id"])


async def _visible_ids(database: Database, principals: Sequence[int], count: int) -> list[tuple[int, str]]:
    """Ids that the ceiling shows, of the principals in turn, none linked: a link would add another belief's write."""
    each = -(-count // len(principals))
    async with connected(database.url) as connection:
        rows = await connection.fetch(
            f"""select principal.number, belief.id from unnest($1::int[]) principal (number) cross join lateral (
                select id, store_position from beliefs
                where tenant_id = $2 and principal_id = principal.number::text and store_position > 0
                    and {SHOWN} and cardinality(conflicts_with) = 0
                order by store_position desc limit $3
            ) belief order by row_number() over (partition by principal.number order by store_position), number""",
            list(principals),
            TENANT,
            each,
        )
    return [(row["number"], str(row["id"])) for row in islice(rows, count)]
