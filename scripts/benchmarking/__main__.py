"""The command: builds, checks, measures, writes. See `scripts/bench --help`."""

import argparse
import json
import signal
import sys
from pathlib import Path

from scripts.benchmarking.answers import AnswersDiffer
from scripts.benchmarking.contenders import PEERS, ROOT
from scripts.benchmarking.load import LoadFailed
from scripts.benchmarking.node import NodeMissing
from scripts.benchmarking.plotting import plot
from scripts.benchmarking.processes import ServerFailed
from scripts.benchmarking.report import markdown, ratio_table
from scripts.benchmarking.running import Options, run
from scripts.benchmarking.sizes import ROWS, ROWS_MAX, ROWS_MIN
from store.postgres.embedded.errors import EmbeddedPostgresError

FOLDER = ROOT / ".bench"


def main() -> int:
    """Run the benchmark; 1 with a line on standard error where it could not be run to its end."""
    options, json_file, output = _options()
    # What was started is stopped on the way out, which the usual end by this signal would not be.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        figures = run(options)
    except (AnswersDiffer, EmbeddedPostgresError, LoadFailed, NodeMissing, ServerFailed) as error:
        print(f"scripts/bench: {error}", file=sys.stderr)
        return 1
    output.mkdir(parents=True, exist_ok=True)
    content = json.dumps(figures.content(), indent=2)
    for path in (output / "figures.json", *([json_file] if json_file else ())):
        path.write_text(content + "\n", encoding="utf-8")
    (output / "report.md").write_text(markdown(figures), encoding="utf-8")
    plot(figures, output / "report.svg")
    print(f"{ratio_table(figures)}\n\nThe report is {output / 'report.md'}, its picture report.svg beside it.")
    return 0


def _options() -> tuple[Options, Path | None, Path]:
    parser = argparse.ArgumentParser(
        prog="scripts/bench",
        description="Measures the gateway beside plain Strawberry, mercurius with its JIT, graphql-yoga and "
        "PostGraphile 5. All of them serve the same invented beliefs from one PostgreSQL that the benchmark starts, on "
        "this machine alone. It checks that all answer the same rows, and then measures in interleaved rounds. Needs "
        "Node with npm; the packages are installed once into the folder's cache. It asserts no figure.",
    )
    parser.add_argument("--quick", action="store_true", help="short rounds and fewer sizes: a few minutes on 2 cores")
    parser.add_argument(
        "--rows",
        type=_rows,
        metavar="COUNT",
        help=f"beliefs in all, {ROWS_MIN:,} to {ROWS_MAX:,}, 1,000 of each principal; a page is then also measured "
        f"at 100,000 and 1,000,000 on the way. Default: {ROWS:,}",
    )
    parser.add_argument(
        "--peers", type=_peers, default=PEERS, metavar="NAMES", help=f"some of {','.join(PEERS)}, or none"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures as JSON to this file")
    parser.add_argument(
        "--output", type=Path, default=FOLDER, metavar="FOLDER", help="where report and cache lie. Default: .bench"
    )
    given = parser.parse_args()
    output = given.output.absolute()
    return Options(quick=given.quick, rows=given.rows, peers=given.peers, cache=output / "cache"), given.json, output


def _rows(text: str) -> int:
    rows = int(text.replace("_", "").replace(",", ""))
    if not ROWS_MIN <= rows <= ROWS_MAX:
        raise argparse.ArgumentTypeError(f"must be from {ROWS_MIN:,} to {ROWS_MAX:,}")
    return rows


def _peers(text: str) -> tuple[str, ...]:
    names = [] if text == "none" else text.split(",")
    unknown = sorted(set(names) - set(PEERS))
    if unknown:
        raise argparse.ArgumentTypeError(f"unknown: {', '.join(unknown)}")
    return tuple(peer for peer in PEERS if peer in names)


if __name__ == "__main__":
    sys.exit(main())
