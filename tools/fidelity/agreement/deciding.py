"""Running scenarios on both engines, more often where few runs do not decide."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from dumbbell.execution.executor import Progress
from dumbbell.experiments.validate.measures import MEASURES, Measure
from dumbbell.store.store import Store
from fidelity.agreement import scenarios
from fidelity.agreement.case import Case
from fidelity.agreement.collecting import Collected, Side, collect
from fidelity.agreement.judging import Agreement, compare

OnProgress = Callable[[Side, Progress], None]
"""Hears of each run that has come to its end, and on which engine."""

SIMULATED_PER_REAL: Final = 4
"""Simulated runs for each real one where few did not decide, so that they add little variance."""


def measure(
    cases: Sequence[Case],
    reference: Side,
    other: Side,
    store: Store,
    on_progress: OnProgress | None = None,
    *,
    measures: tuple[Measure, ...] = MEASURES,
    further_s: float = scenarios.REAL_TIME_UNDECIDED_S,
) -> Agreement:
    """Run the scenarios on both engines, the reference last, and compare.

    Scenarios that the runs do not decide run more often, in the steps of the reference and for
    at most `further_s` seconds of its time. Those that need the fewest further runs come first.
    """

    def collected(cases: Sequence[Case], side: Side) -> Collected:
        follow = None if on_progress is None else partial(on_progress, side)
        return collect(cases, side, store, follow)

    def compared() -> Agreement:
        return compare(cases, (reference.name, ours), (other.name, theirs), measures=measures)

    theirs, ours = collected(cases, other), collected(cases, reference)
    agreement = compared()
    for repetitions in reference.repetitions_undecided:
        step = replace(reference, repetitions=repetitions)
        again, further_s = _affordable(_undecided(agreement), step, store, further_s)
        if not again:  # a larger number would take longer
            break
        simulated = max(other.repetitions, SIMULATED_PER_REAL * repetitions)
        theirs = theirs.replaced(collected(again, replace(other, repetitions=simulated)))
        ours = ours.replaced(collected(again, step))
        agreement = compared()
    return agreement


def _undecided(agreement: Agreement) -> list[Case]:
    """Return the undecided scenarios, the one first that the fewest runs may decide."""
    return [judged.case for judged in sorted(agreement.undecided, key=lambda one: one.runs_needed)]


def _affordable(
    cases: Sequence[Case], side: Side, store: Store, seconds: float
) -> tuple[list[Case], float]:
    """Return those whose further runs fit into a time on an engine, and the time left.

    Runs that the store holds take none.
    """
    chosen = []
    for case in cases:
        keys = (side.resolved(case, number).key for number in range(1, side.repetitions + 1))
        further_s = scenarios.real_time_s([case], sum(not store.has(key) for key in keys))
        if further_s <= seconds:
            seconds -= further_s
            chosen.append(case)
    return chosen, seconds
