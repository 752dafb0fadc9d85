"""Comparisons: what runs, what is averaged, and that nothing runs twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from inline_snapshot import snapshot

from dumbbell.base.errors import DumbbellError, InputError
from dumbbell.execution.executor import Progress
from dumbbell.experiments.compare import compare
from dumbbell.experiments.comparison import Comparison
from dumbbell.experiments.mixes import parse_mix
from dumbbell.figures import drawing
from dumbbell.quantities import tables
from dumbbell.reports import compare_chart, own_tables
from sample_runs import QuickEngine


def compared(root: Path, *algorithms: str, **options: Any) -> Comparison:
    given: dict[str, Any] = {
        "rate": "10mbit",
        "rtt": "20ms",
        "duration": "5s",
        "runs": 3,
        "results": root,
        "jobs": 2,
        **options,
    }
    return compare(algorithms, **given)


@pytest.fixture(scope="module")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    return compared(
        tmp_path_factory.mktemp("compare") / "results", "reno", "cubic", flows="reno:1,bic:2"
    )


def mean(comparison: Comparison, line: str, measure: str) -> float:
    rows = comparison.means.filter((pl.col("line") == line) & (pl.col("quantity") == measure))
    return float(rows["mean"].item())


def test_each_algorithm_alone_has_as_many_flows_as_the_mix(comparison: Comparison) -> None:
    assert comparison.means["line"].unique(maintain_order=True).to_list() == snapshot(
        [
            "reno × 3",
            "cubic × 3",
            "reno:1,bic:2",
            "reno × 1 in the mix",
            "bic × 2 in the mix",
        ]
    )


def test_parts_of_a_mix_add_up(comparison: Comparison) -> None:
    whole = mean(comparison, "reno:1,bic:2", "goodput_mbit_per_s")
    reno = mean(comparison, "reno × 1 in the mix", "goodput_mbit_per_s")
    bic = mean(comparison, "bic × 2 in the mix", "goodput_mbit_per_s")
    assert reno + bic == pytest.approx(whole)
    assert mean(comparison, "bic × 2 in the mix", "goodput_mean_mbit_per_s") == pytest.approx(
        bic / 2
    )


def test_a_preset_of_a_file_is_an_algorithm_of_its_own(tmp_path: Path) -> None:
    """The engine gets its parameters only, and of a run with a preset it knows the name."""
    preset = tmp_path / "mine.toml"
    preset.write_text('algorithm = "htcp"\nparameters = { delta_b = 0 }\n')
    mine = f"htcp@{preset}"
    both = compared(tmp_path / "results", "htcp", mine, runs=2, flows=f"htcp:1,{mine}:1")
    assert both.means["algorithm"].unique(maintain_order=True).to_list() == ["htcp", mine, None]
    assert both.means["n"].unique().to_list() == [2]
    assert both.results.study.header.title.startswith("H-TCP, H-TCP (htcp@mine.toml) and htcp:1,")


def test_measures_are_possible(comparison: Comparison) -> None:
    for line in ("reno × 3", "cubic × 3", "reno:1,bic:2"):
        # A packet that leaves within the window, 4 s at 10 Mbit/s, may have begun before.
        assert 0.5 < mean(comparison, line, "utilisation") <= 1 + 12e3 / 40e6
        assert 5 < mean(comparison, line, "goodput_mbit_per_s") < 10
        assert mean(comparison, line, "rtt_mean_ms@run") >= 20
        assert 1 / 3 <= mean(comparison, line, "jain") <= 1
        assert mean(comparison, line, "retransmitted_share@late") >= 0


def test_intervals_are_those_of_students_t(comparison: Comparison) -> None:
    line = comparison.runs.filter(pl.col("line") == "reno × 3")
    expected = tables.aggregate(line, ["line"], "rtt_mean_ms@run").row(0, named=True)
    row = comparison.means.filter(
        (pl.col("line") == "reno × 3") & (pl.col("quantity") == "rtt_mean_ms@run")
    ).row(0, named=True)
    assert line.height == 3
    assert [row[key] for key in ("mean", "low", "high")] == [
        expected[key] for key in ("mean", "low", "high")
    ]


def test_json_tells_everything(comparison: Comparison) -> None:
    data = comparison.as_dict()
    assert data["setting"]["rate"] == "10mbit"
    assert data["lines"][0]["algorithm"] == "reno"
    assert data["lines"][2]["algorithm"] is None
    quantities = data["lines"][0]["quantities"]
    window = {"from_s", "to_s"}
    assert set(quantities["jain"]) == {"mean", "se", "low", "high", "n", *window}
    assert quantities["goodput_mbit_per_s"]["from_s"] > quantities["rtt_mean_ms@run"]["from_s"] == 0
    to_s = quantities["goodput_mbit_per_s"]["to_s"]
    assert f" s to {to_s:g} s" in own_tables.compared(comparison).note


def test_the_figure_names_every_line(comparison: Comparison) -> None:
    chart = compare_chart.draw(comparison).to_dict()
    svg = drawing.rendered(chart, ".svg").decode()
    for words in ("reno × 3", "bic × 2 in the mix", "goodput per flow (Mbit/s)", "RTT 20ms"):
        assert words in svg


def test_nothing_runs_twice(tmp_path: Path) -> None:
    states: list[Progress] = []
    first = compared(tmp_path, "reno", on_progress=states.append)
    assert states[-1].done == 3
    second = compared(tmp_path, "reno", "htcp", on_progress=states.append)
    assert (states[-1].done, states[-1].reused) == (3, 3)
    reno = second.means.filter(pl.col("algorithm") == "reno")
    assert reno.equals(first.means)


def test_seeds_and_loss_change_the_runs(tmp_path: Path) -> None:
    plain = compared(tmp_path, "reno", flows=1)
    other = compared(tmp_path, "reno", flows=1, seed=1)
    lossy = compared(tmp_path, "reno", flows=1, loss="1%")
    assert not plain.runs.equals(other.runs)
    assert mean(lossy, "reno × 1", "goodput_mbit_per_s") < mean(
        plain, "reno × 1", "goodput_mbit_per_s"
    )


def test_a_single_run_has_no_interval(tmp_path: Path) -> None:
    single = compared(tmp_path, "reno", runs=1)
    assert single.means["low"].null_count() == single.means.height
    drawing.rendered(compare_chart.draw(single).to_dict(), ".svg")


def test_mixes_are_read() -> None:
    mix = parse_mix("cubic:1, bic@li2007:2,reno")
    assert mix.parts == (("cubic", 1), ("bic@li2007", 2), ("reno", 1))
    assert mix.flows == 4


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({"flows": "cubic:0"}, "no flows"),
        ({"flows": 0}, "no flows"),
        ({"flows": "cubc:1"}, "cubic"),
        ({"flows": "cubic:1,cubic:2"}, "twice"),
        ({"flows": "cubic:x"}, "impossible number of flows"),
        ({"flows": "-1"}, "negative"),
        ({"rate": "0mbit"}, "rate"),
        ({"rate": 5}, "rate"),
        ({"buffer": "0p"}, "buffer"),
        ({"duration": "5"}, "duration"),
        ({"duration": "1ns", "rtt": "40ms"}, "duration.*1ns.*; valid: 80ms or more"),
        ({"stack": "windows"}, "stack"),
        ({"runs": 0}, "runs"),
        ({"loss": "1.5"}, "loss"),
        ({"slow_start": "serach"}, "slow_start"),
        ({"slow_start": "careful-resume"}, "resume_window_segs"),
    ],
)
def test_impossible_comparisons_are_input_errors(
    tmp_path: Path, options: dict[str, Any], wanted: str
) -> None:
    with pytest.raises(InputError, match=wanted):
        compared(tmp_path, "reno", **options)


def test_a_failed_run_fails_the_comparison(tmp_path: Path) -> None:
    class Broken(QuickEngine):
        def run(self, *_: object) -> Any:
            raise DumbbellError("out of luck")

    with pytest.raises(DumbbellError, match="out of luck"):
        compared(tmp_path, "reno", engine=Broken())
