"""Servers under load: pages in interleaved rounds, a fixed low rate, and a tiny query beside large pages.

Rounds are interleaved, so that what else the machine does falls on all servers alike. CPU is read from the system's own
accounts before and after each round, of the server with its children and of the database with all its backends.
"""

from collections.abc import Callable, Mapping, Sequence

from gateway.rest.operations import MEMORIES_PATH
from scripts.benchmarking.contenders import Contender
from scripts.benchmarking.database import Database
from scripts.benchmarking.figures import Latency, Round, TinyLatency, median_of
from scripts.benchmarking.load import Job, LoadFailed, Outcome, drive, finish, start
from scripts.benchmarking.shapes import EXTRA_LARGE, SHAPES, SMALL, Shape, get
from scripts.benchmarking.sizes import CONNECTIONS, Sizes

LOW_RATES = {SMALL.name: 50.0, EXTRA_LARGE.name: 8.0}
"""Requests a second that every server bears with room to spare."""
LARGE_PAGE_CONNECTIONS = 4
TINY_RATE = 50.0
TINY_CONNECTIONS = 8
"""Enough that the next one is asked when it is due, though earlier ones wait: or a stall would be seen once only."""
REST = "rest"

Say = Callable[[str], None]


def measured(
    contender: Contender, database: Database, job: Job, *, refusals_allowed: bool = False
) -> tuple[Round, Outcome]:
    """Drive a server and account for it. Raises LoadFailed for any wrong answer, unless they are allowed."""
    server, stored = contender.server.usage(), database.usage()
    outcome = drive(job)
    used, read = contender.server.usage(), database.usage()
    if not refusals_allowed:
        checked(contender.name, outcome)
    per_answer = 1000 / outcome.answers
    return (
        Round(
            rate=outcome.rate,
            server_cpu=(used.cpu_seconds - server.cpu_seconds) * per_answer,
            database_cpu=(read.cpu_seconds - stored.cpu_seconds) * per_answer,
            generator_cpu=outcome.cpu_seconds * per_answer,
            p50=outcome.percentile_ms(0.5),
            p99=outcome.percentile_ms(0.99),
            answer_bytes=outcome.answer_bytes / outcome.answers,
            resident=used.resident_megabytes,
        ),
        outcome,
    )


def checked(name: str, outcome: Outcome) -> Outcome:
    """The outcome, if every answer was right. Raises LoadFailed."""
    if outcome.wrong or not outcome.answers:
        raise LoadFailed(f"{name}: {outcome.wrong} of {outcome.answers} answers were wrong")
    return outcome


def measure_pages(
    contenders: Sequence[Contender], database: Database, principals: Sequence[int], sizes: Sizes, say: Say
) -> dict[str, dict[str, Round]]:
    """The medians of each server for each shape; the gateway's REST list beside them where it has the same fields."""
    pages: dict[str, dict[str, Round]] = {}
    for shape in SHAPES:
        say(f"pages of shape {shape.name}: {shape.rows} rows of {len(shape.fields)} fields")
        asked = [(contender.name, contender, contender.pages(shape, principals)) for contender in contenders]
        if shape is not SMALL:
            asked.append((REST, contenders[0], _rest_pages(contenders[0], shape, principals)))
        for name, contender, requests in asked:
            checked(name, drive(_closed(contender, requests, sizes.warm_seconds)))
        rounds: dict[str, list[Round]] = {name: [] for name, _, _ in asked}
        for _ in range(sizes.rounds):
            for name, contender, requests in asked:
                rounds[name].append(measured(contender, database, _closed(contender, requests, sizes.round_seconds))[0])
        pages[shape.name] = {name: median_of(each) for name, each in rounds.items()}
    return pages


def measure_low_load(
    contenders: Sequence[Contender], principals: Sequence[int], sizes: Sizes
) -> dict[str, dict[str, Latency]]:
    """Latencies at a rate that leaves the cores idle most of the time: the only ones whose tail tells of the server."""
    return {
        shape.name: {
            contender.name: _latency(
                checked(
                    contender.name,
                    drive(
                        Job(
                            port=contender.server.port,
                            requests=contender.pages(shape, principals),
                            connections=2,
                            seconds=sizes.low_load_seconds,
                            rate=LOW_RATES[shape.name],
                        )
                    ),
                ),
                LOW_RATES[shape.name],
            )
            for contender in contenders
        }
        for shape in (SMALL, EXTRA_LARGE)
    }


def measure_tiny(contenders: Sequence[Contender], principals: Sequence[int], sizes: Sizes) -> Mapping[str, TinyLatency]:
    """The tail of a tiny query: what large pages of others do to everybody else."""
    return {contender.name: _tiny(contender, principals, sizes) for contender in contenders}


def _tiny(contender: Contender, principals: Sequence[int], sizes: Sizes) -> TinyLatency:
    tiny = Job(
        port=contender.server.port,
        requests=[contender.tiny(principals[0])],
        connections=TINY_CONNECTIONS,
        seconds=sizes.tiny_seconds,
        rate=TINY_RATE,
    )
    idle = checked(contender.name, drive(tiny))
    large = start(
        Job(
            port=contender.server.port,
            requests=contender.pages(EXTRA_LARGE, principals),
            connections=LARGE_PAGE_CONNECTIONS,
            seconds=sizes.tiny_seconds + 1.0,
        )
    )
    busy = checked(contender.name, drive(tiny))
    checked(contender.name, finish(large))
    return TinyLatency(
        idle_p50=idle.percentile_ms(0.5),
        busy_p50=busy.percentile_ms(0.5),
        busy_p90=busy.percentile_ms(0.9),
        busy_p99=busy.percentile_ms(0.99),
    )


def _latency(outcome: Outcome, rate: float) -> Latency:
    return Latency(
        rate=rate,
        samples=outcome.answers,
        p50=outcome.percentile_ms(0.5),
        p99=outcome.percentile_ms(0.99),
    )


def _closed(contender: Contender, requests: Sequence[bytes], seconds: float) -> Job:
    return Job(port=contender.server.port, requests=requests, connections=CONNECTIONS, seconds=seconds)


def _rest_pages(contender: Contender, shape: Shape, principals: Sequence[int]) -> list[bytes]:
    parameters: dict[str, str | int] = {"ceiling": "sensitive", "limit": shape.rows}
    return [get(MEMORIES_PATH, parameters, contender.headers(principal)) for principal in principals]
