"""The figures of a run, and what follows from them: medians over rounds, and ratios.

Times are milliseconds, memory is megabytes of a million bytes, a rate is requests a second.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from statistics import median
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One server under one kind of request, as fast as it answers. CPU is per request, `resident` the server's."""

    rate: float
    server_cpu: float
    database_cpu: float
    generator_cpu: float
    p50: float
    p99: float
    answer_bytes: float
    resident: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """How long answers took at a fixed rate."""

    rate: float
    samples: int
    p50: float
    p99: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TinyLatency:
    """How long a tiny query took at a low rate, alone and while others ask for large pages."""

    idle_p50: float
    busy_p50: float
    busy_p90: float
    busy_p99: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One kind of request of one principal, on one connection.

    Multiples are of the group's first probe: by p50, and by the CPU of server and database together, which what else
    the machine does disturbs less.
    """

    group: str
    label: str
    p50: float
    server_cpu: float
    database_cpu: float
    multiple: float
    cpu_multiple: float

    @property
    def cpu(self) -> float:
        """CPU of server and database per request."""
        return self.server_cpu + self.database_cpu

    def held_to(self, first: "Probe") -> "Probe":
        """The same probe as multiples of another one."""
        return replace(self, multiple=self.p50 / first.p50, cpu_multiple=self.cpu / first.cpu)


@dataclass(frozen=True, slots=True, kw_only=True)
class Writes:
    """One kind of write, each of another belief, over so many connections. `rate` counts what was not refused."""

    label: str
    connections: int
    count: int
    refused: int
    rate: float
    p50: float
    p99: float
    server_cpu: float
    database_cpu: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceiling:
    """What pgbench reaches with the statement of a page."""

    rows: int
    rate: float
    database_cpu: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """What it takes to start, as multiples of the CPU of `python -c pass`."""

    python_cpu: float
    help_multiple: float
    ready_multiple: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """The gateway beside a peer: `rps` ours over theirs, `cpu` theirs over ours, so that more is better in both."""

    rps: float
    cpu: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Everything that a run measured. `pages` is by shape, then by server; what was left out says why in `skipped`."""

    made_at: str
    quick: bool
    rows: int
    seconds: float
    machine: Mapping[str, str | int]
    versions: Mapping[str, str]
    answers_compared: int
    pages: Mapping[str, Mapping[str, Round]]
    low_load: Mapping[str, Mapping[str, Latency]]
    tiny: Mapping[str, TinyLatency]
    probes: Sequence[Probe]
    writes: Sequence[Writes]
    ceilings: Sequence[Ceiling]
    start: Start | None
    skipped: Sequence[str]

    def content(self) -> dict[str, Any]:  # Any: JSON
        """The figures with their ratios, as JSON has them."""
        compared = {
            shape: {peer: asdict(ratio) for peer, ratio in by_peer.items()}
            for shape, by_peer in ratios(self.pages).items()
        }
        return {"ratios": compared, **asdict(self)}


def median_of(rounds: Sequence[Round]) -> Round:
    """The median of each figure by itself."""
    return Round(**{field.name: median(getattr(each, field.name) for each in rounds) for field in fields(Round)})


def ratios(
    pages: Mapping[str, Mapping[str, Round]], *, ours: str = "gateway", beside: Sequence[str] = ("rest",)
) -> dict[str, dict[str, Ratio]]:
    """For each shape and peer the ratios; what is ours as well (`beside`) is no peer."""
    return {
        shape: {
            name: Ratio(
                rps=servers[ours].rate / theirs.rate,
                cpu=theirs.server_cpu / servers[ours].server_cpu,
            )
            for name, theirs in servers.items()
            if name not in {ours, *beside}
        }
        for shape, servers in pages.items()
    }
