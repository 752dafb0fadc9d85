"""Axes of figures: their span, their zero, their units and their titles."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
from inline_snapshot import snapshot

from dumbbell.base.validation import validate
from dumbbell.figures import axes
from dumbbell.figures.figure import Figure
from dumbbell.figures.kinds.tradeoff import TradeoffFigure
from dumbbell.figures.spec import BaseFigure, Coordinate
from dumbbell.quantities import titles
from figure_specs import (
    AXES,
    MEANS,
    TIMES,
    bars,
    labels,
    points,
    rows,
    scatter,
    tradeoff,
)
from figure_tables import COMMON, Tables, data_with, drawn, svg, vega_lite


@pytest.mark.parametrize("spec", [bars, scatter, points])
def test_a_line_to_compare_with_is_within_the_plot(spec: Callable[..., BaseFigure]) -> None:
    def top(part: Any) -> float:
        if isinstance(part, dict):
            domains = [part["y"]["scale"]["domain"][1]] if "scale" in part.get("y", {}) else []
            return max([*domains, *map(top, part.values())], default=0)
        return max(map(top, part), default=0) if isinstance(part, list) else 0

    bare, lined = (drawn(TIMES, spec(**keys)) for keys in ({}, {"reference": 77}))
    assert top(vega_lite(bare)) < 77 < top(vega_lite(lined))


@pytest.mark.parametrize("spec", MEANS)
def test_titles_are_by_default_those_of_the_quantities(spec: Callable[..., BaseFigure]) -> None:
    field = "goodput_mbit_per_s[1]@late"
    table = Tables(AXES, [{"algorithm": "reno", "rtt": "22ms", field: 7.0}])
    axis = {"x": {"field": field}} if spec is rows else {"y": {"field": field}}
    text = svg(drawn(table, spec(**axis)))
    assert f"{titles.title(field, {})} (Mbit/s)" in text
    named = {key: {**value, "title": "my own (Mbit/s)"} for key, value in axis.items()}
    assert "my own (Mbit/s)" in svg(drawn(table, spec(**named)))


def test_intervals_that_are_cut_are_said_to_go_on() -> None:
    values = (0.2, 0.8, 0.2, 0.8)
    wide = [{"algorithm": "reno", "rtt": "22ms", "rtt_mean_ms": value} for value in values]
    figure = drawn(Tables(AXES, wide), points(y={"field": "rtt_mean_ms", "low": 0, "high": 1}))
    assert figure.notes == snapshot(
        (
            "Mean and 95 % interval of 4 runs per point.",
            "Not run yet: algorithm CUBIC, H-TCP, BIC-TCP, Scalable-TCP, HS-TCP, FAST-TCP and YeAH; rtt 16 ms and 42 ms.",
            "Intervals that reach the frame continue beyond it.",
        )
    )
    (text,) = labels(svg(figure), "point")
    assert "95 % interval −0.0512 to 1.05" in text
    narrow = drawn(TIMES, points(y={"field": "jain", "low": 0, "high": 1}))
    assert not any("Intervals" in note for note in narrow.notes)


LOSSES = {"algorithm": ["reno", "fast"], "loss": ["0", "1e-4", "1e-2"]}


def test_zero_has_a_place_on_a_log_axis() -> None:
    axis = Coordinate(field="x", title="x", scale="log", zero=1e-8)
    span = axes.extent(axis, [pl.Series([0.0, 1e-5, 1e-2])])
    assert (span.low, span.high) == (1e-8, 1e-2)
    table = Tables(LOSSES, [{"algorithm": "reno", "loss": x, "jain": 1} for x in LOSSES["loss"]])
    x = {"field": "loss_value", "scale": "log", "zero": 1e-5}
    figure = drawn(table, points(x=x))
    marks = data_with(figure, "hollow").sort("x")
    assert marks["x"].to_list() == [1e-5, 1e-4, 1e-2]
    assert marks["measured_x"].to_list() == [0, 1e-4, 1e-2]
    assert "loss 0:" in " ".join(labels(svg(figure), "point"))
    assert ">0<" in svg(figure)
    assert [row.x for row in figure.tables[0].rows] == ["0", "1e-4", "0.01"]


def test_zero_on_a_log_axis_stands_hollow_on_its_edge_and_no_line_leads_there() -> None:
    values = {"1e-4": (0.0,) * 4, "1e-2": (1e-4, 4e-4, 1e-4, 4e-4)}
    table = Tables(
        LOSSES,
        [
            {"algorithm": "reno", "loss": loss, "jain": value}
            for loss, both in values.items()
            for value in both
        ],
    )
    figure = drawn(table, points(x={"field": "loss_value"}, y={"field": "jain", "scale": "log"}))
    marks = data_with(figure, "hollow").sort("x")
    assert marks["hollow"].to_list() == [True, False]
    assert marks["y"].to_list() == [1e-4, 2.5e-4]
    assert marks["line"].to_list() == [None, 2.5e-4]
    assert marks["low"].to_list() == [None, 1e-4]
    assert figure.notes == snapshot(
        (
            "Mean and 95 % interval of 4 runs per point.",
            "Not run yet: algorithm FAST-TCP; loss 0.",
            "Intervals that reach the frame continue beyond it.",
            "Hollow on the lower edge: 0.",
        )
    )


def test_shares_are_shown_in_percent() -> None:
    runs = [{"algorithm": "reno", "rtt": "22ms", "utilisation": 0.25 * run} for run in (1, 3)]
    figure = drawn(Tables(AXES, runs), bars(y={"field": "utilisation"}))
    text = svg(figure)
    assert ">40%<" in text
    assert any("50 % (95 % interval" in label for label in labels(text, "bar"))
    assert "50" in str(figure.tables)
    assert "%" in figure.tables[0].rows[0].cells[0]


def test_tradeoffs_show_percent_and_name_their_axis() -> None:
    runs = [
        {"algorithm": "reno", "rtt": rtt, "utilisation": 0.25 * run, "jain": 0.5}
        for rtt in AXES["rtt"]
        for run in (1, 3)
    ]
    keys = {"kind": "tradeoff", "x": {"field": "utilisation"}, "y": {"field": "jain"}}
    figure = drawn(
        Tables(AXES, runs), validate(TradeoffFigure, {**COMMON, **keys, "series": "rtt"})
    )
    across, up = figure.tables[0].rows[0].cells
    assert re.fullmatch("50.* %", across)
    assert "%" not in up
    text = svg(figure)
    assert re.search(">[1-9]0%<", text)
    assert re.search('role-legend-title".*?<text[^>]*>rtt<', text)


@pytest.mark.parametrize("spec", MEANS)
def test_nothing_is_drawn_where_a_log_axis_has_no_place(spec: Callable[..., BaseFigure]) -> None:
    values = {"16ms": (0.0, 0.0), "22ms": (0.0, 3.0), "42ms": (2.0, 3.0)}
    table = Tables(
        AXES,
        [
            {"algorithm": "reno", "rtt": rtt, "jain": value, "share": value}
            for rtt, both in values.items()
            for value in both
        ],
    )
    axis = {"field": "jain", "scale": "log"}
    keys: dict[str, Any] = {"x": axis, "facet": "rtt"} if spec is rows else {"y": axis}
    text = svg(drawn(table, spec(**keys)))
    assert "NaN" not in text
    assert "Infinity" not in text
    if spec is bars:
        second = {"marks": {"field": "share", "scale": "log"}}
        figure = drawn(table, spec(**keys, **second))
        assert "NaN" not in svg(figure)
        assert figure.notes == snapshot(
            (
                "Mean of 2 runs per point.",
                "Not run yet: algorithm CUBIC, H-TCP, BIC-TCP, Scalable-TCP, HS-TCP, FAST-TCP and YeAH.",
                "Bars: fairness (Jain); points: share of the throughput.",
                "Small dots are single runs.",
                "Nothing is drawn where the mean is 0: 16 ms.",
            )
        )
        assert len(labels(svg(figure), "bar")) == len(labels(svg(figure), "point")) == 2


def test_axes_hold_every_value_and_some_of_the_intervals() -> None:
    axis = Coordinate(field="y", title="y", low=0)
    span = axes.extent(
        axis, [pl.Series([1.0, 2.0])], [pl.Series([-30.0, 1.0]), pl.Series([3.0, 40.0])]
    )
    assert span.low == 0
    assert 2 < span.high < 4
    coordinate = Coordinate(field="y", title="y", low=0, high=1)
    assert axes.extent(coordinate, [pl.Series([1.7])]).high > 1.7
    assert axes.extent(coordinate, [pl.Series([0.7])], [pl.Series([40.0])]).high == 1


def test_the_interval_of_a_share_ends_where_the_share_does() -> None:
    runs = [
        {"algorithm": "reno", "rtt": "22ms", "jain": jain, "rtt_mean_ms": jain}
        for jain in (0.7, 1, 0.7, 1)
    ]
    table = Tables(AXES, runs)
    shown = data_with(drawn(table, points()), "low", "high", "mean")
    assert shown["high"].to_list() == [1]
    beyond = data_with(drawn(table, points(y={"field": "rtt_mean_ms"})), "low", "high", "mean")
    assert beyond["high"][0] > 1


def test_a_trade_off_does_not_fill_the_page_with_a_small_difference() -> None:
    """Goodputs from 96.520 to 96.534 Mbit/s once went from edge to edge."""
    runs = [
        {"algorithm": name, "rtt": "22ms", "goodput_mbit_per_s": 96.52 + step, "jain": 1.0}
        for name, step in (("reno", 0), ("cubic", 0.014))
        for _ in range(4)
    ]
    spec = tradeoff(x={"field": "jain"}, y={"field": "goodput_mbit_per_s"})
    (low, high), (first, last) = (domain(drawn(Tables(AXES, runs), spec), axis) for axis in "yx")
    assert high - low >= 0.05 * 96
    assert (low < 96.52, high > 96.534) == (True, True)
    assert (first, last) == (0.95, 1)


def domain(figure: Figure, axis: str) -> tuple[float, float]:
    """Return the ends of the axis of the first layer that names them."""
    layers = vega_lite(figure)["hconcat"][0]["layer"]
    scales = (layer["encoding"].get(axis, {}).get("scale", {}) for layer in layers)
    low, high = next(scale["domain"] for scale in scales if "domain" in scale)
    return low, high


@pytest.mark.parametrize(
    ("ends", "share", "expected"),
    [
        ((96.0, 97.0), False, 0.05 * 97),
        ((10.0, 20.0), False, 10.0),
        ((0.0, 0.0), False, 1.0),
        ((0.0, 1e-9), True, 0.001),
        ((-1.0, -0.999), False, 0.05),
    ],
)
def test_axes_have_a_least_length(ends: tuple[float, float], share: bool, expected: float) -> None:
    low, high = axes.widened(*ends, share=share)
    assert high - low == pytest.approx(expected)
    assert low <= ends[0]
    assert ends[1] <= high
    assert (low >= 0) == (ends[0] >= 0)
