"""Bars, scatters, boxes and rows: their numbers, and what they say of what is missing."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import small_study
from dumbbell.analysis import metrics
from dumbbell.analysis.goodput_samples import samples_mbit
from dumbbell.analysis.window import Sampled
from dumbbell.errors import InputError
from dumbbell.figures import chart_axes, chart_groups, drawing
from dumbbell.figures.figure import Figure
from dumbbell.results import Results
from dumbbell.running.engine import SimulatorEngine
from dumbbell.running.executor import execute
from dumbbell.running.store import Store
from dumbbell.study.figure_spec import (
    BarsFigure,
    BoxesFigure,
    Coordinate,
    FigureSpec,
    PointsFigure,
    RowsFigure,
    ScatterFigure,
    Selection,
)
from dumbbell.study.model import Study, scenarios

COMMON: dict[str, Any] = {
    "name": "f",
    "title": "Fig. 9. F",
    "section": "fairness",
    "test": "fairness",
}
GROUPS: dict[str, Any] = {"groups": "rtt", "groups_title": "RTT"}
RATE = {"rate": "10mbit"}


def bars(**keys: Any) -> BarsFigure:
    y = {"field": "goodput_mbit", "title": "goodput (Mbit/s)", "low": 0}
    return BarsFigure.model_validate({**COMMON, **GROUPS, "kind": "bars", "y": y, **keys})


def scatter(**keys: Any) -> ScatterFigure:
    y = {"field": "jain", "title": "Jain"}
    return ScatterFigure.model_validate({**COMMON, **GROUPS, "kind": "scatter", "y": y, **keys})


def points(**keys: Any) -> PointsFigure:
    x, y = {"field": "rtt_ms", "title": "RTT"}, {"field": "jain", "title": "Jain"}
    return PointsFigure.model_validate({**COMMON, "kind": "points", "x": x, "y": y, **keys})


def boxes(**keys: Any) -> BoxesFigure:
    y = {"field": "goodput_mbit", "title": "goodput (Mbit/s)"}
    return BoxesFigure.model_validate({**COMMON, "kind": "boxes", "y": y, **keys})


def rows(**keys: Any) -> RowsFigure:
    x = {"field": "utilisation", "title": "utilisation"}
    return RowsFigure.model_validate(
        {**COMMON, "kind": "rows", "rows": "algorithm", "x": x, **keys}
    )


ALL = [
    bars(where=RATE),
    scatter(where=RATE),
    boxes(where={"rtt": "20ms", **RATE}),
    rows(where=RATE, facet="rtt"),
]


def datasets(figure: Figure) -> list[pl.DataFrame]:
    """Return the data inside a chart."""
    return [pl.read_csv(io.StringIO(text)) for text in figure.chart.to_dict()["datasets"].values()]


def data_with(figure: Figure, column: str) -> pl.DataFrame:
    return next(frame for frame in datasets(figure) if column in frame.columns)


def svg(figure: Figure) -> str:
    return drawing.rendered(figure.chart.to_dict(), ".svg").decode()


@pytest.mark.parametrize("spec", ALL, ids=lambda spec: spec.kind)
def test_every_kind_is_drawn_with_its_numbers(small: Results, spec: FigureSpec) -> None:
    figure = drawing.render(small, spec)
    text = svg(figure)
    for words in ("Fig. 9. F", "Standard TCP", "HS-TCP", "2 runs per point"):
        assert words in text, words
    assert figure.tables
    assert figure.frame is not None
    assert figure.frame.height


@pytest.mark.parametrize("spec", [bars, scatter, points])
def test_a_line_to_compare_with_is_within_the_plot(
    small: Results, spec: Callable[..., FigureSpec]
) -> None:
    def top(found: Any) -> float:
        if isinstance(found, dict):
            domains = [found["y"]["scale"]["domain"][1]] if "scale" in found.get("y", {}) else []
            return max([*domains, *map(top, found.values())], default=0)
        return max(map(top, found), default=0) if isinstance(found, list) else 0

    bare, lined = (
        drawing.render(small, spec(where=RATE, **keys)) for keys in ({}, {"reference": 77})
    )
    assert top(bare.chart.to_dict()) < 77 < top(lined.chart.to_dict())


@pytest.mark.parametrize("spec", ALL, ids=lambda spec: spec.kind)
def test_without_runs_only_axes_are_drawn(tmp_path: Path, spec: FigureSpec) -> None:
    study = small_study.write(tmp_path / "study")
    figure = drawing.render(Results(study, Store(tmp_path / "results")), spec)
    assert figure.notes == ("Not run yet: the test fairness.",)
    assert figure.tables == ()
    assert "Fig. 9. F" in svg(figure)


@pytest.mark.parametrize("spec", ALL, ids=lambda spec: spec.kind)
def test_what_is_missing_is_said(tmp_path: Path, spec: FigureSpec) -> None:
    study = small_study.write(tmp_path / "study")
    where: Selection = {"algorithm": "reno", "rtt": "20ms"}
    store = small_study.run(study, tmp_path / "results", where=where)
    notes = drawing.render(Results(study, store), spec).notes
    assert any("Not run yet: algorithm HS-TCP" in note for note in notes)


def test_bars_show_the_means(small: Results) -> None:
    figure = drawing.render(small, bars(where=RATE))
    runs = small.table("fairness").filter(pl.col("rate") == "10mbit")
    expected = metrics.aggregate(runs, ["rtt", "algorithm"], "goodput_mbit")
    drawn = data_with(figure, "bottom").sort("group", "label")
    assert drawn["bottom"].to_list() == [0] * 4
    assert sorted(drawn["top"]) == pytest.approx(sorted(expected["mean"]), rel=1e-5)


def test_parts_are_stacked_on_each_other(small: Results) -> None:
    part = [{"field": f"goodput_mbit_{n}", "label": f"flow {n}"} for n in (1, 2)]
    figure = drawing.render(small, bars(where=RATE, part=part))
    drawn = data_with(figure, "bottom")
    for _, stack in drawn.group_by("group", "label"):
        lower, upper = stack.sort("bottom").to_dicts()
        assert (lower["part"], upper["part"]) == ("flow 1", "flow 2")
        assert upper["bottom"] == pytest.approx(lower["top"], rel=1e-4)
    assert figure.frame is not None
    assert set(figure.frame["metric"]) == {"goodput_mbit_1", "goodput_mbit_2"}
    assert "flow 2" in svg(figure)
    assert [table.title for table in figure.tables] == ["flow 1", "flow 2"]


def test_a_second_metric_has_an_axis_of_its_own(small: Results) -> None:
    marks = {"field": "jain", "title": "Jain's index"}
    figure = drawing.render(small, bars(where=RATE, marks=marks))
    assert "Bars: goodput (Mbit/s); points: Jain's index." in figure.notes
    assert "Jain's index" in svg(figure)
    layers = figure.chart.to_dict()["hconcat"][0]
    assert layers["resolve"]["scale"]["y"] == "independent"
    assert [table.caption for table in figure.tables] == [
        "goodput (Mbit/s), mean ± standard error",
        "Jain's index, mean ± standard error",
    ]


def test_runs_without_a_value_are_named(small: Results) -> None:
    y = {"field": "convergence_samples_s", "title": "t (s)"}
    figure = drawing.render(small, bars(where=RATE, y=y, missing="nothing to see"))
    without = [note for note in figure.notes if "not all runs have a value" in note]
    lacking = small.table("fairness").filter(pl.col("rate") == "10mbit")
    assert bool(without) == bool(lacking["convergence_samples_s"].null_count())


def test_scatters_tell_an_axis_by_shapes(small: Results) -> None:
    figure = drawing.render(small, scatter(shapes="rate"))
    means = data_with(figure, "mean")
    assert set(means["shape"]) == {"5 Mbit/s", "10 Mbit/s"}
    assert means.height == 8
    dots = next(f for f in datasets(figure) if "value" in f.columns)
    assert dots.height == small.table("fairness").height
    assert "Small dots are single runs." in figure.notes


def test_boxes_pool_the_samples_of_all_runs(small: Results) -> None:
    where = {"algorithm": "reno", "rtt": "20ms", **RATE}
    figure = drawing.render(small, boxes(where=where))
    pooled = np.concatenate(
        [
            samples_mbit(Sampled(small.store.get(run.resolved.key), run.measure), run.samples)
            for run, _ in small.finished("fairness")
            if run.axes["algorithm"] == "reno"
            and run.axes["rtt"] == "20ms"
            and run.axes["rate"] == "10mbit"
        ]
    )
    box = data_with(figure, "q50").to_dicts()[0]
    assert box["runs"] == 2
    assert box["samples"] == pooled.size > 10
    for name, share in (("min", 0), ("q25", 0.25), ("q50", 0.5), ("q75", 0.75), ("max", 1)):
        assert box[name] == pytest.approx(np.quantile(pooled, share), rel=1e-5)


def test_boxes_of_something_else_are_refused(small: Results) -> None:
    with pytest.raises(InputError, match="goodput_mbit"):
        drawing.render(small, boxes(y={"field": "jain", "title": "Jain"}))


def test_rows_show_what_was_stated(small: Results) -> None:
    stated = [
        {"where": {"rtt": "20ms"}, "low": 0.9, "label": "said: 0.9"},
        {"where": {"rtt": "40ms"}, "low": 0.3, "high": 1.5, "label": "said: 0.3 to 1.5"},
    ]
    figure = drawing.render(small, rows(where=RATE, facet="rtt", stated=stated))
    assert [table.title for table in figure.tables] == ["20 ms", "40 ms"]
    assert "said: 0.9" in figure.tables[0].caption
    told = [frame for frame in datasets(figure) if "from" in frame.columns]
    assert sorted((row["from"], row["to"]) for f in told for row in f.to_dicts()) == [
        (0.3, 1.5),
        (0.9, 0.9),
    ]
    text = svg(figure)
    assert "said: 0.3 to 1.5" in text


def test_what_is_stated_of_a_point_that_is_not_there_is_refused(tmp_path: Path) -> None:
    figures = (
        small_study.FIGURES
        + """
