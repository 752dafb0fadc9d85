"""Runs that somebody has picked: their differences, and their figures over each other."""

from __future__ import annotations

import csv
import io
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from dumbbell.engines import engines
from dumbbell.engines.choices import EngineName
from dumbbell.engines.engine import Engine
from dumbbell.engines.result import Run
from dumbbell.figures import drawing
from dumbbell.figures.figure import Figure
from dumbbell.figures.kinds.cdf import CdfFigure
from dumbbell.figures.kinds.overlay import OverlayFigure
from dumbbell.plan import grid
from dumbbell.plan.grid import Selection
from dumbbell.plan.tests import Test
from dumbbell.quantities.view import RunView, view_of
from dumbbell.reports import pictures
from dumbbell.reports.pictures import Picture
from dumbbell.results import experiments
from dumbbell.results.inventory import SHORT, StoredRun

LETTERS: Final = "ABCD"
"""Names of picked runs, in their order; there are no more than these."""

_TEST: Final = "picked"
_KEPT: Final = 8
_LABEL_LENGTH: Final = 12


@dataclass(frozen=True)
class Pick:
    """A run that was picked, with its letter."""

    letter: str
    stored: StoredRun
    run: Run

    @property
    def title(self) -> str:
        """Its name in headings."""
        cells = self.stored.cells
        path = f"{cells['algorithms']}, {cells['rate'] or 'unlimited'}, {cells['rtt (ms)']} ms"
        return f"{self.letter}: {path} ({self.stored.key[:SHORT]})"

    @property
    def label(self) -> str:
        """Its short name in figures; an axis value that ends so names no file."""
        algorithms = self.stored.cells["algorithms"]
        return f"{algorithms if len(algorithms) <= _LABEL_LENGTH else 'run'} ({self.letter})"


class Picked:
    """Picked runs as figures read them: a test whose only axis is which run it is."""

    def __init__(self, picks: Sequence[Pick]) -> None:
        self.picks = picks
        self._test = Test(
            name=_TEST,
            title="Runs that were picked",
            axes={"run": tuple(pick.label for pick in picks)},
        )

    @property
    def engine(self) -> Engine:
        """The simulator: figures do not name it, as a table shows the engine of each run."""
        return engines.named(EngineName.SIMULATOR)

    def test(self, name: str) -> Test:
        """Return the test, whatever its name."""
        del name
        return self._test

    def views(self, test: str, where: Selection) -> Iterator[tuple[Mapping[str, str], RunView]]:
        """Yield the runs."""
        del test
        for pick in self.picks:
            axes = {"run": pick.label}
            if grid.matches(axes, where):
                yield axes, view_of(pick.run)

    def left_out(self, test: str) -> int:
        """Return 0: invalid ones are shown, and marked."""
        del test
        return 0


@dataclass(frozen=True)
class Drawn:
    """A figure of picked runs, as a picture and as data."""

    picture: Picture
    chart: Mapping[str, Any]
    svg: bytes

    @classmethod
    def of(cls, figure: Figure) -> Drawn:
        """Draw it."""
        chart = figure.chart.to_dict()
        svg = drawing.rendered(chart, ".svg")
        return cls(Picture.of(figure, pictures.size(svg), []), _with_rows(chart), svg)

    def file(self, suffix: str) -> bytes:
        """Return it as a file: .svg, .png, .pdf, or the .js that makes it interactive."""
        if suffix == ".svg":
            return self.svg
        if suffix == ".js":
            return pictures.script(self.picture.figure.spec.name, self.chart).encode()
        return drawing.converted(self.svg, suffix)

    def numbers(self) -> bytes:
        """Return what it shows as CSV; nothing if it shows nothing."""
        frame = self.picture.figure.frame
        return b"" if frame is None else frame.write_csv().encode()


def _with_rows(chart: Any) -> Any:
    """Return a chart whose data are rows: to read CSV, Vega makes functions, which is forbidden."""
    match chart:
        case {"type": "csv", "parse": kinds}:
            return {"type": "json", "parse": kinds}
        case dict():
            return {
                key: _rows(value) if key == "datasets" else _with_rows(value)
                for key, value in chart.items()
            }
        case list():
            return [_with_rows(value) for value in chart]
    return chart


def _rows(sets: Mapping[str, str]) -> Mapping[str, list[dict[str, str]]]:
    return {name: list(csv.DictReader(io.StringIO(text))) for name, text in sets.items()}


def figures(over_time: Sequence[str]) -> list[OverlayFigure | CdfFigure]:
    """Return what is drawn of picked runs: some quantities over time, and delays."""
    history, delays = experiments.figures(_TEST, "run", over_time)
    history["caption"] = "All flows of a run have its colour."
    return [OverlayFigure.model_validate(history), CdfFigure.model_validate(delays)]


class Gallery:
    """Draws figures of picked runs, and keeps the last few: a page asks for each several times."""

    def __init__(self, over_time: Sequence[str]) -> None:
        self._specs = figures(over_time)
        self._drawn: OrderedDict[object, list[Drawn]] = OrderedDict()
        self._lock = threading.Lock()

    def drawn(self, keys: Sequence[str], state: object, read: Callable[[], Picked]) -> list[Drawn]:
        """Return the figures of some runs; they are read if these in this state are not known."""
        key = (tuple(keys), state)
        with self._lock:
            if key not in self._drawn:
                source = read()
                self._drawn[key] = [Drawn.of(spec.draw(source)) for spec in self._specs]
                if len(self._drawn) > _KEPT:
                    self._drawn.popitem(last=False)
            self._drawn.move_to_end(key)
            return self._drawn[key]
