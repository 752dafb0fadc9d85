"""``dumbbell compare`` over several paths: axes, the study that it becomes, its heat maps."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from command_line import Command, assert_refused
from dumbbell.base.errors import InputError
from dumbbell.engines.engine import SimulatorEngine
from dumbbell.experiments import sweeps
from dumbbell.experiments.sweeps import Axis, axis
from dumbbell.figures.figure import Figure
from dumbbell.figures.spec import TestFigure
from dumbbell.results import experiments
from dumbbell.results.campaign import Campaign
from dumbbell.results.plans import Plan
from dumbbell.results.results import Results
from dumbbell.store.store import Store


@pytest.mark.parametrize(
    ("name", "text", "values"),
    [
        ("rtt", "10ms,80ms", ("10ms", "80ms")),
        ("rtt", "10ms..160ms*2", ("10ms", "20ms", "40ms", "80ms", "160ms")),
        ("rtt", "10ms..50ms+15ms", ("10ms", "25ms", "40ms")),
        ("rate", "1mbit..100mbit*10, 1gbit", ("1mbit", "10mbit", "100mbit", "1gbit")),
        ("buffer", "0.25bdp..1bdp*2", ("0.25bdp", "0.5bdp", "1bdp")),
        ("loss", "1e-5..1e-3*10", ("1e-05", "0.0001", "0.001")),
        ("flows", "1..4*2", ("1", "2", "4")),
        ("slow_start", "own,search", ("own", "search")),
    ],
)
def test_an_axis_is_a_list_or_a_range(name: str, text: str, values: tuple[str, ...]) -> None:
    assert axis(name, text).values == values


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("rtt", "10ms..160ms", "not a range"),
        ("rtt", "10ms..160ms*1", "without an end"),
        ("rtt", "10ms..160ms+0ms", "without an end"),
        ("rtt", "160ms..10ms*2", "ends before it begins"),
        ("rtt", "1ns..1h+1ns", "more than 1000 values"),
        ("rtt", "x..10ms*2", '"x"'),
        ("rtt", "10ms..20ms*x", '"x"'),
        ("buffer", "10p..100p*2", "not a share of the BDP"),
        ("loss", "a..b*2", '"a"'),
        ("rtt", ",", "no value"),
        ("slow_start", "own..search", "not a range"),
    ],
)
def test_a_wrong_axis_is_refused(name: str, text: str, problem: str) -> None:
    with pytest.raises(InputError) as caught:
        axis(name, text)
    assert problem in str(caught.value)
    assert caught.value.key == name


def table(**axes: tuple[str, ...]) -> dict[str, Any]:
    one = {"rate": ("5mbit",), "rtt": ("10ms",), "buffer": ("1bdp",), "loss": ("0",)}
    known = {**one, "flows": ("2",), **axes}
    return sweeps.sweep(
        ["reno", "cubic"],
        [Axis(name, values) for name, values in known.items()],
        duration="5s",
        stack="linux-6",
        runs=2,
    )


@pytest.mark.parametrize(
    "axes",
    [
        {"rtt": ("10ms", "20ms")},
        {"loss": ("0", "1e-3")},
        {"flows": ("1", "2")},
        {"slow_start": ("own", "hystart++", "search")},
        {"rate": ("5mbit", "9mbit"), "rtt": ("10ms", "20ms"), "buffer": ("1bdp", "2bdp")},
    ],
)
def test_every_sweep_is_a_study(tmp_path: Path, axes: dict[str, tuple[str, ...]]) -> None:
    points = 2
    for values in axes.values():
        points *= len(values)
    with experiments.saved(table(**axes), tmp_path) as study:
        assert len(study.runs()) == 2 * points
    assert study.figures


def results(tmp_path: Path, **axes: tuple[str, ...]) -> Results:
    return run(table(**axes), tmp_path)


def run(study: dict[str, Any], tmp_path: Path) -> Results:
    store = Store(tmp_path / "results")
    store.create()
    campaign = Campaign.of_experiment(study, store, SimulatorEngine(), Plan())
    campaign.run(jobs=2)
    return campaign.results()


def test_a_heat_map_has_a_cell_for_each_point_and_marks_the_best(tmp_path: Path) -> None:
    swept = results(tmp_path, rate=("5mbit", "10mbit"), rtt=("10ms", "40ms"))
    spec = swept.study.figure("map1-rate-rtt")
    figure = spec.draw(swept)
    assert figure.frame is not None
    assert figure.frame.height == 8
    runs = swept.table("sweep", ["utilisation"])
    means = runs.group_by("algorithm", "rate", "rtt").agg(pl.col("utilisation").mean())
    best = means.group_by("rate", "rtt").agg(pl.col("utilisation").max())
    cells = cells_of(figure)
    marked = [row for row in cells if row["is_best"] == "true"]
    for rate, rtt, utilisation in best.iter_rows():
        here = [row for row in cells if (row["x"], row["y"]) == (rate, rtt)]
        largest = max(float(row["mean"]) for row in here)
        assert largest == pytest.approx(100 * utilisation, rel=1e-5)
        one, other = figure.frame.filter(rate=rate, rtt=rtt).sort("mean").iter_rows(named=True)
        outlined = [float(row["mean"]) for row in marked if row in here]
        assert outlined == ([largest] if one["high"] < other["low"] else [])
    assert 0 < len(marked) < best.height


def cells_of(figure: Figure) -> list[dict[str, str]]:
    tables = figure.chart.to_dict()["datasets"].values()
    return [row for table in tables for row in csv.DictReader(io.StringIO(table))]


def test_cells_are_written_in_what_can_be_read_on_their_colour(tmp_path: Path) -> None:
    swept = results(tmp_path, rate=("5mbit", "10mbit"), rtt=("10ms", "40ms"))
    cells = cells_of(swept.study.figure("map2-rate-rtt").draw(swept))
    light = [float(row["mean"]) for row in cells if row["is_light"] == "true"]
    dark = [float(row["mean"]) for row in cells if row["is_light"] == "false"]
    assert light
    assert dark
    assert min(light) > max(dark)


def test_notes_have_the_unit_that_cells_have(tmp_path: Path) -> None:
    swept = results(tmp_path, rtt=("10ms", "40ms"), loss=("0", "1e-2"))
    notes = swept.study.figure("map4-rtt-loss").draw(swept).notes
    (cells,) = (note for note in notes if note.startswith("Cells are means of"))
    assert "(%)" in cells


def test_a_heat_map_shows_what_a_study_derives(tmp_path: Path) -> None:
    study = table(rtt=("10ms", "40ms"), loss=("0", "1e-2"))
    ratio = ["goodput_mbit_per_s[1]@run", "goodput_mbit_per_s[2]@run"]
    study["quantity"] = [{"name": "lead", "title": "lead", "best": "lowest", "ratio": ratio}]
    heatmap = next(figure for figure in study["figure"] if figure["kind"] == "heatmap")
    study["figure"] = [heatmap | {"quantity": "lead"}]
    swept = run(study, tmp_path)
    leads = swept.table("sweep", ["lead"])["lead"].to_list()
    cells = cells_of(swept.study.figures[0].draw(swept))
    assert all(min(leads) <= float(cell["mean"]) <= max(leads) for cell in cells)
    assert {cell["is_best"] for cell in cells} <= {"true", "false"}


def test_goodput_is_shown_against_what_leaves_the_rate_alone(tmp_path: Path) -> None:
    with experiments.saved(table(rate=("5mbit", "10mbit")), tmp_path) as study:
        drawn = [figure for figure in study.figures if isinstance(figure, TestFigure)]
    shown = {name for figure in drawn for name in figure.fields().values()}
    assert "utilisation" in shown
    assert "goodput_mbit_per_s" not in shown


def test_of_one_algorithm_at_one_rate_utilisation_is_shown(dumbbell: Command) -> None:
    path = ("--rate", "5mbit", "--rtt", "10ms", "--duration", "4s", "--runs", "1")
    printed = dumbbell("compare", "reno", *path, "--buffer", "0.5bdp,2bdp").out
    assert "utilisation (%)" in printed
    assert "goodput" not in printed
    assert "algorithm" not in printed
    both = dumbbell("compare", "reno", *path, "--rate", "5mbit,10mbit").out
    assert "goodput (Mbit/s)" in both


def test_the_command_writes_pages_and_a_study_that_runs_on(dumbbell: Command) -> None:
    path = ("--rate", "5mbit", "--rtt", "10ms,20ms", "--duration", "4s", "--runs", "1")
    output = dumbbell("compare", "reno", "cubic", *path)
    assert output.code == 0
    assert "goodput (Mbit/s)" in output.out
    assert "RTT inflation" in output.out
    # Of one run nothing is the best.
    assert "*" not in output.out
    (folder,) = Path("results/experiments").iterdir()
    assert f"See it: dumbbell open {folder.name}" in output.err
    again = dumbbell("run", folder.name)
    assert again.code == 0
    assert "4 reused" in again.err
    assert folder.name in dumbbell("list", "studies").out


def test_slow_starts_are_an_axis(dumbbell: Command) -> None:
    path = ("--rate", "5mbit", "--rtt", "10ms", "--duration", "1s", "--runs", "1")
    output = dumbbell("compare", "reno", *path, "--slow-start", "own,hystart++")
    assert output.code == 0
    assert "slow_start" in output.out
    assert "hystart++" in output.out
    for wrong, problem in [
        ("own,serach", "unknown value"),
        ("careful-resume", "resume_window_segs"),
    ]:
        output = dumbbell("compare", "reno", *path, "--slow-start", wrong)
        assert output.code == 2
        assert problem in output.err


@pytest.mark.parametrize("command", [("compare", "reno"), ("compete", "reno", "cubic")])
@pytest.mark.parametrize("rtt", ["200ms", "10ms,200ms"])
def test_runs_that_measure_nothing_are_refused(
    dumbbell: Command, command: tuple[str, ...], rtt: str
) -> None:
    output = dumbbell(*command, "--rate", "5mbit", "--rtt", rtt, "--duration", "399ms")
    assert_refused(output)
    assert '--duration: "399ms": shorter than' in output.err
    assert output.err.endswith("valid: 400ms or more\n")


def test_a_wrong_algorithm_is_refused(dumbbell: Command) -> None:
    output = dumbbell("compare", "nosuch", "--rate", "5mbit", "--rtt", "10ms,20ms")
    assert output.code == 2
    assert "unknown algorithm" in output.err