[[figure]]
name = "fig4"
title = "Rows"
section = "fairness"
kind = "rows"
test = "fairness"
rows = "algorithm"
facet = "rtt"
x = { field = "utilisation", title = "utilisation" }
stated = [{ where = { rtt = "21ms" }, low = 1, label = "x" }]
"""
    )
    (tmp_path / "figures.toml").write_text(figures)
    (tmp_path / "study.toml").write_text(small_study.STUDY)
    with pytest.raises(InputError, match=r"stated\.0.*21ms"):
        Study.load(tmp_path)


@pytest.mark.parametrize(
    ("packets", "split"), [("100 packets", False), ("2,340,000 packets", True)]
)
def test_names_of_groups_have_lines_where_they_would_not_fit(packets: str, split: bool) -> None:
    chart = chart_groups.empty(bars(), [packets] * 8)
    assert ("labelExpr" in chart.to_dict()["encoding"]["x"]["axis"]) == split


def test_zero_has_a_place_on_a_log_axis() -> None:
    axis = Coordinate(field="x", title="x", scale="log", zero=1e-8)
    span = chart_axes.extent(axis, [pl.Series([0.0, 1e-5, 1e-2])])
    assert (span.low, span.high) == (1e-8, 1e-2)
    places = pl.DataFrame({"x": [0.0, 1e-5]}).select(x=chart_axes.placed(axis, pl.col("x")))
    assert places["x"].to_list() == [1e-8, 1e-5]
    linear = Coordinate(field="x", title="x", zero=1e-8)
    assert pl.DataFrame({"x": [0.0]}).select(x=chart_axes.placed(linear, pl.col("x"))).item() == 0


def test_zero_is_drawn_and_labelled_on_a_log_axis(tmp_path: Path) -> None:
    text = small_study.STUDY.replace(
        'axes = { algorithm = ["reno", "highspeed"], rtt = ["20ms"] }',
        'axes = { algorithm = ["reno"], loss = ["0", "1e-3"] }',
    ).replace(
        'network = { rate = "5mbit", rtt = "{rtt}", queue = "1bdp" }',
        'network = { rate = "5mbit", rtt = "20ms", queue = "1bdp", '
        'loss = [{ place = "receiver", probability = "{loss}" }] }',
    )
    (tmp_path / "loss.toml").write_text(text)
    lossy = Study.load(tmp_path / "loss.toml")
    store = Store(tmp_path / "results")
    execute(scenarios(lossy.runs(tests=["lossy"])), store, SimulatorEngine(), jobs=1)
    spec = PointsFigure.model_validate(
        {
            **COMMON,
            "kind": "points",
            "test": "lossy",
            "x": {"field": "loss_value", "title": "loss", "scale": "log", "zero": 1e-5},
            "y": {"field": "goodput_mbit", "title": "goodput"},
        }
    )
    figure = drawing.render(Results(lossy, store), spec)
    marks = data_with(figure, "hollow")
    assert sorted(marks["x"]) == [1e-5, 1e-3]
    assert sorted(marks["true_x"]) == [0, 1e-3]
    assert ">0<" in svg(figure)
    assert figure.tables[0].rows[0].x == "0"
