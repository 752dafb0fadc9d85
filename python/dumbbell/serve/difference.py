"""Differences of two runs: in their scenarios and their results, side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final

from dumbbell.base.labels import number
from dumbbell.engines.result import Run
from dumbbell.quantities import taking, titles
from dumbbell.quantities.reference import parse
from dumbbell.quantities.registry import Quantity
from dumbbell.quantities.subjects import Absent, Flow
from dumbbell.quantities.taken import placed_in
from dumbbell.quantities.view import view_of
from dumbbell.reports import columns
from dumbbell.serve.selected import SelectedRun

_OF_FLOWS: Final = ("goodput_mbit_per_s", "rtt_mean_ms", "retransmitted_share", "timeouts")
_FLOWS_MAX: Final = 12
_DIGITS: Final = 4
_NONE: Final = "–"


@dataclass(frozen=True)
class Row:
    """A line of the comparison: a title, the values of both runs, and their difference."""

    title: str
    first: str
    second: str
    difference: str = ""
    relative: str = ""


def scenarios(first: SelectedRun, second: SelectedRun) -> Iterator[Row]:
    """Yield the properties of both runs and of their paths."""
    for head, one in first.stored.cells.items():
        other = second.stored.cells[head]
        yield Row(head, _cell(one), _cell(other), "" if one == other else "differs")


def _cell(value: object) -> str:
    return _NONE if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def totals(first: Run, second: Run) -> Iterator[Row]:
    """Yield the quantities of whole runs that compare algorithms."""
    for name in (*columns.KEY, *columns.FURTHER):
        yield _row(titles.title(name, {}), name, name, first, second)


def flows(first: Run, second: Run) -> Iterator[Row]:
    """Yield quantities of the flows of both runs, in their order, up to a number of flows."""
    pairs = list(zip_longest(_sampled(first), _sampled(second)))[:_FLOWS_MAX]
    for one, other in pairs:
        names = dict.fromkeys(flow.label for flow in (one, other) if flow is not None)
        for quantity in _OF_FLOWS:
            references = [
                None if flow is None else f"{quantity}[{flow.number}]@run" for flow in (one, other)
            ]
            title = f"{' / '.join(names)}: {titles.title(quantity, {})}"
            yield _row(title, references[0], references[1], first, second)


def _sampled(run: Run) -> Sequence[Flow]:
    return [flow for flow in view_of(run).flows if flow.is_sampled]


def _row(title: str, one: str | None, other: str | None, first: Run, second: Run) -> Row:
    quantity = taking.described(one or other or "")
    unit = f" ({quantity.shown_unit})" if quantity.shown_unit else ""
    left, right = (_value(first, one), _value(second, other))
    placed = dict.fromkeys(filter(None, (_window(first, one), _window(second, other))))
    return Row(
        ", ".join([f"{title}{unit}", " / ".join(placed)]) if placed else f"{title}{unit}",
        _shown(left, quantity),
        _shown(right, quantity),
        *_difference(left, right, quantity),
    )


def _shown(value: float | None, quantity: Quantity) -> str:
    return number(None if value is None else value * quantity.shown_scale, _DIGITS)


def _value(run: Run, name: str | None) -> float | None:
    """Return a quantity; None: the run does not have it."""
    if name is None:
        return None
    try:
        return taking.take(view_of(run), parse(name))
    except Absent:
        return None


def _window(run: Run, name: str | None) -> str | None:
    """Return the window of a quantity in words."""
    return None if name is None else placed_in(view_of(run), parse(name))


def _difference(first: float | None, second: float | None, quantity: Quantity) -> tuple[str, str]:
    """Return the second value minus the first, also in per cent of the first."""
    if first is None or second is None:
        return _NONE, _NONE
    less = second - first
    share = f"{_signed(100 * less / abs(first), 3)} %" if first else _NONE
    return _signed(less * quantity.shown_scale), share


def _signed(value: float, digits: int = _DIGITS) -> str:
    return f"+{number(value, digits)}" if value > 0 else number(value, digits)
