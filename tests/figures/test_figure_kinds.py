"""Every kind of figure, from tables written down here: its marks and its texts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
from inline_snapshot import snapshot

from dumbbell.base.errors import InputError
from dumbbell.base.validation import validate
from dumbbell.figures import axes
from dumbbell.figures.figure import Figure
from dumbbell.figures.kinds.bars import BarsFigure
from dumbbell.figures.kinds.boxes import BoxesFigure
from dumbbell.figures.kinds.heatmap import HeatmapFigure
from dumbbell.figures.kinds.histories import HistoriesFigure
from dumbbell.figures.kinds.points import PointsFigure
from dumbbell.figures.kinds.ratios import RatiosFigure
from dumbbell.figures.kinds.rows import RowsFigure
from dumbbell.figures.kinds.scatter import ScatterFigure
from dumbbell.figures.kinds.tradeoff import TradeoffFigure
from dumbbell.figures.looks import LOOKS
from dumbbell.figures.spec import BaseFigure, Coordinate
from dumbbell.inference import statistics
from dumbbell.quantities.names import What
from dumbbell.quantities.tables import aggregate
from figure_tables import COMMON, Tables, data_with, datasets, drawn, svg, vega_lite

AXES = {
    "algorithm": ["reno", "cubic", "htcp", "bic", "scalable", "highspeed", "fast", "yeah"],
    "rtt": ["16ms", "22ms", "42ms"],
}
TIMES = Tables(
    AXES,
    [
        {"algorithm": name, "rtt": rtt, "jain": 0.5 + 0.05 * place + 0.01 * run, "share": 0.1 * run}
        for place, name in enumerate(AXES["algorithm"])
        for rtt in AXES["rtt"][1:]
        for run in range(4)
    ],
)


def points(**keys: Any) -> PointsFigure:
    x, y = {"field": "rtt_ms"}, {"field": "jain"}
    return validate(PointsFigure, {**COMMON, "kind": "points", "x": x, "y": y, **keys})


def bars(**keys: Any) -> BarsFigure:
    y = {"field": "jain"}
    return validate(BarsFigure, {**COMMON, "kind": "bars", "groups": "rtt", "y": y, **keys})


def scatter(**keys: Any) -> ScatterFigure:
    y = {"field": "jain"}
    return validate(ScatterFigure, {**COMMON, "kind": "scatter", "groups": "rtt", "y": y, **keys})


def rows(**keys: Any) -> RowsFigure:
    x = {"field": "jain"}
    return validate(RowsFigure, {**COMMON, "kind": "rows", "rows": "algorithm", "x": x, **keys})


def tradeoff(**keys: Any) -> TradeoffFigure:
    return validate(TradeoffFigure, {**COMMON, "kind": "tradeoff", **keys})


def boxes(**keys: Any) -> BoxesFigure:
    y = {"field": "goodput_mbit_per_s[1]@late"}
    return validate(BoxesFigure, {**COMMON, "kind": "boxes", "y": y, **keys})


def panel_keys() -> dict[str, Any]:
    return {"title": "p", "test": "t", "where": {"algorithm": "reno"}}


def histories(**keys: Any) -> HistoriesFigure:
    keys = {"panel": [panel_keys()], **keys}
    common = {name: COMMON[name] for name in ("name", "title", "section")}
    return validate(HistoriesFigure, {**common, "kind": "histories", **keys})


MEANS: list[Callable[..., BaseFigure]] = [points, bars, scatter, rows]


def labels(text: str, role: str) -> list[str]:
    """Return what the marks of a kind say to who does not see them."""
    labelled = re.findall(r'aria-label="([^"]*)" role="[^"]*" aria-roledescription="(\w+)"', text)
    return [label for label, kind in labelled if kind == role]


def test_points_stand_where_they_were_measured() -> None:
    figure = drawn(TIMES, points())
    marks = data_with(figure, "hollow")
    assert set(marks["x"]) == {22, 42}
    assert marks.height == 2 * len(AXES["algorithm"])
    axis = svg(figure)
    places = re.findall(r'rtt \(ms\) (\d+):[^>]*"point" transform="translate\(([\d.]+),', axis)
    assert len(places) == marks.height
    # The axis begins at 0: pixels are as the values, whatever the series.
    per_ms = float(places[0][1]) / float(places[0][0])
    assert all(float(x) == pytest.approx(per_ms * float(rtt)) for rtt, x in places)
    texts = labels(axis, "point")
    assert len(texts) == marks.height
    assert {label.split(", ")[1].partition(":")[0] for label in texts} == {
        "rtt (ms) 22",
        "rtt (ms) 42",
    }
    assert (
        "Standard TCP, rtt (ms) 22: fairness (Jain) 0.515 (95 % interval 0.494 to 0.536), 4 runs"
        in (texts)
    )


@pytest.mark.parametrize("spec", MEANS)
def test_intervals_are_those_of_student(spec: Callable[..., BaseFigure]) -> None:
    figure = drawn(TIMES, spec(where={"rtt": "22ms"}))
    expected = aggregate(TIMES.table("t", ["jain"]), ["algorithm", "rtt"], "jain")[0]
    shown = data_with(figure, "low", "high", "mean").sort("mean")
    assert shown["mean"][0] == pytest.approx(expected["mean"].item())
    assert shown["low"][0] == pytest.approx(expected["low"].item(), rel=1e-5)
    assert shown["high"][0] == pytest.approx(expected["high"].item(), rel=1e-5)
    assert figure.notes[0] == snapshot("Mean and 95 % interval of 4 runs per point.")
    assert figure.frame is not None
    assert {"mean", "low", "high", "n", "runs"} <= set(figure.frame.columns)
    assert set(figure.frame["quantity"]) == {"jain"}
    assert all("mean and 95 % interval" in table.caption for table in figure.tables)
    assert "0.515 ± 0.021" in str(figure.tables)


@pytest.mark.parametrize("spec", [*MEANS, boxes])
def test_without_runs_only_axes_are_drawn(spec: Callable[..., BaseFigure]) -> None:
    for keys in ({}, {"facet": "rtt"}):
        figure = drawn(Tables(AXES), spec(**keys))
        assert figure.notes == snapshot(("Not run yet: the test t.",))
        assert figure.tables == ()
        assert figure.frame is None
    partly = drawn(Tables(AXES), spec(where={"rtt": "16ms"}))
    assert partly.notes == snapshot(("Not run yet: these points of the test t.",))


@pytest.mark.parametrize("spec", MEANS)
def test_what_is_missing_is_said(spec: Callable[..., BaseFigure]) -> None:
    assert "Not run yet: rtt 16 ms." in drawn(TIMES, spec()).notes


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
def test_one_series_and_one_place_are_enough(spec: Callable[..., BaseFigure]) -> None:
    only = Tables(
        {"algorithm": ["reno"], "rtt": ["22ms"]},
        [{"algorithm": "reno", "rtt": "22ms", "jain": 0.5}],
    )
    figure = drawn(only, spec())
    assert figure.notes == snapshot(("One run per point.",))
    shown = data_with(figure, "low", "mean")
    assert shown["low"].to_list() == [None]
    assert figure.tables[0].rows[0].cells == ("0.5",)


@pytest.mark.parametrize("spec", MEANS)
def test_titles_are_by_default_those_of_the_quantities(spec: Callable[..., BaseFigure]) -> None:
    field = "goodput_mbit_per_s[1]@late"
    table = Tables(AXES, [{"algorithm": "reno", "rtt": "22ms", field: 7.0}])
    axis = {"x": {"field": field}} if spec is rows else {"y": {"field": field}}
    text = svg(drawn(table, spec(**axis)))
    assert "goodput of flow 1 in the second half of the window (Mbit/s)" in text
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


def test_means_of_some_runs_are_hollow_and_of_none_absent() -> None:
    values = {"16ms": (9.0, 9.0), "22ms": (9.0, None), "42ms": (None, None)}
    table = Tables(
        AXES,
        [
            {"algorithm": "reno", "rtt": rtt, "jain": value}
            for rtt, both in values.items()
            for value in both
        ],
    )
    spec = points(missing="did not converge", where={"algorithm": "reno"})
    figure = drawn(table, spec)
    marks = data_with(figure, "hollow").sort("x")
    assert marks["hollow"].to_list() == [False, True, True]
    assert marks["counted"].to_list() == ["2", "1 of 2", "0 of 2"]
    assert marks["y"].to_list() == [9, 9, None]
    assert any("did not converge" in note for note in figure.notes)
    assert len(labels(svg(figure), "point")) == 2
    grouped = drawn(table, bars(missing="did not converge", where={"algorithm": "reno"}))
    start = "Of Standard TCP (22 ms) and Standard TCP (42 ms), not all runs have a value"
    assert any(note.startswith(start) for note in grouped.notes)


def test_many_points_without_a_value_are_counted_and_none_with_one_is_said_so() -> None:
    parts = [{"field": "jain", "label": "median"}, {"field": "share", "label": "tail"}]
    spec = bars(part=parts, beside=True, missing="too few")

    def notes(first: float | None) -> list[str]:
        runs = [
            {"algorithm": name, "rtt": rtt, "jain": value, "share": 0.5}
            for name in AXES["algorithm"]
            for rtt in AXES["rtt"]
            for value in (first, None)
        ]
        return [note for note in drawn(Tables(AXES, runs), spec).notes if "too few" in note]

    assert notes(None) == snapshot(["median: no run has a value: too few."])
    assert notes(0.5) == snapshot(
        ["median: of 24 of 24 points, not all runs have a value: too few."]
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


@pytest.mark.parametrize(("series", "title"), [("algorithm", None), ("rtt", "rtt")])
def test_legends_name_the_axis_unless_it_is_of_algorithms(series: str, title: str | None) -> None:
    groups = "rtt" if series == "algorithm" else "algorithm"
    for spec in (bars, scatter):
        text = svg(drawn(TIMES, spec(series=series, groups=groups)))
        titles = re.findall(r'class="mark-text role-legend-title".*?<text[^>]*>([^<]*)<', text)
        assert titles == ([] if title is None else [title])


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


PARTS = [
    {
        "algorithm": "reno",
        "rtt": rtt,
        "goodput_mbit_per_s[1]": 3.0,
        "goodput_mbit_per_s[2]": 4.0 + n,
    }
    for rtt in ("22ms", "42ms")
    for n in (0, 1, 0, 1)
]
PART = [{"field": f"goodput_mbit_per_s[{n}]", "label": f"flow {n}"} for n in (1, 2)]
PART_FIELDS = [part["field"] for part in PART]


def test_parts_are_stacked_on_each_other_with_their_intervals() -> None:
    y = {"field": "goodput_mbit_per_s"}
    figure = drawn(Tables(AXES, PARTS), bars(y=y, part=PART))
    shown = data_with(figure, "bottom").filter(pl.col("group") == "22 ms").sort("bottom")
    assert shown["part"].to_list() == ["flow 1", "flow 2"]
    assert shown["bottom"].to_list() == [0, 3]
    assert shown["top"].to_list() == [3, 7.5]
    assert (shown["low"][1] + shown["high"][1]) / 2 == pytest.approx(7.5)
    assert figure.frame is not None
    assert set(figure.frame["quantity"]) == {part["field"] for part in PART}
    assert figure.notes == snapshot(
        (
            "Mean and 95 % interval of 4 runs per point.",
            "Not run yet: algorithm CUBIC, H-TCP, BIC-TCP, Scalable-TCP, HS-TCP, FAST-TCP and YeAH; rtt 16 ms.",
            "Bars, from the bottom: flow 1; flow 2.",
        )
    )
    assert [table.title for table in figure.tables] == ["flow 1", "flow 2"]
    texts = labels(svg(figure), "bar")
    where = "Standard TCP, rtt 22 ms, flow 2"
    text = f"{where}: goodput (Mbit/s) 4.5 (95 % interval 3.58 to 5.42), 4 runs"
    assert text in texts


def test_parts_of_one_quantity_have_its_title_and_a_shade_each() -> None:
    quantities = [f"goodput_mbit_per_s[1]@{window}" for window in ("late", "final", "run")]
    row = {"algorithm": "reno", "rtt": "22ms", **dict.fromkeys(quantities, 3.0)}
    part = [{"field": name, "label": name[-5:]} for name in quantities]
    y = {"field": quantities[0]}
    alone = Tables({**AXES, "algorithm": ["reno"]}, [row])
    text = svg(drawn(alone, bars(y=y, part=part, beside=True)))
    assert ">goodput (Mbit/s)<" in text
    assert ">Standard TCP<" not in text, "one series needs no legend"
    shades = re.findall(r'aria-roledescription="bar"[^>]* fill-opacity="([\d.]+)"', text)
    assert [float(shade) for shade in (shades if len(shades) == 3 else ["1", *shades])] == (
        pytest.approx([1, 0.675, 0.35])
    )


@pytest.mark.parametrize(("groups", "angle"), [(3, 0), (20, -40)])
def test_names_of_groups_are_aslant_where_a_word_is_too_long(groups: int, angle: int) -> None:
    names = [f"CCPD(4,{number})" for number in range(4000, 4000 + groups)]
    chart = drawn(Tables({"algorithm": ["reno"], "rtt": names}), bars()).chart
    assert f'"labelAngle": {angle}' in json.dumps(chart.to_dict())


def test_parts_stand_beside_each_other_on_a_log_axis() -> None:
    tail = ("latency_p99_ms[rpc]", "latency_p999_ms[rpc]")
    table = Tables(AXES, [{"algorithm": "reno", "rtt": "22ms", tail[0]: 3.0, tail[1]: 500.0}])
    part = [{"field": tail[0], "label": "p99"}, {"field": tail[1], "label": "p99.9"}]
    y = {"field": tail[0], "scale": "log", "title": "latency (ms)"}
    figure = drawn(table, bars(y=y, part=part, beside=True))
    shown = data_with(figure, "bottom").sort("top")
    assert shown["bottom"].to_list() == [1, 1]
    assert shown["top"].to_list() == [3, 500]
    assert shown["slot"].n_unique() == 2
    assert figure.notes == snapshot(
        (
            "One run per point.",
            "Not run yet: algorithm CUBIC, H-TCP, BIC-TCP, Scalable-TCP, HS-TCP, FAST-TCP and YeAH; rtt 16 ms and 42 ms.",
            "Bars, from the left: p99; p99.9.",
        )
    )
    places = re.findall(r'aria-roledescription="bar" d="M([\d.]+),[\d.]+h([\d.]+)', svg(figure))
    assert len(places) == 2
    (left, width), (right, _) = sorted((float(x), float(w)) for x, w in places)
    assert left + width <= right


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ({"part": PART, "y": {"field": "jain", "scale": "log"}}, r"y\.scale.*log scale"),
        ({"beside": True}, "beside.*no parts"),
        ({"part": [PART[0], PART[0]]}, "part.*labels that differ"),
        ({"marks": {"field": "jain"}}, r"marks\.field.*the bars show it"),
    ],
)
def test_bars_that_cannot_be_drawn_are_refused(keys: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        bars(**keys)


def test_a_second_quantity_has_an_axis_of_its_own() -> None:
    figure = drawn(TIMES, bars(marks={"field": "share", "title": "a share"}))
    assert figure.notes == snapshot(
        (
            "Mean and 95 % interval of 4 runs per point.",
            "Not run yet: rtt 16 ms.",
            "Bars: fairness (Jain); points: a share.",
        )
    )
    assert "a share" in svg(figure)
    layers = vega_lite(figure)["hconcat"][0]
    assert layers["resolve"]["scale"]["y"] == "independent"
    assert [table.caption for table in figure.tables] == snapshot(
        [
            "fairness (Jain), mean and 95 % interval",
            "a share, mean and 95 % interval",
        ]
    )


def test_scatters_tell_an_axis_by_shapes() -> None:
    second = {**AXES, "second": ["same", "reno"]}
    table = Tables(
        second,
        [
            {"algorithm": "cubic", "rtt": "22ms", "second": other, "jain": 0.6 + 0.1 * run}
            for other in second["second"]
            for run in range(2)
        ],
    )
    figure = drawn(table, scatter(shapes="second"))
    means = data_with(figure, "mean")
    assert set(means["part"]) == {"same", "Standard TCP"}
    assert means["slot"].n_unique() == 2
    dots = next(f for f in datasets(figure) if "value" in f.columns)
    assert dots.height == 4
    assert figure.notes == snapshot(
        (
            "Mean of 2 runs per point.",
            "Not run yet: algorithm Standard TCP, H-TCP, BIC-TCP, Scalable-TCP, HS-TCP, FAST-TCP and YeAH; rtt 16 ms and 42 ms.",
            "Small dots are single runs.",
        )
    )
    assert figure.frame is not None
    assert "second" in figure.frame.columns


def test_rows_show_what_was_stated() -> None:
    authors = [
        {"where": {"rtt": "22ms"}, "value": 0.9, "source": "Section 1"},
        {"where": {"rtt": "42ms"}, "low": 0.3, "high": 1.5, "source": "S.", "label": "BIC: 1"},
    ]
    figure = drawn(TIMES, rows(facet="rtt", authors=authors))
    assert [table.title for table in figure.tables] == ["16 ms", "22 ms", "42 ms"]
    assert "the authors: 0.9 (Section 1)" in figure.tables[1].caption
    frames = [frame for frame in datasets(figure) if "from" in frame.columns]
    assert [f.to_dicts() for f in frames] == [[{"from": 0.9}], [{"from": 0.3, "to": 1.5}]]
    assert 'aria-label="the authors: BIC: 1 (S.)"' in svg(figure)


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


@pytest.mark.parametrize("spec", MEANS)
def test_few_runs_are_dots_and_have_no_interval(spec: Callable[..., BaseFigure]) -> None:
    """The interval of three runs is 4.3 standard errors long to each side."""
    runs = [{"algorithm": "reno", "rtt": "22ms", "jain": jain} for jain in (0.3, 0.4, 0.8)]
    figure = drawn(Tables(AXES, runs), spec(where={"rtt": "22ms"}))
    assert data_with(figure, "low", "high")["low"].null_count() > 0
    assert sorted(data_with(figure, "value")["value"]) == [0.3, 0.4, 0.8]
    assert figure.notes == snapshot(
        (
            "Mean of 3 runs per point.",
            "Not run yet: algorithm CUBIC, H-TCP, BIC-TCP, Scalable-TCP, HS-TCP, FAST-TCP and YeAH.",
            "Small dots are single runs.",
        )
    )
    # The table has it, for those who know what it is worth.
    assert "0.50 ± 0.50" in str(figure.tables)


def test_bars_of_few_runs_have_their_dots_on_the_stack() -> None:
    runs = [
        {"algorithm": "reno", "rtt": "22ms", **dict(zip(PART_FIELDS, pair, strict=True))}
        for pair in ((3.0, 4.0), (3.0, 5.0))
    ]
    figure = drawn(Tables(AXES, runs), bars(y={"field": "goodput_mbit_per_s"}, part=PART))
    dots = data_with(figure, "value").sort("part", "value")
    assert dots.select("part", "value").rows() == [
        ("flow 1", 3),
        ("flow 1", 3),
        ("flow 2", 7),
        ("flow 2", 8),
    ]


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


def heatmap(**keys: Any) -> HeatmapFigure:
    cells = {"x": "rtt", "y": "second", "quantity": "jain", "facet": "algorithm"}
    return validate(HeatmapFigure, {**COMMON, "kind": "heatmap", **cells, **keys})


def ratios(**keys: Any) -> RatiosFigure:
    cells = {"x": "rtt", "y": "second", "quantity": "jain", "first": "reno", "second": "cubic"}
    return validate(RatiosFigure, {**COMMON, "kind": "ratios", **cells, **keys})


TWO = {"algorithm": ["reno", "cubic"], "rtt": ["22ms", "42ms"], "second": ["same"]}
COMPETING = Tables(
    TWO,
    [
        {"algorithm": name, "rtt": rtt, "second": "same", "jain": mean + 0.01 * run}
        for name, rtt, mean in (
            ("reno", "22ms", 0.8),
            ("cubic", "22ms", 0.4),
            ("reno", "42ms", 0.5),
            ("cubic", "42ms", 0.505),
        )
        for run in range(5)
    ],
)
"""At 22 ms Reno is the better one; at 42 ms intervals overlap."""


def test_only_what_is_decided_is_the_best_of_a_map() -> None:
    figure = drawn(COMPETING, heatmap())
    cells = pl.concat(
        frame.with_columns(place=pl.lit(place))
        for place, frame in enumerate(
            frame for frame in datasets(figure) if "is_best" in frame.columns
        )
    )
    assert cells.filter("is_best").select("place", "x").rows() == [(0, "22ms")]
    note = "Outlined: the best at this point; its interval overlaps with no other's."
    assert note in figure.notes
    alone = drawn(COMPETING, heatmap(where={"algorithm": "reno"}))
    assert not any(frame["is_best"].any() for frame in datasets(alone) if "is_best" in frame)


def test_equal_numbers_do_not_span_all_colours_of_a_map() -> None:
    runs = [
        {"algorithm": "reno", "rtt": rtt, "second": "same", "jain": value}
        for rtt, value in (("22ms", 0.994), ("42ms", 0.9999))
    ]
    text = str(vega_lite(drawn(Tables(TWO, runs), heatmap())))
    low, high = map(float, re.findall(r"'domain': \[([\d.]+), ([\d.]+)\], 'scheme'", text)[0])
    assert high - low == pytest.approx(0.05, rel=1e-3)


def test_a_map_of_ratios_is_grey_where_nothing_is_decided() -> None:
    figure = drawn(COMPETING, ratios())
    cells = data_with(figure, "decided").sort("x")
    assert cells["decided"].to_list() == [True, False]
    assert cells["text"].to_list() == [1.952, 0.9905]
    assert figure.notes == snapshot(
        (
            "Ratios of means, Standard TCP / CUBIC, of 5 runs per point.",
            "Grey: not decided (1 of 2), as the 95 % interval of the ratio includes 1.",
        )
    )
    one, other = ([mean + 0.01 * run for run in range(5)] for mean in (0.8, 0.4))
    ratio = statistics.ratio(one, other)
    assert figure.frame is not None
    row = figure.frame.filter(pl.col("rtt") == "22ms").row(0, named=True)
    assert (row["low"], row["high"]) == (ratio.low, ratio.high)
    # The better one has its colour.
    assert LOOKS["reno"].colour in svg(figure)


def test_a_ratio_needs_two_series_of_the_axis() -> None:
    with pytest.raises(InputError) as refused:
        ratios(second="reno")
    assert str(refused.value) == snapshot('second = "reno": is the first one, too')
    named = {use.key: use.name for use in ratios().uses() if use.what is What.VALUE}
    assert named == {"first": ("algorithm", "reno"), "second": ("algorithm", "cubic")}


def test_a_figure_says_what_is_seen() -> None:
    assert drawn(
        TIMES, points(where={"algorithm": ["reno", "cubic"]})
    ).alternative_text == snapshot(
        "Fig. 9. F. fairness (Jain), mean and 95 % interval, by rtt (ms). Standard TCP: 0.515 at 22 and 0.515 at 42; CUBIC: 0.565 at 22 and 0.565 at 42. Mean and 95 % interval of 4 runs per point. Not run yet: rtt 16 ms."
    )
    assert drawn(COMPETING, ratios()).alternative_text == snapshot(
        "Fig. 9. F. fairness (Jain): Standard TCP / CUBIC, with 95 % interval, by second. 22 ms: 1.952 at same; 42 ms: 0.9905 at same. Ratios of means, Standard TCP / CUBIC, of 5 runs per point. Grey: not decided (1 of 2), as the 95 % interval of the ratio includes 1."
    )


def test_boxes_of_something_else_are_refused() -> None:
    with pytest.raises(InputError, match=r"y\.field.*goodput_mbit_per_s"):
        boxes(y={"field": "jain"})


@pytest.mark.parametrize(("packets", "split"), [("100p", False), ("2340000p", True)])
def test_names_of_groups_have_lines_where_they_would_not_fit(packets: str, split: bool) -> None:
    queues = [packets, *(f"{packets[:-1]}{n}p" for n in range(1, 8))]
    figure = drawn(Tables({"algorithm": ["reno"], "queue": queues}), bars(groups="queue"))
    axis = str(vega_lite(figure))
    assert ("labelExpr" in axis) == split


AT_22_MS = (("rtt", "22ms"), ("rtt", "22ms"))
"""A selection within another, as `uses` has it."""


def uses(spec: BaseFigure) -> set[tuple[str, What, Any]]:
    """Return what a figure refers to; of a selection its first axis with its value."""
    assert all(use.test == "t" for use in spec.uses() if use.what not in (What.TEST, What.SERIES))
    return {(use.key, use.what, _short(use.name)) for use in spec.uses()}


def _short(name: Any) -> Any:
    if isinstance(name, dict):
        return next(iter(name.items()))
    return tuple(map(_short, name)) if isinstance(name, tuple) else name


def test_every_kind_says_what_it_refers_to() -> None:
    common = {("test", What.TEST, "t"), ("where", What.SELECTION, ("rtt", "22ms"))}

    where = {"where": {"rtt": "22ms"}, "facet": "rtt"}
    facet = {("facet", What.AXIS, "rtt")}
    overlay = [{"theory": "sawtooth_utilisation", "label": "l", "where": {"algorithm": "reno"}}]
    assert uses(points(**where, series="algorithm", overlay=overlay)) == common | facet | {
        ("x.field", What.COLUMN, "rtt_ms"),
        ("y.field", What.COLUMN, "jain"),
        ("series", What.AXIS, "algorithm"),
        ("overlay.1.theory", What.CURVE, "sawtooth_utilisation"),
        ("overlay.1.where", What.SELECTION, ("algorithm", "reno")),
    }
    grouped = {("groups", What.AXIS, "rtt"), ("series", What.AXIS, "algorithm")}
    marks = {"field": "share"}
    assert uses(bars(**where, part=PART, marks=marks)) == common | facet | grouped | {
        ("y.field", What.COLUMN, "jain"),
        ("part.1.field", What.COLUMN, PART[0]["field"]),
        ("part.2.field", What.COLUMN, PART[1]["field"]),
        ("marks.field", What.COLUMN, "share"),
    }
    assert uses(scatter(**where, shapes="second")) == common | facet | grouped | {
        ("y.field", What.COLUMN, "jain"),
        ("shapes", What.AXIS, "second"),
    }
    authors = [{"where": {"rtt": "22ms"}, "low": 1, "source": "s"}]
    assert uses(rows(**where, authors=authors)) == common | facet | {
        ("rows", What.AXIS, "algorithm"),
        ("x.field", What.COLUMN, "jain"),
        ("authors.1.where", What.POINTS, AT_22_MS),
    }
    assert uses(boxes(**where)) == common | facet | {
        ("series", What.AXIS, "algorithm"),
        ("y.field", What.COLUMN, "goodput_mbit_per_s[1]@late"),
    }
    assert uses(histories(quantities=["rtt_ms", {"quantity": "state:alpha", "title": "α"}])) == {
        ("panel.1.test", What.TEST, "t"),
        ("panel.1.where", What.SELECTION, ("algorithm", "reno")),
        ("quantities.1", What.SERIES, "rtt_ms"),
        ("quantities.2", What.SERIES, "state:alpha"),
    }
    panel = {**panel_keys(), "most": "starved_longest_s"}
    assert ("panel.1.most", What.QUANTITY, "starved_longest_s") in uses(histories(panel=[panel]))


def test_every_kind_says_which_runs_are_behind_it() -> None:
    for spec in (points, bars, scatter, rows, boxes):
        (behind,) = spec(where={"rtt": "22ms"}).behind()
        assert (behind.test, behind.where, behind.repetition) == ("t", {"rtt": "22ms"}, None)
    (run,) = histories().behind()
    assert (run.words, run.test, run.repetition) == ("p", "t", 1)
    (runs,) = histories(panel=[{**panel_keys(), "most": "jain"}]).behind()
    assert (runs.where, runs.repetition) == ({"algorithm": "reno"}, None)


def test_a_panel_picks_its_run_in_one_way() -> None:
    with pytest.raises(InputError, match=r"most.*repetition"):
        histories(panel=[{**panel_keys(), "most": "jain", "repetition": 1}])


def test_many_series_are_drawn() -> None:
    names = [f"own{number}" for number in range(30)]
    table = Tables(
        {"algorithm": names, "rtt": ["22ms", "42ms"]},
        [
            {"algorithm": name, "rtt": rtt, "jain": 0.01 * place + 0.1 * run}
            for place, name in enumerate(names)
            for rtt in ("22ms", "42ms")
            for run in range(2)
        ],
    )
    for spec in MEANS:
        figure = drawn(table, spec())
        assert data_with(figure, "mean").height == 60 if spec is not rows else 30
