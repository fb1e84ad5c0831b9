"""How much is measured: the whole benchmark, or `--quick`."""

from dataclasses import dataclass

ROWS = 200_000
ROWS_MIN = 10_000
ROWS_MAX = 10_000_000
ROWS_OF_PRINCIPAL = 1_000
ASKED_PRINCIPALS_MAX = 200
"""Principals that requests take in turn; spread over all where there are more."""
LARGE_PRINCIPALS_FROM = 1_000_001
"""The number of the first principal of another size than the rest."""
CONNECTIONS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Seconds and counts of each part."""

    rounds: int
    round_seconds: float
    warm_seconds: float
    low_load_seconds: float
    tiny_seconds: float
    principal_rows: tuple[int, ...]
    depth_pages: tuple[int, ...]
    probe_rounds: int
    probe_seconds: float
    write_count: int
    write_seconds: float
    ceiling_seconds: int
    start_rounds: int


FULL = Sizes(
    rounds=5,
    round_seconds=5.0,
    warm_seconds=1.5,
    low_load_seconds=20.0,
    tiny_seconds=8.0,
    principal_rows=(1_000, 10_000, 100_000, 1_000_000),
    depth_pages=(1, 1_000, 10_000),
    probe_rounds=5,
    probe_seconds=1.0,
    write_count=4_000,
    write_seconds=20.0,
    ceiling_seconds=5,
    start_rounds=7,
)
QUICK = Sizes(
    rounds=3,
    round_seconds=0.6,
    warm_seconds=0.3,
    low_load_seconds=2.0,
    tiny_seconds=1.5,
    principal_rows=(1_000, 10_000, 100_000),
    depth_pages=(1, 1_000),
    probe_rounds=3,
    probe_seconds=0.1,
    write_count=600,
    write_seconds=2.5,
    ceiling_seconds=1,
    start_rounds=2,
)


def stages(rows: int | None) -> list[int]:
    """The totals at which a page is measured while the table grows: one, unless a total is asked for."""
    if rows is None:
        return [ROWS]
    return [*(total for total in (100_000, 1_000_000) if total < rows), rows]
