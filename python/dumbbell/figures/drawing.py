"""The figures of a study: one definition draws the interactive chart, SVG and PNG.

`draw` returns an Altair chart for notebooks; `save` writes it to files. What has not been run yet
is named under the title instead of being an error.
"""

from __future__ import annotations

import itertools
import json
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import altair as alt
import polars as pl
import vl_convert

from dumbbell.analysis import metrics, theory
from dumbbell.errors import InputError, unknown
from dumbbell.figures import chart_histories, chart_points, chart_style, history
from dumbbell.figures.chart_histories import Row
from dumbbell.figures.chart_points import Pane
from dumbbell.figures.labels import engine_notes, label_of, listing
from dumbbell.results import Results
from dumbbell.running.store import Store
from dumbbell.study import grid
from dumbbell.study.figure_spec import FigureSpec, HistoriesFigure, Panel, PointsFigure
from dumbbell.study.model import Study, Test

_TITLE_CHARACTERS: Final = 110
_NOTE_CHARACTERS: Final = 150
_PNG_SCALE: Final = 1.5
_SUFFIXES: Final = (".svg", ".png", ".html", ".json")

Chart = alt.ConcatChart | alt.HConcatChart | alt.VConcatChart
"""A figure: panels in a grid, side by side or stacked."""


@dataclass(frozen=True)
class Figure:
    """A drawn figure.

    Attributes
    ----------
    spec
        What it is.
    chart
        The Altair chart, with title and notes.
    notes
        What is shown, and what is missing.
    panes
        The numbers behind the plots of a points figure.
    """

    spec: FigureSpec
    chart: Chart
    notes: tuple[str, ...]
    panes: tuple[Pane, ...] = ()


def draw(study: Study | str | Path, figure: str, store: Store | str | Path) -> Chart:
    """Draw one figure of a study from the runs in a results folder.

    >>> dumbbell.figures.draw("li2007", "fig4", "results")  # doctest: +SKIP
    """
    study = study if isinstance(study, Study) else Study.load(study)
    store = store if isinstance(store, Store) else Store(store)
    return render(Results(study, store), find(study, figure)).chart


def find(study: Study, name: str) -> FigureSpec:
    """Return a figure of a study; an unknown name is an InputError."""
    for figure in study.figures:
        if figure.name == name:
            return figure
    raise unknown("figure", name, [figure.name for figure in study.figures])


def render(results: Results, spec: FigureSpec) -> Figure:
    """Draw a figure with whatever runs there are."""
    return _points(results, spec) if spec.kind == "points" else _histories(results, spec)


def save(figure: Figure | Chart, path: str | Path) -> None:
    """Write a figure as its suffix says: .svg, .png, .html (works offline) or .json (Vega-Lite)."""
    path = Path(path)
    check_suffix(path)
    chart = figure.chart if isinstance(figure, Figure) else figure
    path.write_bytes(rendered(chart.to_dict(), path.suffix))


def check_suffix(path: Path) -> None:
    """Raise InputError unless `save` can write such a file."""
    if path.suffix not in _SUFFIXES:
        raise InputError("unknown kind of picture", value=str(path), valid=", ".join(_SUFFIXES))


def rendered(spec: Mapping[str, Any], suffix: str) -> bytes:
    """Render Vega-Lite as a file of this suffix; see `save`."""
    chart = dict(spec)
    match suffix:
        case ".svg":
            return vl_convert.vegalite_to_svg(chart).encode()
        case ".png":
            return vl_convert.vegalite_to_png(chart, scale=_PNG_SCALE)
        case ".html":
            return vl_convert.vegalite_to_html(chart, bundle=True).encode()
        case ".json":
            return json.dumps(chart, ensure_ascii=False, separators=(",", ":")).encode()
        case _:
            raise ValueError(suffix)


def _titled(chart: Chart, title: str, notes: Sequence[str]) -> Chart:
    subtitle = [line for note in notes for line in textwrap.wrap(note, _NOTE_CHARACTERS)]
    titled: Chart = chart.properties(
        title=alt.TitleParams(textwrap.wrap(title, _TITLE_CHARACTERS), subtitle=subtitle)
    ).configure(**chart_style.config())
    return titled


def _points(results: Results, spec: PointsFigure) -> Figure:
    test = results.study.test(spec.test)
    runs = grid.select(results.table(spec.test), spec.where)
    if runs.is_empty():
        return _nothing(spec)
    looks = chart_style.looks(_values(test, spec.series, spec))
    panes = [
        Pane(title, _marks(part, spec), _curves(part, spec))
        for title, part in _facets(test, spec, runs)
    ]
    marks = pl.concat([pane.marks for pane in panes])
    notes = list(_points_notes(results, spec, runs, marks))
    chart = chart_points.draw(spec, panes, looks)
    return Figure(spec, _titled(chart, spec.title, notes), tuple(notes), tuple(panes))


