"""The pages of a results folder, as texts: each request is answered from what is there now."""

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
from dumbbell.serve.picked import LETTERS, Drawn, Gallery, Pick, Picked
from dumbbell.store.store import Store

_TEMPLATES: Final = files("dumbbell.serve") / "templates"
_OWN_ASSETS: Final = ("serve.css", "live.js", "found.js")
_KEY: Final = re.compile(r"[0-9a-f]{8,64}")
_HOME: Final = Place.at("Overview")
_PAIR: Final = 2


class Site:
    """The pages of one results folder; nothing of what they show is run, and nothing is written."""

    def __init__(self, folder: Store) -> None:
        self.store = folder
        self._unknown: dict[str, str] = {}
        self._inventory = Inventory(folder, self._unknown.__setitem__)
        self._gallery = Gallery(experiments.OVER_TIME)
        self._environment = pages.environment(_TEMPLATES)
        self._assets: dict[str, str] = {}
        self._lock = threading.Lock()

    def overview(self) -> str:
        """Return the first page, whose content is `live`."""
        return self._page(
            "overview.html.j2", _HOME, folder=self.store.root, word=quoted(self.store.root)
        )

    def live(self) -> Mapping[str, Any]:
        """Return how far everything is."""
        with self._lock, own_algorithms.nothing_runs():
            self._unknown.clear()
            return overview.content(self._inventory, self._unknown)

    def runs(self) -> str:
        """Return the page of runs, whose content is `found`."""
        return self._page("found.html.j2", _HOME.below("Runs", "runs.html"), most=len(LETTERS))

    def run_rows(self) -> Mapping[str, Any]:
        """Return all runs."""
        with self._lock, own_algorithms.nothing_runs():
            return run_list.content(self._inventory)

    def overlay(self, named: Sequence[str]) -> str:
        """Return the page of runs over each other, given the beginnings of their keys."""
        drawn = self.figures(named)
        with own_algorithms.nothing_runs():
            picks = self._picks(named)
            totals = [(pick, list(run_totals.of_run(pick.run))) for pick in picks]
        title = "Over each other" if len(picks) > 1 else f"Run {picks[0].stored.key[:SHORT]}"
        return self._page(
            "overlay.html.j2",
            _below(title, f"overlay/{_joined(picks)}/"),
            title=title,
            picks=picks,
            pictures=[figure.picture for figure in drawn],
            totals=totals,
            pair=_joined(picks) if len(picks) == _PAIR else None,
        )

    def figures(self, named: Sequence[str]) -> list[Drawn]:
        """Return the figures of such a page."""
        with own_algorithms.nothing_runs():
            keys = [self.key(name) for name in _distinct(named)]
            return self._gallery.drawn(
                keys,
                tuple(self.store.state(key) for key in keys),
                lambda: Picked(self._picks(named)),
            )

    def difference(self, named: Sequence[str]) -> str:
        """Return the page of how two runs differ."""
        if len(_distinct(named)) != _PAIR:
            raise InputError("a difference is one of two runs", value="-".join(named))
        with own_algorithms.nothing_runs():
            first, second = self._picks(named)
            tables = [
                ("What was run", list(difference.scenarios(first, second))),
                ("In total", list(difference.totals(first.run, second.run))),
                ("Flow by flow", list(difference.flows(first.run, second.run))),
            ]
        return self._page(
            "difference.html.j2",
            _below("Difference", f"difference/{_joined([first, second])}/"),
            picks=[first, second],
            tables=tables,
            pair=_joined([first, second]),
            turned=_joined([second, first]),
        )

    def error(self, title: str, message: str, path: str) -> str:
        """Return a page that explains an error at a path."""
        place = _HOME.below(title, "error.html")
        return self._page("error.html.j2", place, title=title, message=message, path=path)

    def asset(self, name: str) -> str | None:
        """Return what pages share by its name; None: there is no such thing."""
        if name not in self._assets:
            if name in _OWN_ASSETS:
                self._assets[name] = (_TEMPLATES / name).read_text("utf-8")
            elif name in pages.ASSETS:
                self._assets[name] = pages.asset(name)
        return self._assets.get(name)

    def key(self, beginning: str) -> str:
        """Return the key of a run in full; what names none is an InputError."""
        if not _KEY.fullmatch(beginning):
            raise InputError(
                "not the beginning of a run's key", value=beginning, valid="8 digits of it or more"
            )
        return self._inventory.key(beginning)

    def _picks(self, named: Sequence[str]) -> list[Pick]:
        keys = [self.key(name) for name in _distinct(named)]
        with self._lock:
            stored = [self._inventory.run(key) for key in keys]
        try:
            runs = [self.store.get(key) for key in keys]
        except KeyError as error:
            raise InputError(str(error), valid="dumbbell list runs") from None
        except DamagedResult as error:
            raise InputError(
                str(error), valid="to run what made it again, which replaces it"
            ) from None
        return [
            Pick(letter, entry, run)
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
    return _HOME.below("Runs", "runs.html").below(name, path)


def _joined(picks: Sequence[Pick]) -> str:
    """Return the part of an address that identifies picked runs."""
    return "-".join(pick.stored.key[:SHORT] for pick in picks)
