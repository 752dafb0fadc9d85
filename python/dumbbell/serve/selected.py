"""Selected runs, and the figures that overlay them."""

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
"""Names of selected runs, in their order. At most this many can be selected."""

_TEST: Final = "selected"
_KEPT: Final = 8
_LABEL_LENGTH: Final = 12


@dataclass(frozen=True)
class SelectedRun:
    """A selected run, with its letter."""

    letter: str
    stored: StoredRun
    run: Run

    @property
    def title(self) -> str:
        """Name of the run in headings."""
        cells = self.stored.cells
        path = f"{cells['algorithms']}, {cells['rate'] or 'unlimited'}, {cells['rtt (ms)']} ms"
        return f"{self.letter}: {path} ({self.stored.key[:SHORT]})"

    @property
    def label(self) -> str:
        """Short name in figures. With the letter it cannot be the name of a file."""
        algorithms = self.stored.cells["algorithms"]
        return f"{algorithms if len(algorithms) <= _LABEL_LENGTH else 'run'} ({self.letter})"


class SelectedRuns:
    """Selected runs as a source of figures: a test whose only axis is the run."""

    def __init__(self, selection: Sequence[SelectedRun]) -> None:
        self._selection = selection
        self._test = Test(
            name=_TEST,
            title="Selected runs",
            axes={"run": tuple(selected.label for selected in selection)},
        )

    @property
    def engine(self) -> Engine:
        """The simulator. Figures do not show it, as a table has the engine of each run."""
        return engines.named(EngineName.SIMULATOR)

    def test(self, name: str) -> Test:
        """Return the only test; ignore the name."""
        del name
        return self._test

    def views(self, test: str, where: Selection) -> Iterator[tuple[Mapping[str, str], RunView]]:
        """Yield the runs."""
        del test
        for selected in self._selection:
            axes = {"run": selected.label}
            if grid.matches(axes, where):
                yield axes, view_of(selected.run)

    def left_out(self, test: str) -> int:
        """Return 0, as invalid runs are shown, with a notice."""
        del test
        return 0


@dataclass(frozen=True)
class Drawn:
    """A figure of selected runs, as a picture and as data."""

    picture: Picture
    chart: Mapping[str, Any]
    svg: bytes

    @classmethod
    def of(cls, figure: Figure) -> Drawn:
        """Draw a figure."""
        chart = figure.vega_lite
        svg = drawing.rendered(chart, ".svg")
        return cls(Picture.of(figure, pictures.size(svg), []), _with_rows(chart), svg)

    def file(self, suffix: str) -> bytes:
        """Return the figure as a file: .svg, .png, .pdf, or the .js of the interactive chart."""
        if suffix == ".svg":
            return self.svg
        if suffix == ".js":
            return pictures.script(self.picture.figure.spec.name, self.chart).encode()
        return drawing.converted(self.svg, suffix)

    def numbers(self) -> bytes:
        """Return the numbers of the figure as CSV; if it has none, return nothing."""
        frame = self.picture.figure.frame
        return b"" if frame is None else frame.write_csv().encode()


def _with_rows(chart: Any) -> Any:
    """Return a chart with rows as data. To read CSV, Vega makes functions, which pages forbid."""
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
    """Return the figures of selected runs: some quantities over time, and delays."""
    history, delays = experiments.figures(_TEST, "run", over_time)
    history["caption"] = "All flows of a run have its colour."
    return [OverlayFigure.model_validate(history), CdfFigure.model_validate(delays)]


class Gallery:
    """Draws figures of selected runs, and keeps the last few: a page requests each again."""

    def __init__(self, over_time: Sequence[str]) -> None:
        self._specs = figures(over_time)
        self._drawn: OrderedDict[object, list[Drawn]] = OrderedDict()
        self._lock = threading.Lock()

    def drawn(
        self, keys: Sequence[str], state: object, read: Callable[[], SelectedRuns]
    ) -> list[Drawn]:
        """Return the figures of some runs; read the runs if their state is new."""
        key = (tuple(keys), state)
        with self._lock:
            if key not in self._drawn:
                source = read()
                self._drawn[key] = [Drawn.of(spec.draw(source)) for spec in self._specs]
                if len(self._drawn) > _KEPT:
                    self._drawn.popitem(last=False)
            self._drawn.move_to_end(key)
            return self._drawn[key]
