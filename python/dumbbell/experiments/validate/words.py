"""A validation in sentences and in cells of tables, as terminal and page show them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dumbbell.base.labels import listing, number
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
    "outside. The tolerated differences are those of docs/agreement.md."
)

DOCTOR: Final = "`dumbbell doctor` shows what delays this machine"

_HEADS: Final = ("", "kernel", "simulator", "difference", "tolerated", "verdict")


def about(found: Validation) -> str:
    """Say what is compared: the scenario, its path, and the runs of each engine."""
    first = found.simulator.first or found.kernel.first
    path = "" if first is None else f": {run_totals.path(first)}"
    of_each = [f"{len(side.runs)} of {side.asked} runs on {side.name}" for side in found.sides]
    return f"{found.simulator.results.study.header.summary}{path}; {listing(of_each)}."


def table(found: Validation) -> Totals:
    """Return each measure on both engines with its verdict."""
    return Totals(_HEADS, tuple(map(_row, found.compared)), intervals=True, note=NOTE)


def _row(each: Compared) -> tuple[str, ...]:
    measure, scale = each.measure, each.measure.scale
    unit = f" ({measure.unit})" if measure.unit else ""
    means = (_interval(part, scale) for part in (each.reference, each.other, each.difference))
    verdict = f"{MARKS[each.verdict]} {OUTCOMES[each.verdict]}"
    return f"{measure.title}{unit}", *means, _tolerated(each), verdict


def _interval(part: Estimate, scale: float) -> Shown:
    return shown.brief_interval(*(scale * end for end in (part.value, part.low, part.high)))


def _tolerated(each: Compared) -> Shown:
    reach = each.measure.scale * each.high
    return Shown(f"± {number(reach)}", reach)


def verdict(found: Validation) -> str:
    """Say in a sentence whether the simulator is right for the scenario."""
    match found.verdict:
        case Verdict.NOT_MEASURED:
            empty = [side.name for side in found.sides if not side.runs]
            lacks = f"no valid run on {listing(empty)}" if empty else "no flow has a goodput"
            return f"Not judged: {lacks}."
        case Verdict.AGREES:
            titles = listing([each.measure.title for each in found.having(Verdict.AGREES)])
            return f"The simulator agrees with the kernel here: {titles} are within their bands."
        case Verdict.DIFFERS:
            parts = "; ".join(map(_differs, found.having(Verdict.DIFFERS)))
            return f"The simulator differs from the kernel here: {parts}."
    few = next((side for side in found.sides if len(side.runs) < 2), None)
    if few is not None:
        return f"Undecided: {_count(len(few.runs))} on {few.name} is too few for an interval."
    several = len(_open(found)) > 1
    titles = listing([each.measure.title for each in _open(found)])
    reach = "intervals of {} reach" if several else "interval of {} reaches"
    return f"Undecided: the {reach.format(titles)} over the edge of the band{_more(found)}."


def _open(found: Validation) -> list[Compared]:
    return [each for each in found.goals if each.verdict is Verdict.UNDECIDABLE]


def _more(found: Validation) -> str:
    """Say how many runs are expected to decide."""
    runs = [needed(each) for each in _open(found)]
    if None in runs:
        return f"; not even {RUNS_MOST:,} runs are expected to decide"
    return f"; about {max(each for each in runs if each)} runs would decide (--runs)"


def _differs(each: Compared) -> str:
    scale, unit = each.measure.scale, f" {each.measure.unit}" if each.measure.unit else ""
    values = [number(scale * part.value) for part in (each.other, each.reference)]
    return (
        f"{each.measure.title} is {values[0]}{unit} simulated and {values[1]}{unit} on the "
        f"kernel, more than {number(scale * each.high)}{unit} apart"
    )


def remarks(found: Validation) -> Iterator[str]:
    """Yield what the verdict leaves out: runs that were not judged, features, open measures."""
    for side in found.sides:
        if side.unjudged:
            yield _unjudged(side)
    if found.not_offered:
        yield f"This kernel does not offer {listing(found.not_offered)}, which the simulator has."
    if found.verdict in (Verdict.AGREES, Verdict.DIFFERS):
        undecided = [each.measure.title for each in found.having(Verdict.UNDECIDABLE)]
        if undecided:
            yield f"Undecided: {listing(undecided)}."


def _unjudged(side: Side) -> str:
    """Name the runs of an engine that show nothing, with the first reason of the first of them."""
    first, *others = side.unjudged
    (why, *_) = first.why.split(";")
    way = f"; {DOCTOR}" if side.results.engine.real_time else ""
    numbers = ", ".join(str(each.repetition) for each in side.unjudged)
    begin = f"Not judged on {side.name}: {'runs' if others else 'run'} {numbers} of {side.asked}"
    return f"{begin}, {'the first as' if others else 'as'} {why}{way}."


def _count(runs: int) -> str:
    return f"{runs} valid {'run' if runs == 1 else 'runs'}"
