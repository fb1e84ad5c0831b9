"""A run as Markdown: one table of ratios, then what they were made from. No figure is judged here."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from scripts.benchmarking.contenders import TITLES
from scripts.benchmarking.figures import Figures, Round, Start, ratios
from scripts.benchmarking.measuring import REST

_OF_RATIOS = """The gateway beside each peer: requests a second, ours over theirs (CPU of the server per request,
theirs over ours). Above 1 the gateway is ahead."""
_OF_PAGES = """Medians of interleaved rounds. CPU is milliseconds per request; latency is milliseconds, while the cores
are full: read its tail below instead."""
_OF_TINY = "Milliseconds at 50 requests a second, alone and while four connections ask for pages of 200 rows."
_OF_PROBES = "The gateway alone, one connection: milliseconds, and multiples of each group's first line."
_OF_CEILINGS = "The gateway's statement of a page, run by pgbench on the same cores."

_TITLES = {**TITLES, REST: "belief-gateway, REST"}


def markdown(figures: Figures) -> str:
    """The whole report."""
    parts = [
        f"# Benchmark\n\n{_preface(figures)}",
        f"## Ratios\n\n{_OF_RATIOS}\n\n{ratio_table(figures)}",
        f"## Pages\n\n{_OF_PAGES}",
        *(_pages(shape, servers) for shape, servers in figures.pages.items()),
        f"## Low load\n\nMilliseconds at a fixed rate.\n\n{_low_load(figures)}",
        f"## A tiny query beside large pages\n\n{_OF_TINY}\n\n{_tiny(figures)}",
        f"## What a page depends on\n\n{_OF_PROBES}\n\n{_probes(figures)}",
        f"## Writes\n\nThe gateway alone, each write of another belief, all durable.\n\n{_writes(figures)}",
    ]
    if figures.ceilings:
        parts.append(f"## The database's own ceiling\n\n{_OF_CEILINGS}\n\n{_ceilings(figures)}")
    if figures.start is not None:
        parts.append(f"## Start\n\n{_start(figures.start)}")
    if figures.skipped:
        parts.append("\n".join(["## Left out\n", *(f"- {reason}" for reason in figures.skipped)]))
    return "\n\n".join(parts) + "\n"


def ratio_table(figures: Figures) -> str:
    """The one table of ratios: a line for each peer, a column for each shape."""
    compared = ratios(figures.pages)
    peers = list(dict.fromkeys(peer for by_peer in compared.values() for peer in by_peer))
    return _table(
        ["peer", *compared],
        (
            [
                _TITLES[peer],
                *(f"{by_peer[peer].rps:.2f} ({by_peer[peer].cpu:.1f})" for by_peer in compared.values()),
            ]
            for peer in peers
        ),
    )


def _preface(figures: Figures) -> str:
    machine = ", ".join(f"{name} {value}" for name, value in figures.machine.items())
    versions = ", ".join(f"{name} {version}" for name, version in figures.versions.items())
    kind = "quick" if figures.quick else "full"
    return (
        f"A {kind} run of {figures.seconds:.0f} seconds at {figures.made_at}, over {figures.rows:,} beliefs. Load, "
        f"servers and database share one machine: read ratios, and CPU per request first. "
        f"{figures.answers_compared} pages of the peers were compared with the gateway's, row by row: equal.\n\n"
        f"Machine: {machine}.\n\nVersions: {versions}."
    )


def _pages(shape: str, servers: Mapping[str, Round]) -> str:
    return f"### {shape}\n\n" + _table(
        ["server", "requests/s", "server CPU", "database CPU", "load CPU", "p50", "p99", "KB", "memory MB"],
        (
            [
                _TITLES[name],
                f"{each.rate:,.0f}",
                f"{each.server_cpu:.3f}",
                f"{each.database_cpu:.3f}",
                f"{each.generator_cpu:.3f}",
                f"{each.p50:.2f}",
                f"{each.p99:.2f}",
                f"{each.answer_bytes / 1000:.1f}",
                f"{each.resident:.0f}",
            ]
            for name, each in servers.items()
        ),
    )


def _low_load(figures: Figures) -> str:
    return _table(
        ["server", "shape", "requests/s", "samples", "p50", "p99"],
        (
            [_TITLES[name], shape, f"{each.rate:g}", f"{each.samples}", f"{each.p50:.2f}", f"{each.p99:.2f}"]
            for shape, servers in figures.low_load.items()
            for name, each in servers.items()
        ),
    )


def _tiny(figures: Figures) -> str:
    return _table(
        ["server", "idle p50", "busy p50", "busy p90", "busy p99"],
        (
            [
                _TITLES[name],
                *(f"{value:.2f}" for value in (each.idle_p50, each.busy_p50, each.busy_p90, each.busy_p99)),
            ]
            for name, each in figures.tiny.items()
        ),
    )


def _probes(figures: Figures) -> str:
    return "\n\n".join(
        _table(
            [group, "p50", "multiple", "server CPU", "database CPU", "multiple of CPU"],
            (
                [
                    each.label,
                    f"{each.p50:.2f}",
                    f"{each.multiple:.2f}",
                    f"{each.server_cpu:.3f}",
                    f"{each.database_cpu:.3f}",
                    f"{each.cpu_multiple:.2f}",
                ]
                for each in probes
            ),
        )
        for group, probes in groupby(figures.probes, key=lambda each: each.group)
    )


def _writes(figures: Figures) -> str:
    return _table(
        ["write", "connections", "writes", "refused", "writes/s", "p50", "p99", "server CPU", "database CPU"],
        (
            [
                each.label,
                f"{each.connections}",
                f"{each.count:,}",
                f"{each.refused:,}",
                f"{each.rate:,.0f}",
                f"{each.p50:.2f}",
                f"{each.p99:.2f}",
                f"{each.server_cpu:.3f}",
                f"{each.database_cpu:.3f}",
            ]
            for each in figures.writes
        ),
    )


def _ceilings(figures: Figures) -> str:
    reached = {50: figures.pages.get("L", {}), 200: figures.pages.get("XL", {})}
    return _table(
        ["rows", "statements/s", "database CPU", "reached by the gateway with all fields"],
        (
            [
                f"{each.rows}",
                f"{each.rate:,.0f}",
                f"{each.database_cpu:.3f}",
                f"{100 * reached[each.rows]['gateway'].rate / each.rate:.0f} %",
            ]
            for each in figures.ceilings
        ),
    )


def _start(start: Start) -> str:
    return (
        f"CPU as multiples of `python -c pass`, which took {start.python_cpu:.0f} ms: `belief-gateway --help` "
        f"{start.help_multiple:.1f}, a start on an external database until it is ready {start.ready_multiple:.1f}."
    )


def _table(heads: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    rule = ["---", *("---:" for _ in heads[1:])]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (heads, rule, *lines))
