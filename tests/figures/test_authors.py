"""Numbers of the authors in figures: their places, their looks, and refused ones."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from inline_snapshot import snapshot

import small_study
from dumbbell.base.errors import InputError
from dumbbell.base.validation import validate
from dumbbell.figures.figure import Figure
from dumbbell.figures.kinds.bars import BarsFigure
from dumbbell.figures.kinds.boxes import BoxesFigure
from dumbbell.figures.kinds.histories import HistoriesFigure
from dumbbell.figures.kinds.points import PointsFigure
from dumbbell.figures.kinds.scatter import ScatterFigure
from dumbbell.study.model import Study
from figure_tables import COMMON, Tables, datasets, drawn, svg

AXES = {"algorithm": ["reno", "cubic"], "rtt": ["16ms", "42ms"], "second": ["same", "reno"]}
RUNS = Tables(
    AXES,
    [
        {"algorithm": name, "rtt": rtt, "second": second, "jain": 0.5 + 0.1 * run, "share": 0.1}
        for name in AXES["algorithm"]
        for rtt in AXES["rtt"]
        for second in AXES["second"]
        for run in range(3)
    ],
)
SOURCE = {"source": "Section V"}


def points(*authors: dict[str, Any], **keys: Any) -> PointsFigure:
    spec = {"kind": "points", "x": {"field": "rtt_ms"}, "y": {"field": "jain"}}
    return validate(PointsFigure, {**COMMON, **spec, "authors": list(authors), **keys})


def bars(*authors: dict[str, Any], **keys: Any) -> BarsFigure:
    spec = {"kind": "bars", "groups": "rtt", "y": {"field": "jain"}}
    return validate(BarsFigure, {**COMMON, **spec, "authors": list(authors), **keys})


def scatter(*authors: dict[str, Any]) -> ScatterFigure:
    spec = {"kind": "scatter", "groups": "rtt", "shapes": "second", "y": {"field": "jain"}}
    return validate(ScatterFigure, {**COMMON, **spec, "authors": list(authors)})


def boxes(*authors: dict[str, Any]) -> BoxesFigure:
    spec = {"kind": "boxes", "y": {"field": "goodput_mbit_per_s"}}
    return validate(BoxesFigure, {**COMMON, **spec, "authors": list(authors)})


def histories(*authors: dict[str, Any]) -> HistoriesFigure:
    panels = [
        {"title": name, "test": "t", "where": {"algorithm": name, "rtt": "42ms", "second": "same"}}
        for name in AXES["algorithm"]
    ]
    keys = {name: COMMON[name] for name in ("name", "title", "section")}
    spec = {"kind": "histories", "quantities": ["cwnd_segs", "rtt_ms"], "panel": panels}
    return validate(HistoriesFigure, {**keys, **spec, "authors": list(authors)})


def marks(figure: Figure) -> pl.DataFrame:
    """Return the rows of the marks of the authors."""
    return next(frame for frame in datasets(figure) if "by" in frame.columns)


def test_a_number_stands_at_its_grid_point_in_the_colour_of_its_series() -> None:
    number = {"where": {"algorithm": "cubic", "rtt": "42ms"}, "value": 0.8, **SOURCE}
    figure = drawn(RUNS, points(number))
    (mark,) = marks(figure).to_dicts()
    assert (mark["label"], mark["x"], mark["y"]) == ("CUBIC", 42, 0.8)
    assert mark["said"] == "the authors: 0.8 (Section V)"
    text = svg(figure)
    hollow = re.findall(r'<path aria-label="the authors: 0.8 \(Section V\)"[^>]*>', text)
    assert len(hollow) == 1
    assert 'stroke="#2f8fc7"' in hollow[0]
    assert (
        'fill="transparent"' in hollow[0] or 'fill="none"' in hollow[0] or "fill=" not in hollow[0]
    )
    assert ">the authors<" in text
    assert figure.notes == snapshot(
        (
            "Mean and 95 % interval of 6 runs per point.",
            "Large hollow marks: what the authors state.",
        )
    )


def test_a_range_has_two_marks_and_an_open_end_an_arrow() -> None:
    figure = drawn(
        RUNS,
        points(
            {"where": {"algorithm": "reno", "rtt": "16ms"}, "low": 0.2, "high": 0.4, **SOURCE},
            {"where": {"algorithm": "reno", "rtt": "42ms"}, "low": 0.3, **SOURCE},
            {"where": {"algorithm": "cubic", "rtt": "42ms"}, "high": 0.9, **SOURCE},
        ),
    )
    places = sorted((row["x"], row["y"], row["arrow"]) for row in marks(figure).to_dicts())
    assert places == [(16, 0.2, None), (16, 0.4, None), (42, 0.3, "↑"), (42, 0.9, "↓")]
    text = svg(figure)
    assert text.count(">↑<") == text.count(">↓<") == 1
    assert figure.notes[-1].endswith("; ↑ at least, ↓ at most.")
    cells = [row.cells[0] for row in figure.tables[-1].rows]
    assert cells == ["0.2 to 0.4", "at least 0.3", "at most 0.9"]


def test_a_number_without_a_place_is_that_of_every_point_that_is_shown() -> None:
    figure = drawn(RUNS, points({"value": 1, **SOURCE}, where={"rtt": "42ms"}))
    assert sorted(marks(figure)["label"]) == ["CUBIC", "Standard TCP"]
    assert set(marks(figure)["x"]) == {42}


def test_axes_have_room_for_the_authors_even_without_runs() -> None:
    number = {"where": {"algorithm": "reno"}, "value": 7, **SOURCE}
    spec = points(number).draw(Tables(AXES)).chart.to_dict()
    (domain,) = {tuple(ends) for ends in _domains(spec, "y")}
    assert domain[1] > 7


def _domains(spec: Any, channel: str) -> Iterator[list[float]]:
    """Yield the domains of an encoding, wherever it is."""
    if isinstance(spec, list):
        for part in spec:
            yield from _domains(part, channel)
    if isinstance(spec, dict):
        domain = spec.get("encoding", {}).get(channel, {}).get("scale", {}).get("domain")
        if domain is not None:
            yield domain
        for part in spec.values():
            yield from _domains(part, channel)


def test_bars_tell_parts_and_the_second_quantity_apart() -> None:
    part = [{"field": "jain", "label": "one"}, {"field": "share", "label": "two"}]
    where = {"algorithm": "reno", "rtt": "16ms"}
    figure = drawn(
        RUNS,
        bars({"where": where, "field": "share", "value": 0.4, **SOURCE}, part=part, beside=True),
    )
    (mark,) = marks(figure).to_dicts()
    assert (mark["slot"], mark["group"], mark["y"]) == ("Standard TCP|two", "16 ms", 0.4)
    figure = drawn(
        RUNS,
        bars({"where": where, "field": "share", "value": 0.3, **SOURCE}, marks={"field": "share"}),
    )
    (mark,) = marks(figure).to_dicts()
    assert (mark["slot"], mark["y"]) == ("Standard TCP|second", 0.3)


def test_scatter_and_boxes_have_them_too() -> None:
    where = {"algorithm": "reno", "rtt": "16ms", "second": "same"}
    (mark,) = marks(drawn(RUNS, scatter({"where": where, "value": 0.4, **SOURCE}))).to_dicts()
    assert (mark["slot"], mark["y"]) == ("Standard TCP|same", 0.4)
    number = {"where": where, "low": 80, "high": 90, **SOURCE, "label": "half: 80 to 90"}
    frame = marks(drawn(RUNS, boxes(number)))
    assert frame["y"].to_list() == [80, 90]
    assert set(frame["said"]) == snapshot({"the authors: half: 80 to 90 (Section V)"})


def test_histories_note_levels_of_the_panels_that_are_meant() -> None:
    number = {"where": {"algorithm": "reno"}, "field": "rtt_ms", "value": 50, **SOURCE}
    assert drawn(RUNS, histories(number)).notes == snapshot(
        ("Dashed: the authors: 50 (Section V).", "Not run yet: reno; cubic.")
    )


def test_a_level_is_drawn_in_its_plot_alone(small: Any, tmp_path: Path) -> None:
    figures = small_study.FIGURES.replace(
        '[[figure.panel]]\ntitle = "20 ms"',
        'authors = [{ where = { rtt = "40ms" }, field = "goodput_mbit_per_s", value = 218, '
        'source = "Section I" }]\n\n[[figure.panel]]\ntitle = "20 ms"',
    )
    small_study.write(tmp_path)
    (tmp_path / "figures.toml").write_text(figures)
    figure = Study.load(tmp_path).figure("fig3").draw(small)
    levels = [frame for frame in datasets(figure) if frame.columns == ["value", "said"]]
    assert [frame["value"].to_list() for frame in levels] == [[218]]
    assert 'aria-label="the authors: 218 (Section I)"' in svg(figure)


@pytest.mark.parametrize("spec", [points, bars, scatter, boxes, histories])
@pytest.mark.parametrize(
    ("wrong", "key", "problem"),
    [
        ({}, "authors.1.value", "there is no number"),
        ({"value": 1, "low": 0}, "authors.1.value", "a number is no range"),
        ({"low": 2, "high": 1}, "authors.1.low", "low is above high"),
        ({"value": 1, "field": "jian"}, "authors.1.field", "unknown quantity of the figure"),
    ],
)
def test_a_wrong_number_is_refused(
    spec: Any, wrong: dict[str, Any], key: str, problem: str
) -> None:
    with pytest.raises(InputError) as caught:
        spec({**wrong, **SOURCE})
    assert (caught.value.key, problem in caught.value.problem) == (key, True), str(caught.value)
    assert caught.value.valid


def test_a_number_needs_a_source() -> None:
    with pytest.raises(InputError, match=r"authors\.1\.source"):
        points({"value": 1})


@pytest.mark.parametrize(
    ("figure", "authors", "key", "problem"),
    [
        ("fig1", '{ where = { rate = "7mbit" }, value = 1, source = "s" }',
         "figure.1.authors.1.where.rate", "no such value"),
        ("fig1", '{ where = { speed = "7mbit" }, value = 1, source = "s" }',
         "figure.1.authors.1.where", "unknown axis"),
        ("fig2", '{ where = { rate = "5mbit" }, value = 1, source = "s" }',
         "figure.2.authors.1.where", "chooses no grid point of the figure"),
        ("fig3", '{ where = { algorithm = "reno" }, value = 1, source = "s" }',
         "figure.3.authors.1.where", "chooses no panel of the figure"),
    ],
)  # fmt: skip
def test_a_number_with_no_place_in_its_figure_is_refused(
    tmp_path: Path, figure: str, authors: str, key: str, problem: str
) -> None:
    small_study.write(tmp_path)
    name = f'name = "{figure}"\n'
    figures = small_study.FIGURES.replace(name, f"{name}authors = [{authors}]\n")
    (tmp_path / "figures.toml").write_text(figures)
    with pytest.raises(InputError) as caught:
        Study.load(tmp_path)
    assert (caught.value.key, problem in caught.value.problem) == (key, True), str(caught.value)
    assert str(caught.value.source).endswith("figures.toml")
    assert caught.value.valid


def test_a_number_needs_an_axis_of_the_grid(tmp_path: Path) -> None:
    small_study.write(tmp_path)
    figures = small_study.FIGURES.replace(
        'x = { field = "rtt_ms", title = "RTT (ms)", low = 0 }', 'x = { field = "utilisation" }'
    ).replace('name = "fig1"\n', 'name = "fig1"\nauthors = [{ value = 1, source = "s" }]\n')
    (tmp_path / "figures.toml").write_text(figures)
    with pytest.raises(InputError, match=r"figure\.1\.x\.field.*has no place.*rtt_ms"):
        Study.load(tmp_path)
