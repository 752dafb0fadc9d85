"""Names and colours of the lines of runs: by an axis of the test, or by flow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import polars as pl

from dumbbell.base.lazy import altair as alt
from dumbbell.figures import style
from dumbbell.figures.gathering import values_of
from dumbbell.figures.source import Views
from dumbbell.figures.spec import TestFigure
from dumbbell.figures.style import FAINT, flow_colours
from dumbbell.quantities import bands
from dumbbell.scenario import facts


@dataclass(frozen=True)
class Colouring:
    """Lines with their labels and colours; a mark that is no line is named after its kind."""

    known: Mapping[str, tuple[str, str]]

    @classmethod
    def of(
        cls, source: Views, spec: TestFigure, axis: str | None, *, by_algorithm: bool = False
    ) -> Colouring:
        """Colour the values of an axis as everywhere, or the flows of the first run.

        The first flow of an algorithm has its colour. Equal flows that are one band have one
        colour. With `by_algorithm` it is the algorithms of all runs that have colours.
        """
        if axis is not None:
            return cls._as_everywhere(values_of(source.test(spec.test), axis, spec))
        if by_algorithm:
            views = (view for _, view in source.views(spec.test, spec.where))
            return cls._as_everywhere(
                facts.choice(flow.first) for view in views for flow in view.flows
            )
        for _, view in source.views(spec.test, spec.where):
            known = bands.choices(view.run)
            colours = zip(known, flow_colours(known.values()), strict=True)
            return cls({name: (name, colour) for name, colour in colours})
        return cls({})

    @classmethod
    def _as_everywhere(cls, values: Iterable[str]) -> Colouring:
        looks = style.looks(values)
        return cls({value: (look.label, look.colour) for value, look in looks.items()})

    def label(self, line: str) -> str:
        """Return what a line is called."""
        return self.known.get(line, (line, FAINT))[0]

    def labels(self, lines: pl.Series) -> pl.Series:
        """Return what lines are called."""
        return lines.replace_strict({line: self.label(line) for line in lines.unique()})

    def scale(self, lines: Iterable[str]) -> alt.Scale:
        """Return the colours of some lines, in the order of those that are known."""
        there = list(lines)
        ordered = [line for line in self.known if line in there]
        ordered += [line for line in there if line not in self.known]
        return alt.Scale(
            domain=[self.label(line) for line in ordered],
            range=[self.known.get(line, (line, FAINT))[1] for line in ordered],
        )
