"""Figures of kind `histories`: quantities of single runs over time."""

from __future__ import annotations

from collections.abc import Iterator

from dumbbell.figures import chart_histories, history
from dumbbell.figures.chart_histories import Row
from dumbbell.figures.figure import Figure, titled
from dumbbell.figures.labels import engine_notes
from dumbbell.results import Results
from dumbbell.study.figure_spec import HistoriesFigure, Panel


def draw(results: Results, spec: HistoriesFigure) -> Figure:
    """Draw the figure with whatever runs there are."""
    rows = [row for panel in spec.panels for row in _rows(results, spec, panel)]
    missing = list(filter(None, (row.title for row in rows if row.lines is None)))
    left_out = sum(results.left_out(test) for test in {panel.test for panel in spec.panels})
    notes = list(engine_notes(results.engine, left_out))
    if missing:
        notes.append(f"Not run yet: {'; '.join(missing)}.")
    chart = titled(chart_histories.draw(rows), spec.title, notes)
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
