"""Charts of comparisons: the algorithms of a test, and an algorithm over all tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from dumbbell.algorithms.labels import label_of
from dumbbell.base.lazy import altair as alt
from dumbbell.figures import style
from dumbbell.figures.looks import Look
from dumbbell.figures.style import FAINT
from dumbbell.quantities.registry import Quantity
from dumbbell.reports import interval_plots
from dumbbell.reports.comparison import Column, Comparison
from dumbbell.reports.interval_plots import DOTS, MEANS, Plot

_OF_ONE_RATE: Final = ("goodput_mbit_per_s",)
"""Quantities without a meaning over tests whose links differ."""


@dataclass(frozen=True)
class Shown:
    """A chart, and its description for screen readers."""

    chart: alt.ConcatChart
    description: str


def of_test(compared: Comparison) -> Shown | None:
    """Draw the algorithms of one test, a row for each; None if there is nothing to draw."""
    looks = style.looks(compared.algorithms)
    rows = [look.label for look in looks.values()]
    plots = [
        Plot(
            column.quantity,
            pl.concat(_means(column, look.label, {name: look}) for name, look in looks.items()),
            pl.DataFrame(schema=DOTS),
        )
        for column in compared.columns
        if column.shared
    ]
    return _drawn(plots, rows)


def of_algorithm(name: str, places: Mapping[str, Comparison]) -> Shown | None:
    """Draw one algorithm over several tests, a row for each; other algorithms are grey dots."""
    by_quantity: dict[str, tuple[Quantity, list[pl.DataFrame], list[pl.DataFrame]]] = {}
    for place, compared in places.items():
        looks = style.looks(compared.algorithms)
        own_looks = {choice: look for choice, look in looks.items() if _is(choice, name)}
        others = [choice for choice in compared.algorithms if choice not in own_looks]
        for column in compared.columns:
            if own_looks and column.shared and column.quantity.name not in _OF_ONE_RATE:
                _, means, dots = by_quantity.setdefault(
                    column.quantity.name, (column.quantity, [], [])
                )
                means.append(_means(column, place, own_looks))
                dots.append(_dots(column, place, others))
    plots = [
        Plot(quantity, pl.concat(means), pl.concat(dots))
        for quantity, means, dots in by_quantity.values()
    ]
    return _drawn(plots, list(places))


def _drawn(plots: Sequence[Plot], rows: Sequence[str]) -> Shown | None:
    filled = [plot for plot in plots if not plot.means.is_empty()]
    if not filled:
        return None
    return Shown(interval_plots.draw(filled, rows), interval_plots.description(filled))


def _is(choice: str, algorithm: str) -> bool:
    """Return True if a choice of algorithm and preset is of an algorithm."""
    return choice.partition("@")[0] == algorithm


def _means(column: Column, row: str, looks: Mapping[str, Look]) -> pl.DataFrame:
    """Return a line for each choice that has a value."""
    lines = []
    for choice, look in looks.items():
        mean = column.cells[choice].mean
        if mean is not None:
            ends = (mean.low, mean.high) if mean.has_interval else (None, None)
            shown = [None if end is None else column.shown(end) for end in (mean.value, *ends)]
            lines.append((row, look.label, look.colour, look.shape, *shown))
    return pl.DataFrame(lines, schema=MEANS, orient="row")


def _dots(column: Column, row: str, choices: Sequence[str]) -> pl.DataFrame:
    """Return a grey dot for each choice that has a value."""
    means = [(choice, column.cells[choice].mean) for choice in choices]
    lines = [
        (row, label_of(choice), FAINT, column.shown(mean.value))
        for choice, mean in means
        if mean is not None
    ]
    return pl.DataFrame(lines, schema=DOTS, orient="row")
