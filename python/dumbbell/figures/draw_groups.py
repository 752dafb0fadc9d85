"""Figures of kinds `bars` and `scatter`: a metric in groups of grid points."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import polars as pl

from dumbbell.analysis import metrics
from dumbbell.figures import chart_groups, chart_style
from dumbbell.figures.chart_groups import Grouped, GroupPane
from dumbbell.figures.figure import Figure, TextRow, TextTable, not_run, titled
from dumbbell.figures.gathering import (
    Facet,
    facets,
    labelled,
    run_notes,
    runs_of,
    values_of,
)
from dumbbell.figures.labels import label_of, listing, with_spread
from dumbbell.results import Results
from dumbbell.study.figure_spec import BarsFigure, Part, ScatterFigure

_NONE: Final = pl.DataFrame(
    schema={
        "group": pl.String,
        "series": pl.String,
        "shape": pl.String,
        "part": pl.String,
        "mean": pl.Float64,
        "se": pl.Float64,
        "n": pl.Int64,
        "runs": pl.Int64,
    }
)


def draw(results: Results, spec: Grouped) -> Figure:
    """Draw the figure with whatever runs there are."""
    test = results.study.test(spec.test)
    runs = runs_of(results, spec)
    groups = [label_of(value) for value in values_of(test, spec.groups, spec)]
    if runs.is_empty():
        return not_run(spec, spec.test, chart_groups.empty(spec, groups))
    looks = chart_style.looks(values_of(test, spec.series, spec))
    found = list(facets(test, spec, runs))
    panes = [_pane(facet, spec) for facet in found]
    notes = list(_notes(results, spec, runs, panes))
    chart = titled(chart_groups.draw(spec, panes, groups, looks), spec.title, notes)
    tables = [table for pane in panes for table in _tables(pane, spec, groups)]
    return Figure(spec, chart, tuple(notes), (), tuple(tables), _frame(panes, spec))


def _pane(facet: Facet, spec: Grouped) -> GroupPane:
    parts = spec.parts if isinstance(spec, BarsFigure) else ()
    parts = parts or (Part(field=spec.y.field, label=""),)
    means = pl.concat([_means(facet.runs, spec, part.field, part.label) for part in parts])
    second = spec.marks if isinstance(spec, BarsFigure) else None
    marks = _NONE if second is None else _means(facet.runs, spec, second.field, "")
    dots = _NONE.select("group", "series", "shape", value="mean")
    if isinstance(spec, ScatterFigure):
        dots = facet.runs.select(*_place(facet.runs, spec), value=spec.y.field).drop_nulls("value")
    return GroupPane(facet.title, means, marks, dots)


def _place(runs: pl.DataFrame, spec: Grouped) -> list[pl.Expr]:
    """Return group, series and shape of a run; groups and shapes as readers see them."""
    shapes = spec.shapes if isinstance(spec, ScatterFigure) else None
    shape = pl.lit("") if shapes is None else labelled(runs, shapes)
    return [
        labelled(runs, spec.groups).alias("group"),
        pl.col(spec.series).alias("series"),
        shape.alias("shape"),
    ]


def _means(runs: pl.DataFrame, spec: Grouped, field: str, part: str) -> pl.DataFrame:
    placed = runs.select(
        *_place(runs, spec), pl.lit(part).alias("part"), pl.col(field).alias("value")
    )
    averaged = metrics.aggregate(placed, ["group", "series", "shape", "part"], "value")
    return averaged.select(_NONE.columns)


def _notes(
    results: Results, spec: Grouped, runs: pl.DataFrame, panes: Sequence[GroupPane]
) -> Iterator[str]:
    means = pl.concat([pane.means for pane in panes])
    yield from run_notes(results, spec, runs, means["runs"], "Mean and standard error")
    if isinstance(spec, BarsFigure) and spec.parts:
        yield f"Bars, from the bottom: {', '.join(part.label for part in spec.parts)}."
    if isinstance(spec, BarsFigure) and spec.marks is not None:
        yield f"Bars: {spec.y.title}; points: {spec.marks.title}."
    if isinstance(spec, ScatterFigure) and means["runs"].max() != 1:
        yield "Small dots are single runs."
    if spec.missing is not None and (means["n"] < means["runs"]).any():
        without = means.filter(pl.col("n") < pl.col("runs"))
        rows = without.iter_rows(named=True)
        named = [f"{label_of(row['series'])} ({row['group']})" for row in rows]
        points = listing(list(dict.fromkeys(named)))
        yield f"Of {points}, not all runs have a value: {spec.missing}."


def _tables(pane: GroupPane, spec: Grouped, groups: Sequence[str]) -> Iterator[TextTable]:
    """Yield a table per part and shape: a row per group, a column per series."""
    for frame, title in ((pane.means, spec.y.title), (pane.marks, _second_title(spec))):
        for (part, shape), some in frame.group_by("part", "shape", maintain_order=True):
            cells = {
                (row["series"], row["group"]): with_spread(row["mean"], row["se"])
                for row in some.iter_rows(named=True)
            }
            series = tuple(dict.fromkeys(name for name, _ in cells))
            rows = tuple(
                TextRow(group, tuple(cells.get((name, group), "–") for name in series))
                for group in groups
                if any((name, group) in cells for name in series)
            )
            named = ", ".join(filter(None, (pane.title, str(part), str(shape))))
            columns = tuple(label_of(name) for name in series)
            caption = f"{title}, mean ± standard error"
            yield TextTable(named, caption, spec.groups_title, columns, rows)


def _second_title(spec: Grouped) -> str:
    return spec.marks.title if isinstance(spec, BarsFigure) and spec.marks is not None else ""


def _frame(panes: Sequence[GroupPane], spec: Grouped) -> pl.DataFrame:
    """Return all means; `metric` says of what."""
    fields = {part.label: part.field for part in getattr(spec, "parts", ())} or {"": spec.y.field}
    second = spec.marks.field if isinstance(spec, BarsFigure) and spec.marks is not None else ""
    frames = []
    for pane in panes:
        named = pane.means.with_columns(metric=pl.col("part").replace_strict(fields))
        both = pl.concat([named, pane.marks.with_columns(metric=pl.lit(second))])
        facet = [pl.lit(pane.title).alias(spec.facet)] if spec.facet else []
        shapes = spec.shapes if isinstance(spec, ScatterFigure) else None
        shape = [pl.col("shape").alias(shapes)] if shapes else []
        frames.append(
            both.select(
                *facet,
                pl.col("group").alias(spec.groups),
                pl.col("series").alias(spec.series),
                *shape,
                "metric",
                "mean",
                "se",
                "n",
                "runs",
            )
        )
    return pl.concat(frames)
