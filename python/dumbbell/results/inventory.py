"""The content of a results folder, run by run: the study and the scenario of each.

Reading runs nothing of what is read. A file is read again only after a change, so that a look every
few seconds costs only the new files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from dumbbell.algorithms import own_algorithms
from dumbbell.base.errors import DamagedResult, InputError, listed
from dumbbell.base.labels import number
from dumbbell.base.units import NS_PER_S, format_bytes, format_rate
from dumbbell.contract.scenario import Bernoulli, Scenario
from dumbbell.engines import validity
from dumbbell.engines.choices import EngineName
from dumbbell.plan.expanding import PlannedRun
from dumbbell.results import plans
from dumbbell.results.results import Results
from dumbbell.scenario import facts
from dumbbell.store.run_folder import RunFile
from dumbbell.store.store import Store
from dumbbell.study import files
from dumbbell.study.model import Study

SHORT: Final = 12
"""Digits of a key that identify a run."""

_SHOWN: Final = 5


@dataclass(frozen=True)
class Place:
    """Place of a run: the study, and the planned run."""

    study: str
    planned: PlannedRun


@dataclass(frozen=True)
class StoredRun:
    """A run in the store.

    Attributes
    ----------
    key
        Its key, in full.
    cells
        Its cells in a list of runs: heading -> word or number; None: not known.
    order
        Numbers by which some of these are sorted rather than by their words: heading -> number.
    invalid
        Reasons why it is invalid; empty: it is valid.
    path
        Values of the bottleneck in its scenario that no column has: name -> values, as in files.
    place
        Where it belongs, if a study that is known asks for it.
    """

    key: str
    cells: Mapping[str, Any]
    order: Mapping[str, float]
    invalid: tuple[str, ...]
    path: Mapping[str, tuple[str, ...]]
    place: Place | None = None

    def at(self, place: Place | None) -> StoredRun:
        """Return the run with where it belongs."""
        if place is None:
            return self
        named = {"study": place.study, "test": place.planned.test}
        return replace(self, cells={**self.cells, **named}, place=place)


class Inventory:
    """The studies and runs of a results folder.

    `on_unknown` is called with the name of each study that cannot be read, and the reason.
    """

    def __init__(self, store: Store, on_unknown: Callable[[str, str], object]) -> None:
        self.store = store
        self._on_unknown = on_unknown
        self._studies: dict[str, tuple[object, list[Results]]] = {}
        self._read: dict[str, tuple[float, StoredRun]] = {}

    def results(self) -> Iterator[Results]:
        """Yield what is there of each study that was run, by each engine."""
        for name in plans.remembered(self.store):
            try:
                with own_algorithms.nothing_runs():
                    known = self._results_of(name)
            except InputError as error:
                self._on_unknown(name, str(error))
            else:
                yield from known

    def _results_of(self, name: str) -> list[Results]:
        state = (plans.recall(self.store, name), _state(name, self.store))
        known = self._studies.get(name)
        if known is None or known[0] != state:
            study = Study.load(name, self.store.root)
            by_engine = [Results(study, self.store, engine=engine) for engine in EngineName]
            for results in by_engine:
                results.expand()
            known = self._studies[name] = (state, by_engine)
        return known[1]

    def places(self) -> Mapping[str, Place]:
        """Return where the runs belong that studies ask for, by their keys."""
        places: dict[str, Place] = {}
        for results in self.results():
            for planned in results.planned():
                places.setdefault(planned.resolved.key, Place(results.study.name, planned))
        return places

    def runs(self) -> Iterator[StoredRun]:
        """Yield what is stored, the newest first."""
        places = self.places()
        written = {key: self._written_s(key) for key in self.store.keys()}  # noqa: SIM118
        there = {key: when_s for key, when_s in written.items() if when_s is not None}
        for key in sorted(there, key=lambda key: (-there[key], key)):
            run = self._stored(key, there[key])
            if run is not None:
                yield run.at(places.get(key))

    def run(self, key: str) -> StoredRun:
        """Return the run of a key in full; one that is damaged or gone is an InputError."""
        written_s = self._written_s(key)
        run = None if written_s is None else self._stored(key, written_s)
        if run is None:
            problem = "this run is damaged or gone"
            raise InputError(
                problem, value=key[:SHORT], valid="to run what made it again, which replaces it"
            )
        return run.at(self.places().get(key))

    def invalid(self, keys: Iterable[str]) -> set[str]:
        """Return which of some results are invalid; what cannot be read is not."""
        written = ((key, self._written_s(key)) for key in keys)
        read = (self._stored(key, at_s) for key, at_s in written if at_s is not None)
        return {run.key for run in read if run is not None and run.invalid}

    def key(self, beginning: str) -> str:
        """Return the key that begins like this; none, or several, are an InputError."""
        keys = [key for key in self.store.keys() if key.startswith(beginning)]  # noqa: SIM118
        if not keys:
            problem = "no run's key begins like this"
            raise InputError(problem, value=beginning, valid="`dumbbell list runs` names them")
        if len(keys) > 1:
            short = [key[:SHORT] for key in keys[:_SHOWN]]
            raise InputError(
                f"{len(keys)} runs begin like this", value=beginning, valid=listed(short)
            )
        return keys[0]

    def _written_s(self, key: str) -> float | None:
        """Return when a result was written last; None: it is gone by now."""
        try:
            return max(changed_ns for _, _, changed_ns in self.store.state(key)) / NS_PER_S
        except (KeyError, OSError, ValueError):
            return None

    def _stored(self, key: str, written_s: float) -> StoredRun | None:
        """Return a run without its place; None: it is damaged, or gone by now."""
        known = self._read.get(key)
        if known is None or known[0] != written_s:
            try:
                run = self.store.described(key)
            except (KeyError, DamagedResult):
                return None
            known = self._read[key] = (written_s, _stored(run, written_s))
        return known[1]


def _state(name: str, store: Store) -> Sequence[object]:
    """Return what changes when the files of a study do."""
    files_of_study = files.parts(files.find(name, store.root))
    try:
        return [(file, file.stat().st_mtime_ns, file.stat().st_size) for file in files_of_study]
    except OSError:
        return [object()]


def _stored(run: RunFile, written_s: float) -> StoredRun:
    scenario = run.scenario
    choices = {facts.choice(flow): None for flow in scenario.flows}
    rate_bps = facts.bottleneck_rate_bps(scenario)
    rtts_ms = sorted({facts.base_rtt_ns(scenario, flow) / 1e6 for flow in scenario.flows})
    received = sum(flow.received_bytes for flow in run.summary.flows)
    goodput = float(f"{8e3 * received / scenario.duration_ns:.4g}")
    cells = {
        "run": run.key[:SHORT],
        "study": None,
        "test": None,
        "algorithms": ", ".join(choices),
        "rate": None if rate_bps is None else format_rate(round(rate_bps)),
        "rtt (ms)": ", ".join(number(rtt, 4) for rtt in rtts_ms),
        "length (s)": scenario.duration_ns / NS_PER_S,
        "goodput (Mbit/s)": goodput,
        "seed": str(scenario.seed),
        "engine": run.engine.partition(" ")[0],
        "when": datetime.fromtimestamp(written_s).astimezone().isoformat(" ", "minutes")[:16],
    }
    order = {
        "rate": float("inf") if rate_bps is None else rate_bps,
        "rtt (ms)": min(rtts_ms, default=0.0),
        "length (s)": scenario.duration_ns / NS_PER_S,
        "goodput (Mbit/s)": goodput,
        "seed": float(scenario.seed),
        "when": written_s,
    }
    return StoredRun(run.key, cells, order, validity.reasons(run.summary), _path(scenario))


def _path(scenario: Scenario) -> dict[str, tuple[str, ...]]:
    """Return the room and the random losses of the bottleneck."""
    number = facts.bottleneck(scenario)
    if number is None:
        return {}
    link = facts.sampled_links(scenario)[number]
    limit = link.queue.limit
    rooms = []
    if limit is not None and limit.packets is not None:
        rooms.append(f"{limit.packets}p")
    if limit is not None and limit.bytes is not None:
        rooms.append(format_bytes(limit.bytes))
    chances = [
        f"{chance:g}"
        for loss in link.loss
        if isinstance(loss, Bernoulli)
        for _, chance in loss.probability
    ]
    return {"queue": tuple(rooms), "loss": tuple(chances or ["0"])}
