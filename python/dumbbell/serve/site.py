"""The pages of a results folder, as texts. Each answer shows the present content of the folder."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any, Final

from dumbbell.algorithms import own_algorithms
from dumbbell.base.errors import DamagedResult, InputError
from dumbbell.base.shell import quoted
from dumbbell.quantities import run_totals
from dumbbell.reports import pages
from dumbbell.reports.pages import Place
from dumbbell.results import experiments
from dumbbell.results.inventory import SHORT, Inventory
from dumbbell.serve import difference, overview, run_list
from dumbbell.serve.selected import LETTERS, Drawn, Gallery, SelectedRun, SelectedRuns
from dumbbell.store.store import Store

_TEMPLATES: Final = files("dumbbell.serve") / "templates"
_SERVE_ASSETS: Final = ("serve.css", "overview.js", "run_list.js")
_KEY: Final = re.compile(r"[0-9a-f]{8,64}")
_HOME: Final = Place.at("Overview")
_RUNS: Final = _HOME.below("All runs", "runs.html")
_PAIR: Final = 2


class Site:
    """The pages of one results folder. They only read: they run nothing and write nothing."""

    def __init__(self, folder: Store) -> None:
        self.store = folder
        self._unknown: dict[str, str] = {}
        self._inventory = Inventory(folder, self._unknown.__setitem__)
        self._gallery = Gallery(experiments.OVER_TIME)
        self._environment = pages.environment("dumbbell.serve")
        self._assets: dict[str, str] = {}
        self._lock = threading.Lock()

    def overview(self) -> str:
        """Return the overview; `live` is its content."""
        return self._page(
            "overview.html.j2", _HOME, folder=self.store.root, quoted_folder=quoted(self.store.root)
        )

    def live(self) -> Mapping[str, Any]:
        """Return the progress of studies, and the last command."""
        with self._lock, own_algorithms.nothing_runs():
            self._unknown.clear()
            return overview.content(self._inventory, self._unknown)

    def runs(self) -> str:
        """Return the list of all runs; `run_rows` is its content."""
        return self._page("run_list.html.j2", _RUNS, maximum=len(LETTERS))

    def run_rows(self) -> Mapping[str, Any]:
        """Return the rows of all runs."""
        with self._lock, own_algorithms.nothing_runs():
            return run_list.content(self._inventory)

    def overlay(self, named: Sequence[str]) -> str:
        """Return the page that overlays runs, given the beginnings of their keys."""
        drawn = self.figures(named)
        with own_algorithms.nothing_runs():
            selection = self._selection(named)
            totals = [(selected, list(run_totals.of_run(selected.run))) for selected in selection]
        several = len(selection) > 1
        title = (
            f"Overlay of {len(selection)} runs"
            if several
            else f"Run {selection[0].stored.key[:SHORT]}"
        )
        return self._page(
            "overlay.html.j2",
            _below(title, f"overlay/{_joined(selection)}/"),
            title=title,
            selection=selection,
            pictures=[figure.picture for figure in drawn],
            totals=totals,
            pair=_joined(selection) if len(selection) == _PAIR else None,
        )

    def figures(self, named: Sequence[str]) -> list[Drawn]:
        """Return the figures of the page that overlays runs."""
        with own_algorithms.nothing_runs():
            keys = [self.key(name) for name in _distinct(named)]
            return self._gallery.drawn(
                keys,
                tuple(self.store.state(key) for key in keys),
                lambda: SelectedRuns(self._selection(named)),
            )

    def difference(self, named: Sequence[str]) -> str:
        """Return the page with the differences of two runs."""
        if len(_distinct(named)) != _PAIR:
            raise InputError("this page needs two different runs", value="-".join(named))
        with own_algorithms.nothing_runs():
            first, second = self._selection(named)
            tables = [
                ("Runs", list(difference.scenarios(first, second))),
                ("Totals", list(difference.totals(first.run, second.run))),
                ("Flows", list(difference.flows(first.run, second.run))),
            ]
        return self._page(
            "difference.html.j2",
            _below("Differences", f"difference/{_joined([first, second])}/"),
            selection=[first, second],
            tables=tables,
            pair=_joined([first, second]),
            swapped=_joined([second, first]),
        )

    def error(self, title: str, message: str, path: str) -> str:
        """Return a page that explains an error at a path."""
        place = _HOME.below(title, "error.html")
        return self._page("error.html.j2", place, title=title, message=message, path=path)

    def asset(self, name: str) -> str | None:
        """Return a file that pages share, by its name; None: there is no such file."""
        if name not in self._assets:
            if name in _SERVE_ASSETS:
                self._assets[name] = (_TEMPLATES / name).read_text("utf-8")
            elif name in pages.ASSETS:
                self._assets[name] = pages.asset(name)
        return self._assets.get(name)

    def key(self, beginning: str) -> str:
        """Return the full key of a run; a beginning that fits no run is an InputError."""
        if not _KEY.fullmatch(beginning):
            raise InputError(
                "not the beginning of a run's key", value=beginning, valid="8 digits of it or more"
            )
        return self._inventory.key(beginning)

    def _selection(self, named: Sequence[str]) -> list[SelectedRun]:
        keys = [self.key(name) for name in _distinct(named)]
        with self._lock:
            stored = [self._inventory.run(key) for key in keys]
        try:
            runs = [self.store.get(key) for key in keys]
        except KeyError as error:
            raise InputError(str(error), valid="dumbbell list runs") from None
        except DamagedResult as error:
            raise InputError(
                str(error), valid="a new run by the same command, which replaces it"
            ) from None
        return [
            SelectedRun(letter, entry, run)
            for letter, entry, run in zip(LETTERS, stored, runs, strict=False)
        ]

    def _page(self, template: str, place: Place, **content: Any) -> str:
        return pages.render(self._environment, template, place, "/", **content)


def _distinct(named: Sequence[str]) -> list[str]:
    """Return the runs that are named, each once; too many of them are an InputError."""
    distinct = list(dict.fromkeys(named))
    if len(distinct) > len(LETTERS):
        problem = f"{len(distinct)} runs are too many to show"
        raise InputError(problem, valid=f"1 to {len(LETTERS)} of them")
    return distinct


def _below(name: str, path: str) -> Place:
    return _RUNS.below(name, path)


def _joined(selection: Sequence[SelectedRun]) -> str:
    """Return the part of an address that identifies selected runs."""
    return "-".join(selected.stored.key[:SHORT] for selected in selection)