def _nothing(spec: PointsFigure) -> Figure:
    note = f"Not run yet: the test {spec.test}."
    chart = alt.hconcat(chart_points.empty(spec))
    return Figure(spec, _titled(chart, spec.title, [note]), (note,))


def _values(test: Test, axis: str, spec: PointsFigure) -> list[str]:
    """Return the values of an axis that the figure shows, in the test's order."""
    kept = {axis: spec.where[axis]} if axis in spec.where else {}
    return [value for value in test.axes[axis] if grid.matches({axis: value}, kept)]


def _facets(
    test: Test, spec: PointsFigure, runs: pl.DataFrame
) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield title and runs of each plot."""
    if spec.facet is None:
        yield "", runs
        return
    for value in _values(test, spec.facet, spec):
        yield label_of(value), runs.filter(pl.col(spec.facet) == value)


def _marks(runs: pl.DataFrame, spec: PointsFigure) -> pl.DataFrame:
    columns = [spec.series, spec.x.field]
    averaged = metrics.aggregate(runs, columns, spec.y.field)
    return averaged.select(
        pl.col(spec.series).alias("series"),
        pl.col(spec.x.field).alias("x"),
        "mean",
        "se",
        "n",
        "runs",
    )


def _curves(runs: pl.DataFrame, spec: PointsFigure) -> pl.DataFrame:
    curves = [
        theory.along(
            overlay.theory, grid.select(runs, overlay.where), [spec.series, spec.x.field]
        ).select(series=spec.series, label=pl.lit(overlay.label), x=spec.x.field, y="theory")
        for overlay in spec.overlays
    ]
    return pl.concat([chart_points.NO_CURVES, *curves]).sort("label", "series", "x")


def _points_notes(
    results: Results, spec: PointsFigure, runs: pl.DataFrame, marks: pl.DataFrame
) -> Iterator[str]:
    quick = "quick " * results.quick(spec.test)
    counts = sorted(set(marks["runs"].to_list()))
    if counts == [1]:
        yield f"One {quick}run per point."
    else:
        number = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
        yield f"Mean and standard error of {number} {quick}runs per point."
    yield from engine_notes(results.engine, results.left_out(spec.test))
    yield from _absent_points(results, spec, runs)
    if spec.y.scale == "log" and (marks["mean"].fill_null(1) <= 0).any():
        yield "Hollow on the lower edge: 0."
    if spec.missing is not None and (marks["n"] < marks["runs"]).any():
        yield (
            f"Hollow marks average the runs with a value, as others {spec.missing}; "
            f"where all of them {spec.missing}, there is no mark."
        )


def _absent_points(results: Results, spec: PointsFigure, runs: pl.DataFrame) -> Iterator[str]:
    """Say which part of the figure's grid has no run: whole axis values, then a number."""
    test = results.study.test(spec.test)
    axes = {axis: _values(test, axis, spec) for axis in test.axes}
    present = set(runs.select(list(axes)).iter_rows())
    absent = [point for point in itertools.product(*axes.values()) if point not in present]
    if not absent:
        return
    explained: set[tuple[str, ...]] = set()
    parts = []
    for position, (axis, values) in enumerate(axes.items()):
        whole = [value for value in values if all(point[position] != value for point in present)]
        if whole:
            parts.append(f"{axis} {listing([label_of(value) for value in whole])}")
            explained.update(point for point in absent if point[position] in whole)
    rest = len(absent) - len(explained)
    if rest:
        parts.append(f"{rest} {'further ' if parts else ''}of {len(absent) + len(present)} points")
    yield f"Not run yet: {'; '.join(parts)}."


def _histories(results: Results, spec: HistoriesFigure) -> Figure:
    rows = [row for panel in spec.panels for row in _rows(results, spec, panel)]
    missing = list(filter(None, (row.title for row in rows if row.lines is None)))
    left_out = sum(results.left_out(test) for test in {panel.test for panel in spec.panels})
    notes = list(engine_notes(results.engine, left_out))
    if missing:
        notes.append(f"Not run yet: {'; '.join(missing)}.")
    chart = _titled(chart_histories.draw(rows), spec.title, notes)
    return Figure(spec, chart, tuple(notes))


def _rows(results: Results, spec: HistoriesFigure, panel: Panel) -> Iterator[Row]:
    run = results.run(panel.test, panel.where, panel.repetition)
    end_s = panel.end_s if run is None else run.summary["duration_ns"] / 1e9
    for position, quantity in enumerate(spec.quantities):
        yield Row(
            title=panel.title if position == 0 else "",
            quantity=history.MEASURES[quantity].title,
            lines=None
            if run is None
            else history.series(run, quantity, panel.start_s, panel.end_s),
            start_s=panel.start_s or 0.0,
            end_s=panel.end_s or end_s or 1.0,
            from_zero=history.MEASURES[quantity].from_zero,
        )
