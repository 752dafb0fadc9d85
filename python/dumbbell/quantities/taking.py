"""Quantities of runs: only the requested ones, each once."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final
from weakref import WeakKeyDictionary

from dumbbell.base.errors import DamagedResult
from dumbbell.engines import validity
from dumbbell.engines.cancelling import crew
from dumbbell.engines.result import Run
from dumbbell.plan.expanding import PlannedRun
from dumbbell.plan.settings import Settings
from dumbbell.plan.windows import Window
from dumbbell.quantities import kept
from dumbbell.quantities.kept import Values
from dumbbell.quantities.reference import Reference, parse
from dumbbell.quantities.registry import Quantity, quantity
from dumbbell.quantities.subjects import Absent
from dumbbell.quantities.view import FlowsView, QueueView, RunView
from dumbbell.scenario import facts
from dumbbell.store.store import Store

_MAIN: Final = Window()

_taken: WeakKeyDictionary[Store, dict[str, Values]] = WeakKeyDictionary()


def take(view: RunView, reference: Reference) -> float | None:
    """Return a quantity of a run; None where it has no value."""
    registered = quantity(reference.name)
    registered.check_argument(
        reference, facts.own_algorithms(view.scenario) if reference.argument else {}
    )
    seen = _seen(view, registered, reference)
    if seen is None:
        return None
    # Not every function guards against 0 / 0, and a table must not hold nan next to nulls.
    value = registered.compute(seen, *([reference.argument] if registered.takes else []))
    return None if value is None or not math.isfinite(value) else float(value)


def _seen(view: RunView, measured: Quantity, reference: Reference) -> FlowsView | QueueView | None:
    """Return whose a quantity is, in its window."""
    subject, window = reference.subject, reference.window
    if measured.of_queue:
        return view.of_queue(subject, window)
    if measured.of_datagrams and subject is None:
        return view.of_datagrams(window)
    return view.of_flows(subject, window)


def of_run(
    run: Run,
    references: Sequence[str],
    windows: Mapping[str, Window] | None = None,
    settings: Mapping[str, Settings] | None = None,
) -> Values:
    """Return quantities of a single run by their references; None where one has no value.

    The main window is the default one unless there is another one of that name.
    """
    view = RunView(run, {"main": _MAIN, **(windows or {})}, settings or {})
    return {text: take(view, parse(text)) for text in references}


def of_runs(
    planned: Sequence[PlannedRun], references: Sequence[str], store: Store
) -> Iterator[tuple[PlannedRun, Values]]:
    """Yield the planned runs that are in the store and valid, with their quantities.

    The subject of a reference need not be in every run: where a flow, a group, a link or a step is
    not there, a quantity of it has no value.
    """
    unique = list(dict.fromkeys(references))
    # An unknown name fails here, in this thread, before any run is read.
    for name in unique:
        quantity(parse(name).name)
    with crew("quantities") as pool:
        results = pool.map(lambda run: _of_planned(run, unique, store), planned)
        for run, values in zip(planned, results, strict=True):
            if values is not None:
                yield run, values


def _of_planned(planned: PlannedRun, references: Sequence[str], store: Store) -> Values | None:
    """Return quantities of one run; None if its result is absent, damaged or invalid."""
    key = planned.resolved.key
    if not store.has(key):
        return None
    names = {text: _kept_as(text, planned) for text in references}
    # A page takes quantities of the same runs many times, and what is kept is a file for each.
    in_memory = _taken.setdefault(store, {})
    known = in_memory[key] if key in in_memory else kept.read(store, key)
    missing = [text for text, name in names.items() if known is None or name not in known]
    if known is None or missing:
        try:
            run = store.get(key)
        except (KeyError, DamagedResult):
            return None
        # Only valid runs have kept values, so runs whose values are known are valid.
        if validity.reasons(run.summary):
            return None
        view = RunView(run, planned.windows, planned.settings)
        values = {names[text]: _if_there(view, parse(text)) for text in missing}
        known = {**(known or {}), **values}
        kept.write(store, key, known)
    in_memory[key] = known
    return {text: known[name] for text, name in names.items()}


def _if_there(view: RunView, reference: Reference) -> float | None:
    try:
        return take(view, reference)
    except Absent:
        return None


def _kept_as(text: str, planned: PlannedRun) -> str:
    """Return the name of a kept value: the reference, and a digest of what else it depends on."""
    reference = parse(text)
    registered = quantity(reference.name)
    windows = (planned.windows["main"], planned.windows.get(reference.window or "main"))
    settings = planned.settings.get(registered.settings.table) if registered.settings else None
    return f"{text} {_digest(windows, settings, registered.settings)}"


@lru_cache(maxsize=1024)
def _digest(
    windows: tuple[Window, Window | None], given: Settings | None, kind: type[Settings] | None
) -> str:
    # Defaults are written out, so that new defaults make another name.
    settings = given if given is not None or kind is None else kind()
    content = [
        *(repr(window) for window in windows),
        None if settings is None else settings.model_dump(mode="json"),
    ]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:16]


def described(text: str) -> Quantity:
    """Return the quantity that a reference names; an unknown one is an InputError."""
    return quantity(parse(text).name)
