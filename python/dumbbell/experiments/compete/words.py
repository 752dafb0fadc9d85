"""A contest in words and in cells of tables, as terminal and page show them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from dumbbell.algorithms.labels import label_of
from dumbbell.base.labels import number, window
from dumbbell.experiments.advise.conditions import HARM_MAX, percent
from dumbbell.experiments.compete.contest import ESTIMATES, Contest, Outcome, Point
from dumbbell.experiments.compete.sides import Side
from dumbbell.inference.estimates import RUNS_MIN, Estimate
from dumbbell.quantities.cells import Shown, Totals
from dumbbell.quantities.shown import brief_interval

_RULE: Final = f"Dumbbell calls it harm where more than {percent(HARM_MAX)} is lost."

_COLLAPSE_S: Final = 5.0
"""Of starvation without a break, as the quantity `collapsed` has it by default."""


@dataclass(frozen=True)
class Row:
    """A row of the table: its title with the unit, and the estimate of an outcome."""

    title: str
    name: str
    scale: float = 1.0

    def cell(self, outcome: Outcome) -> Shown:
        """Return what the table shows of an outcome."""
        ends = outcome.ends(self.name)
        if ends is None:
            return brief_interval(None, None, None)
        scaled = (None if end is None else self.scale * end for end in ends.values())
        lowest, highest = ESTIMATES[self.name]
        return brief_interval(*scaled, bounds=(self.scale * lowest, self.scale * highest))


ROWS: Final = (
    Row("share of goodput (%)", "share", 100),
    Row("goodput a flow (Mbit/s)", "goodput"),
    Row("harm to goodput (%)", "harm", 100),
    Row("harm to RTT (%)", "delay_harm", 100),
    Row("harm to loss (%)", "loss_harm", 100),
    Row("RTT (ms)", "rtt"),
    Row("retransmitted (%)", "retransmitted", 100),
    Row("longest starved (s)", "starved"),
)
"""Rows of the table of a contest."""


def table(contest: Contest) -> Totals:
    """Return both sides of a contest with their intervals; of a sweep a line for each path."""
    several = len(contest.points) > 1
    return _overview(contest) if several else _whole(contest, contest.points[0])


def _whole(contest: Contest, point: Point) -> Totals:
    """Return both sides on a path, in both orders of start."""
    outcomes = contest.of_point(point)
    heads = tuple(
        f"{outcome_of_side.side}\n{_place(outcome_of_side)}" for outcome_of_side in outcomes
    )
    fair = (
        "fair share (%)",
        *(number(100 * outcome_of_side.fair_share) for outcome_of_side in outcomes),
    )
    rows = [(row.title, *(row.cell(outcome) for outcome in outcomes)) for row in ROWS]
    return Totals(
        ("", *heads), (fair, *map(tuple, rows)), intervals=True, note=" ".join(_notes(contest))
    )


def _overview(contest: Contest) -> Totals:
    """Return a line for each path of a sweep and order of start: the share, and both harms."""
    one, two = contest.sides
    axes = [name for name, _ in contest.points[0]]
    shown = [(ROWS[0], one), (ROWS[2], one), (ROWS[2], two)]
    rows = []
    for point in contest.points:
        for first in contest.sides:
            of_side = {
                outcome.side: outcome
                for outcome in contest.of_point(point)
                if outcome.first is (outcome.side == first)
            }
            cells = (row.cell(of_side[side]) for row, side in shown)
            rows.append((*(label_of(value) for _, value in point), first.name, *cells))
    heads = (
        f"share of\n{one.name} (%)",
        f"harm to\n{one.name} (%)",
        f"harm to\n{two.name} (%)",
    )
    fair = contest.of_point(contest.points[0])[0].fair_share
    note = f"A fair share of {one.name} is {number(100 * fair)} %. {' '.join(_notes(contest))}"
    return Totals(
        (*axes, "first", *heads), tuple(rows), named=len(axes) + 1, intervals=True, note=note
    )


def _notes(contest: Contest) -> Iterator[str]:
    """Explain the numbers of the table."""
    if contest.window is not None:
        yield f"Taken over {window(*contest.window)}, from when all flows are on."
    yield (
        "Harm is the loss to the other side (Ware et al. 2019), compared with the same flows among "
        "as many of the same algorithm. ± reaches to the farther end of the 95 % interval."
    )


def conclusion(contest: Contest) -> list[str]:
    """Say who harms whom: on one path in sentences, of a sweep on how many of its paths."""
    if len(contest.points) == 1:
        return verdict(contest, contest.points[0])
    lines = []
    for side in contest.sides:
        other = next(candidate for candidate in contest.sides if candidate != side)
        of_side = [_of(contest, point, side) for point in contest.points]
        harmed = sum(any(map(_is_harmed, outcomes)) for outcomes in of_side)
        rest = len(of_side) - harmed - sum(map(_is_spared, of_side))
        undecided = f", and the runs do not decide at {rest}" if rest else ""
        count = f"{harmed} of {len(of_side)} paths{undecided}"
        lines.append(f"{other.label} harms {side.label} at {count}.")
    return [*lines, _RULE]


def _of(contest: Contest, point: Point, side: Side) -> list[Outcome]:
    return [outcome for outcome in contest.of_point(point) if outcome.side == side]


def _worst(outcomes: Sequence[Outcome]) -> Outcome | None:
    """Return the outcome with the most harm: of those that are decided, else of open ones."""
    known = [outcome for outcome in outcomes if outcome.harm is not None]
    return max(
        known,
        key=lambda outcome: (
            _is_harmed(outcome),
            not _is_spared([outcome]),
            _value(outcome.harm),
        ),
        default=None,
    )


def verdict(contest: Contest, point: Point) -> list[str]:
    """Say who harms whom on a path, in sentences of a line each."""
    lines: list[str] = []
    unharmed: list[tuple[Side, Side, Outcome]] = []
    for side in contest.sides:
        other = next(candidate for candidate in contest.sides if candidate != side)
        outcomes = _of(contest, point, side)
        worst = _worst(outcomes)
        if worst is None:
            lines.append(f"No run shows the loss of {side.label}.")
            continue
        if _is_spared(outcomes):
            unharmed.append((other, side, worst))
        else:
            lines.append(_harmed(other, side, worst))
        lines += _further(other, side, outcomes)
    if len(unharmed) == len(contest.sides):
        most = max((worst for *_, worst in unharmed), key=lambda outcome: _value(outcome.harm))
        loss = percent(max(_value(most.harm), 0.0))
        lines.insert(
            0, f"Neither harms the other: the goodput of neither falls by more than {loss}."
        )
    else:
        lines += [
            f"{side.label} loses nothing to {other.label}."
            if _value(worst.harm) <= 0
            else f"{other.label} does not harm {side.label}."
            for other, side, worst in unharmed
        ]
    return [*lines, _RULE]


def _value(part: Estimate | None) -> float:
    return 0.0 if part is None else part.value


def _is_spared(outcomes: Sequence[Outcome]) -> bool:
    """Return True if no order of start has harm, by the whole interval."""
    harms = [outcome.harm for outcome in outcomes if outcome.harm is not None]
    return bool(harms) and all(harm.high <= HARM_MAX for harm in harms)


def _is_harmed(outcome: Outcome) -> bool:
    return outcome.harm is not None and outcome.harm.low > HARM_MAX


def _harmed(other: Side, side: Side, worst: Outcome) -> str:
    """Say how much a side loses, or may lose, in the order of start that is worse for it."""
    assert worst.harm is not None
    who, whom = other.label, side.label
    is_bounded = worst.harm.runs >= RUNS_MIN and worst.harm.low < worst.harm.high
    low, high = (percent(end) for end in (worst.harm.low, worst.harm.high))
    between = f" ({low} to {high})" if is_bounded else ""
    loss = f"{percent(worst.harm.value)}{between} of the goodput that it has among its own"
    if _is_harmed(worst):
        return f"{who} harms {whom}, which loses {loss} if it starts {_place(worst)}."
    why = "more runs would decide" if is_bounded else "one run decides nothing"
    if worst.harm.value < 0:
        gains = f"{percent(-worst.harm.value)} more goodput than among its own"
        but = f"the interval also allows a loss of {high}" if is_bounded else why
        return (
            f"Whether {who} harms {whom} is open: {whom} has {gains} if it starts "
            f"{_place(worst)}, but {but}."
        )
    return f"{who} may harm {whom}, which loses {loss} if it starts {_place(worst)}: {why}."


def _further(other: Side, side: Side, outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield what else the other side does: longer round-trip times, starvation."""
    who, whom = other.label, side.label
    slowed = [outcome for outcome in outcomes if outcome.delay_harm is not None]
    worst = max(slowed, key=lambda outcome: _value(outcome.delay_harm), default=None)
    if worst is not None and worst.delay_harm is not None and worst.delay_harm.low > HARM_MAX:
        longer = worst.delay_harm.value / (1 - worst.delay_harm.value)
        yield f"{who} lengthens {whom}'s round-trip time by {percent(longer)}."
    longest = max((_value(outcome.starved) for outcome in outcomes), default=0.0)
    if longest >= _COLLAPSE_S:
        yield f"A flow of {whom} starves for {number(longest)} s without a break."


def _place(outcome: Outcome) -> str:
    return "first" if outcome.first else "last"
