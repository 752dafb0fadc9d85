"""A source of figures that holds tables written down in a test, instead of runs."""

# ruff: noqa: ARG002 - a source is asked more than what one test needs

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

import polars as pl

from dumbbell.base import amounts
from dumbbell.engines import engines
from dumbbell.engines.choices import EngineName
from dumbbell.engines.engine import Engine
from dumbbell.engines.result import Run
from dumbbell.figures import drawing
from dumbbell.figures.figure import Figure
from dumbbell.figures.spec import BaseFigure
from dumbbell.plan.grid import Selection
from dumbbell.plan.tests import Test
from dumbbell.quantities import tables, taking, titles
from dumbbell.quantities.registry import Quantity
from dumbbell.quantities.view import RunView


class Tables:
    """One test, ``t``, whose quantities are given: a row per run with the values of its axes."""

    def __init__(
        self, axes: Mapping[str, Sequence[str]], rows: Sequence[Mapping[str, Any]] = ()
    ) -> None:
        self._test = Test(name="t", title="T", axes={name: tuple(axes[name]) for name in axes})
        names = dict.fromkeys(name for row in rows for name in row)
        self.quantities = [name for name in names if name not in axes]
        schema = {**dict.fromkeys(axes, pl.String), **dict.fromkeys(self.quantities, pl.Float64)}
        numbers = tables.frame(self._test, (), ()).columns
        frame = pl.DataFrame(rows, schema=schema)
        self._frame = frame.with_columns(
            pl.col(axis).replace_strict(_numbers(axes[axis]), return_dtype=pl.Float64).alias(column)
            for axis, column in tables.number_columns(self._test).items()
            if column in numbers
        )

    @property
    def engine(self) -> Engine:
        return engines.named(EngineName.SIMULATOR)

    def test(self, name: str) -> Test:
        assert name == "t"
        return self._test

    def table(self, test: str, columns: Sequence[str] = ()) -> pl.DataFrame:
        lacking = [name for name in columns if name not in self._frame.columns]
        empty = [pl.lit(None, pl.Float64).alias(name) for name in lacking]
        known = [name for name in self._frame.columns if name not in self.quantities]
        return self._frame.with_columns(empty).select(*known, *columns)

    def title(self, test: str, column: str) -> str:
        return titles.of_column(column, self._test, {})

    def described(self, text: str) -> Quantity:
        return taking.described(text)

    def views(self, test: str, where: Selection) -> Iterator[tuple[Mapping[str, str], RunView]]:
        yield from ()

    def stored_run(self, test: str, where: Selection, repetition: int = 1) -> Run | None:
        return None

    def quick(self, test: str) -> bool:
        return False

    def left_out(self, test: str) -> int:
        return 0


def _numbers(values: Sequence[str]) -> dict[str, float]:
    return {value: float(number[1]) for value in values if (number := amounts.number_of(value))}


COMMON: dict[str, Any] = {"name": "f", "title": "Fig. 9. F", "section": "t", "test": "t"}
"""Keys that every figure of the test needs."""


@lru_cache(maxsize=16)
def vega_lite(figure: Figure) -> dict[str, Any]:
    """Return the chart of a figure as Vega-Lite, validated; made once."""
    drawn = figure.vega_lite
    check(figure.chart, drawn)
    return drawn


_COMPOSED: Final = ("layer", "concat", "hconcat", "vconcat")
_FREE: Final = ("data", "domain", "filter", "name", "range")
"""Keys whose values depend on data, or may be any text."""
_valid: set[str] = set()
"""What plain views that Altair has validated are like."""


def check(chart: Any, drawn: dict[str, Any]) -> None:
    """Have Altair validate a chart, but for plain views like those that it has validated."""
    shapes: set[str] = set()
    chart.validate(_without_known(drawn, shapes))
    _valid.update(shapes)


def _without_known(view: dict[str, Any], shapes: set[str]) -> dict[str, Any]:
    return {
        key: [_without_known(part, shapes) for part in value if not _is_known(part, shapes)]
        if key in _COMPOSED
        else value
        for key, value in view.items()
    }


def _is_known(view: dict[str, Any], shapes: set[str]) -> bool:
    """Return True if a plain view is like a valid one, whatever its data and its numbers."""
    if any(key in view for key in _COMPOSED):
        return False
    like = json.dumps(_like(view))
    known = like in _valid or like in shapes
    shapes.add(like)
    return known


def _like(part: Any) -> Any:
    if isinstance(part, dict):
        return {key: key if key in _FREE else _like(value) for key, value in part.items()}
    if isinstance(part, list):
        return [_like(entry) for entry in part]
    return type(part).__name__ if isinstance(part, int | float) else part


def datasets(figure: Figure) -> list[pl.DataFrame]:
    """Return the data inside a chart."""
    return [pl.read_csv(io.StringIO(text)) for text in vega_lite(figure)["datasets"].values()]


def data_with(figure: Figure, *columns: str) -> pl.DataFrame:
    """Return the data inside a chart that has some columns."""
    return next(frame for frame in datasets(figure) if set(columns) <= set(frame.columns))


@lru_cache(maxsize=16)
def svg(figure: Figure) -> str:
    """Render a figure, once."""
    return drawing.rendered(vega_lite(figure), ".svg").decode()


def drawn(source: Any, spec: BaseFigure) -> Figure:
    """Draw a figure, and render it, so that what cannot be drawn fails."""
    figure = spec.draw(source)
    svg(figure)
    return figure
