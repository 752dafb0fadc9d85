"""A validation in sentences and in cells of tables, as terminal and page show them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from dumbbell.base.labels import Bounds, listing, number
from dumbbell.experiments.validate.comparing import Compared
from dumbbell.experiments.validate.validating import RUNS_MOST, Side, Validation, needed
from dumbbell.inference.equivalence import Verdict
from dumbbell.inference.estimates import Estimate
from dumbbell.quantities import run_totals, shown
from dumbbell.quantities.cells import Shown, Totals

MARKS: Final = {Verdict.AGREES: "✓", Verdict.DIFFERS: "✗", Verdict.UNDECIDABLE: "?"}

OUTCOMES: Final = {
    Verdict.AGREES: "agrees",
    Verdict.DIFFERS: "differs",
    Verdict.UNDECIDABLE: "undecided",
}
"""Verdict of a measure in a word."""

NOTE: Final = (
    "Taken over the whole run, slow start included. Difference: simulator minus kernel, with its "
    "95 % interval. A measure agrees if that is within what is tolerated, and differs if it is "
    "outside. The tolerated differences are those of docs/agreement.md. Simulated hosts have the "
    "testbed's receive buffers, which do not grow, and this kernel's timer ticks."
)

DOCTOR: Final = "`dumbbell doctor` shows what delays this machine"

_HEADS: Final = ("", "kernel", "simulator", "difference", "tolerated", "verdict")


def about(validation: Validation) -> str:
    """Say what is compared: the scenario, its path, and the runs of each engine."""
    first = validation.simulator.first or validation.kernel.first
    path = "" if first is None else f": {run_totals.path(first)}"
    of_each = [
        f"{len(side.runs)} of {side.requested} runs on {side.name}" for side in validation.sides
    ]
    return f"{validation.simulator.results.study.header.summary}{path}; {listing(of_each)}."


def table(validation: Validation) -> Totals:
    """Return each measure on both engines with its verdict."""
    return Totals(_HEADS, tuple(map(_row, validation.compared)), intervals=True, note=NOTE)


def _row(comparison: Compared) -> tuple[str, ...]:
    measure, scale = comparison.measure, comparison.measure.scale
    unit = f" ({measure.unit})" if measure.unit else ""
    lowest, highest = measure.shown_bounds
    widest = highest - lowest
    means = (
        _interval(comparison.reference, scale, (lowest, highest)),
        _interval(comparison.other, scale, (lowest, highest)),
        _interval(comparison.difference, scale, (-widest, widest)),
    )
    verdict = f"{MARKS[comparison.verdict]} {OUTCOMES[comparison.verdict]}"
    return f"{measure.title}{unit}", *means, _tolerated(comparison), verdict


def _interval(part: Estimate, scale: float, bounds: Bounds) -> Shown:
    ends = (scale * end for end in (part.value, part.low, part.high))
    return shown.brief_interval(*ends, bounds=bounds)


def _tolerated(comparison: Compared) -> Shown:
    reach = comparison.measure.scale * comparison.high
    return Shown(f"± {number(reach)}", reach)


def verdict(validation: Validation) -> str:
    """Say in a sentence whether the simulator is right for the scenario."""
    match validation.verdict:
        case Verdict.NOT_MEASURED:
            empty = [side.name for side in validation.sides if not side.runs]
            lacks = f"no valid run on {listing(empty)}" if empty else "no flow has a goodput"
            return f"Not judged: {lacks}."
        case Verdict.AGREES:
            titles = _titles(validation.having(Verdict.AGREES))
            return f"The simulator agrees with the kernel here: {titles} are within their bands."
        case Verdict.DIFFERS:
            parts = "; ".join(map(_differs, validation.having(Verdict.DIFFERS)))
            return f"The simulator differs from the kernel here: {parts}."
    few = next((side for side in validation.sides if len(side.runs) < 2), None)
    if few is not None:
        return f"Undecided: {_count(len(few.runs))} on {few.name} is too few for an interval."
    undecided = [goal for goal in validation.goals if goal.verdict is Verdict.UNDECIDABLE]
    reach = "intervals of {} reach" if len(undecided) > 1 else "interval of {} reaches"
    reaches = f"{reach.format(_titles(undecided))} over the edge of the band"
    return f"Undecided: the {reaches}{_more(undecided)}."


def _titles(comparisons: Sequence[Compared]) -> str:
    return listing([comparison.measure.title for comparison in comparisons])


def _more(undecided: Sequence[Compared]) -> str:
    """Say how many runs are expected to decide."""
    runs = [needed(comparison) for comparison in undecided]
    if None in runs:
        return f"; not even {RUNS_MOST:,} runs are expected to decide"
    return f"; about {max(filter(None, runs))} runs would decide (--runs)"


def _differs(comparison: Compared) -> str:
    measure, scale = comparison.measure, comparison.measure.scale
    unit = f" {measure.unit}" if measure.unit else ""
    values = [number(scale * part.value) for part in (comparison.other, comparison.reference)]
    return (
        f"{measure.title} is {values[0]}{unit} simulated and {values[1]}{unit} on the "
        f"kernel, more than {number(scale * comparison.high)}{unit} apart"
    )


def remarks(validation: Validation) -> Iterator[str]:
    """Yield what the verdict leaves out: runs that were not judged, features, open measures."""
    for side in validation.sides:
        if side.unjudged:
            yield _unjudged(side)
    if validation.not_offered:
        features = listing(validation.not_offered)
        yield f"This kernel does not offer {features}, which the simulator has."
    undecided = validation.having(Verdict.UNDECIDABLE)
    if undecided and validation.verdict in (Verdict.AGREES, Verdict.DIFFERS):
        yield f"Undecided: {_titles(undecided)}."


def _unjudged(side: Side) -> str:
    """Name the runs of an engine that show nothing, with the first reason of the first of them."""
    first, *others = side.unjudged
    (why, *_) = first.why.split(";")
    way = f"; {DOCTOR}" if side.results.engine.real_time else ""
    numbers = ", ".join(str(run.repetition) for run in side.unjudged)
    begin = (
        f"Not judged on {side.name}: {'runs' if others else 'run'} {numbers} of {side.requested}"
    )
    return f"{begin}, {'the first as' if others else 'as'} {why}{way}."


def _count(runs: int) -> str:
    return f"{runs} valid {'run' if runs == 1 else 'runs'}"
