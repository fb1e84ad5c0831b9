"""The benchmark's figures: medians, ratios, and the report over a run of a few of them."""

import json

from scripts.benchmarking.figures import (
    Ceiling,
    Figures,
    Latency,
    Probe,
    Round,
    Start,
    TinyLatency,
    Writes,
    median_of,
    ratios,
)
from scripts.benchmarking.load import Outcome
from scripts.benchmarking.probing import asked_in_turn, held_to_first
from scripts.benchmarking.report import markdown, ratio_table


def measured(rate: float, server_cpu: float) -> Round:
    return Round(
        rate=rate,
        server_cpu=server_cpu,
        database_cpu=0.2,
        generator_cpu=0.03,
        p50=1.0,
        p99=3.0,
        answer_bytes=18_000,
        resident=75,
    )


def probed(p50: float, label: str = "1,000") -> Probe:
    return Probe(
        group="depth", label=label, p50=p50, server_cpu=0.5, database_cpu=p50 / 2, multiple=1.0, cpu_multiple=1.0
    )


FIGURES = Figures(
    made_at="2026-06-15T12:00:00+00:00",
    quick=True,
    rows=200_000,
    seconds=180.0,
    machine={"cores": 2},
    versions={"Python": "3.11"},
    answers_compared=48,
    pages={
        "S": {"gateway": measured(3_000, 0.2), "mercurius": measured(1_000, 0.5)},
        "L": {"gateway": measured(1_500, 0.4), "mercurius": measured(1_000, 0.6), "rest": measured(1_600, 0.3)},
    },
    low_load={"S": {"gateway": Latency(rate=50, samples=100, p50=0.5, p99=1.5)}},
    tiny={"gateway": TinyLatency(idle_p50=0.2, busy_p50=0.5, busy_p90=1.0, busy_p99=2.0)},
    probes=[probed(2.0), probed(3.0, "10,000")],
    writes=[
        Writes(
            label="review",
            connections=8,
            count=600,
            refused=0,
            rate=400,
            p50=15,
            p99=40,
            server_cpu=1.5,
            database_cpu=0.5,
        )
    ],
    ceilings=[Ceiling(rows=50, rate=3_000, database_cpu=0.3)],
    start=Start(python_cpu=11, help_multiple=12, ready_multiple=40),
    skipped=["Something: its reason."],
)


def test_a_ratio_above_one_means_that_the_gateway_is_ahead() -> None:
    compared = ratios(FIGURES.pages)

    assert {"S": {"mercurius"}, "L": {"mercurius"}} == {shape: set(peers) for shape, peers in compared.items()}
    assert (3.0, 2.5) == (compared["S"]["mercurius"].rps, compared["S"]["mercurius"].cpu)


def test_the_figures_are_json_with_their_ratios() -> None:
    content = json.loads(json.dumps(FIGURES.content()))

    assert {"rps": 1.5, "cpu": 1.5} == {
        key: round(value, 3) for key, value in content["ratios"]["L"]["mercurius"].items()
    }
    assert 3_000 == content["pages"]["S"]["gateway"]["rate"]


def test_the_median_is_taken_of_each_figure_by_itself() -> None:
    median = median_of([measured(1_000, 0.5), measured(3_000, 0.4), measured(2_000, 0.1)])

    assert (2_000, 0.4) == (median.rate, median.server_cpu)


def test_the_report_holds_every_part() -> None:
    report = markdown(FIGURES)

    assert ratio_table(FIGURES) in report
    assert "| mercurius, jit | 3.00 (2.5) | 1.50 (1.5) |" in report
    assert "| belief-gateway, REST | 1,600 |" in report
    assert "| 50 | 3,000 | 0.300 | 50 % |" in report
    assert "- Something: its reason." in report
    assert report.endswith("\n")


def test_multiples_are_held_to_the_first_probe() -> None:
    held = held_to_first(FIGURES.probes)

    assert [1.0, 1.5] == [probe.multiple for probe in held]
    assert [1.0, 2.0 / 1.5] == [probe.cpu_multiple for probe in held]


def test_principals_are_asked_over_all_of_them() -> None:
    assert [1, 2, 3] == asked_in_turn(3, 200)
    assert [1, 5_001] == asked_in_turn(10_000, 2)


def test_an_outcome_counts_right_answers_and_knows_its_tail() -> None:
    outcome = Outcome(
        answers=4, wrong=1, seconds=2.0, cpu_seconds=0.1, answer_bytes=400, latencies=[0.004, 0.001, 0.003, 0.002]
    )

    assert 1.5 == outcome.rate
    assert (3.0, 4.0) == (outcome.percentile_ms(0.5), outcome.percentile_ms(0.99))
