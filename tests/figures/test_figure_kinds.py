"""What every kind of figure does: its marks, its texts and what it refers to."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from inline_snapshot import snapshot

from dumbbell.base.errors import InputError
from dumbbell.figures.spec import BaseFigure
from dumbbell.quantities.names import What
from dumbbell.quantities.tables import aggregate
from figure_specs import (
    AXES,
    MEANS,
    PART,
    TIMES,
    bars,
    boxes,
    histories,
    labels,
    panel_keys,
    points,
    rows,
    scatter,
)
from figure_tables import Tables, data_with, datasets, drawn, svg


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


@pytest.mark.parametrize(("series", "title"), [("algorithm", None), ("rtt", "rtt")])
def test_legends_name_the_axis_unless_it_is_of_algorithms(series: str, title: str | None) -> None:
    groups = "rtt" if series == "algorithm" else "algorithm"
    for spec in (bars, scatter):
        text = svg(drawn(TIMES, spec(series=series, groups=groups)))
        titles = re.findall(r'class="mark-text role-legend-title".*?<text[^>]*>([^<]*)<', text)
        assert titles == ([] if title is None else [title])


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


@pytest.mark.parametrize("spec", [partial(bars, groups="first"), partial(rows, rows="first")])
def test_presets_of_one_algorithm_have_a_place_each(spec: Callable[..., BaseFigure]) -> None:
    first = ["htcp", "htcp@li2007"]
    runs = [{"first": one, "algorithm": "reno", "jain": 0.2 + 0.1 * len(one)} for one in first]
    figure = drawn(Tables({"first": first, "algorithm": ["reno"]}, runs), spec())
    assert figure.frame is not None
    assert dict(figure.frame.select("first", "mean").rows()) == {
        "H-TCP": pytest.approx(0.6),
        "H-TCP (htcp@li2007)": pytest.approx(1.3),
    }
    assert [row.x for row in figure.tables[0].rows] == figure.frame["first"].to_list()


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


def test_a_figure_says_what_is_seen() -> None:
    assert drawn(
        TIMES, points(where={"algorithm": ["reno", "cubic"]})
    ).alternative_text == snapshot(
        "Fig. 9. F. fairness (Jain), mean and 95 % interval, by rtt (ms). Standard TCP: 0.515 at 22 and 0.515 at 42; CUBIC: 0.565 at 22 and 0.565 at 42. Mean and 95 % interval of 4 runs per point. Not run yet: rtt 16 ms."
    )


def test_boxes_of_something_else_are_refused() -> None:
    with pytest.raises(InputError, match=r"y\.field.*goodput_mbit_per_s"):
        boxes(y={"field": "jain"})


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
