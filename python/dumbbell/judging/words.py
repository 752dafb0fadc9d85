"""Claims in words: quantities, values with their intervals, grid points, missing runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from dumbbell.algorithms.labels import labels_of
from dumbbell.base import amounts
from dumbbell.base.labels import DIGITS, UNBOUNDED, Bounds, cut, number, outward
from dumbbell.inference.statistics import RUNS_MIN, Estimate, Exact, Observed
from dumbbell.plan import grid
from dumbbell.plan.grid import Selection
from dumbbell.quantities import titles
from dumbbell.quantities.derived import Derived
from dumbbell.quantities.reference import parse
from dumbbell.quantities.registry import quantity

_STATISTICS: Final = {
    "mean": "",
    "median": "median of ",
    "worst": "worst run's ",
    "best": "best run's ",
}
_THOUSANDS: Final = {"Mbit/s": "Gbit/s", "kbit/s": "Mbit/s"}
_DIGITS_MIN: Final = 3
_SINGULAR: Final = {"grid points": "grid point", "pairs": "pair", "series": "series"}


@dataclass(frozen=True)
class Named:
    """A quantity in words, and how its values are shown.

    Attributes
    ----------
    title
        Its title for people, with its subject and window.
    unit, scale
        The unit in which it is shown, and the factor to it.
    is_yes_or_no
        True if it is 1 where something happened in a run, else 0.
    is_ratio
        True if it is the ratio of two quantities, so that its mean is the geometric one.
    bounds
        The least and the most that it can be, in its own unit.
    """

    title: str
    unit: str = ""
    scale: float = 1.0
    is_yes_or_no: bool = False
    is_ratio: bool = False
    bounds: Bounds = UNBOUNDED

    def of(self, statistic: str) -> Named:
        """Return a statistic of its runs; the mean of what happens or not is a share of runs."""
        if statistic == "mean" and self.is_yes_or_no:
            return replace(self, title=f"share of runs: {self.title}", unit="%", scale=100.0)
        if statistic == "mean" and self.is_ratio:
            return replace(self, title=f"geometric mean of {self.title}")
        known = _STATISTICS.get(statistic)
        prefix = f"{int(statistic[1:])} % quantile of " if known is None else known
        return replace(self, title=prefix + self.title)

    def value(self, value: float) -> str:
        """Render a value with its unit."""
        return self._rendered([value])

    @property
    def apart(self) -> Named:
        """The difference of two of its values: that of percentages is in points."""
        widest = self.bounds[1] - self.bounds[0]
        unit = "points" if self.unit == "%" else self.unit
        return replace(self, unit=unit, bounds=(-widest, widest))

    def between(self, low: float | None, high: float | None) -> str:
        """Render bounds."""
        if low is None:
            return f"at most {self.value(high or 0)}"
        if high is None:
            return f"at least {self.value(low)}"
        return self._rendered([low, high], " to ")

    def estimate(self, estimate: Estimate) -> str:
        """Render an estimate with its number of runs and its interval, cut at the bounds."""
        runs = count(estimate.runs, "run")
        if isinstance(estimate, Exact):
            # The value of the worst or the best run says nothing of the others.
            alike = estimate.runs >= RUNS_MIN and not isinstance(estimate, Observed)
            return f"{self.value(estimate.value)} ({f'all {runs} alike' if alike else runs})"
        if all(map(math.isfinite, estimate.interval)):
            ends = cut(estimate.value, *estimate.interval, self.bounds)
            scale, unit = self._shown([estimate.value, *ends])
            digits = _digits(*ends)
            low, high = _rounded(ends[0] * scale, ends[1] * scale, digits)
            value = f"{number(estimate.value * scale, digits)} {unit}".rstrip()
            return f"{value} ({number(low, digits)} to {number(high, digits)}, {runs})"
        return f"{self.value(estimate.value)} ({runs}, no interval)"

    def _rendered(self, values: Sequence[float], joined: str = "") -> str:
        scale, unit = self._shown(values)
        return f"{joined.join(number(value * scale) for value in values)} {unit}".rstrip()

    def _shown(self, values: Sequence[float]) -> tuple[float, str]:
        """Return factor and unit: those of thousands where all values are so large."""
        finite = [abs(value) * self.scale for value in values if math.isfinite(value)]
        # One unit for all of them: ends of an interval in two units are hard to compare.
        if self.unit in _THOUSANDS and finite and min(finite) >= 1000:
            return self.scale / 1000, _THOUSANDS[self.unit]
        return self.scale, self.unit


RATIO: Final = Named("ratio", bounds=(0.0, math.inf))
"""Format of ratios."""

TIMES: Final = Named("ratio", "times")
"""Format of ratios that stand alone."""


def named(text: str, derived: Mapping[str, Derived]) -> Named:
    """Say in words what a reference names, which may be derived by the study."""
    title = titles.title(text, derived)
    if text in derived:
        quantity_of_study = derived[text]
        unit, way = quantity_of_study.shown_unit, quantity_of_study.way
        return Named(title, unit, is_ratio=way == "ratio", bounds=quantity_of_study.bounds)
    registered = quantity(parse(text).name)
    return Named(
        title,
        registered.shown_unit,
        registered.shown_scale,
        registered.yes_or_no,
        bounds=registered.bounds,
    )


def _digits(low: float, high: float) -> int:
    """Return the significant digits with which both ends of an interval differ."""
    # With a fixed number of digits both ends of a narrow interval would read the same.
    reach, size = (high - low) / 2, max(abs(low), abs(high))
    if reach <= 0 or size <= 0:
        return _DIGITS_MIN
    return max(_DIGITS_MIN, min(DIGITS, math.floor(math.log10(size / reach)) + 1))


def _rounded(low: float, high: float, digits: int) -> tuple[float, float]:
    """Return the ends of an interval; one that these digits hardly show is rounded to be wider."""
    size = max(abs(low), abs(high))
    if not size or (high - low) / 2 >= size * 10.0 ** (1 - digits):
        return low, high
    return outward(low, high, max(0, digits - 1 - math.floor(math.log10(size))))


def count(how_many: int, what: str) -> str:
    """Render a number of things: 1 run, 5 runs."""
    return f"{how_many} {what if how_many == 1 else what + 's'}"


def place(axes: Mapping[str, str], beside: grid.Axes | None = None) -> str:
    """Name a grid point; numbers with their axes, as two of them may have the same unit.

    `beside` has the values of each axis, from which the name tells that of the point.
    """
    known = beside or {}
    return ", ".join(
        _named_value(axis, [value], known.get(axis, ())) for axis, value in axes.items()
    )


def selection(chosen: Selection, beside: Selection | None = None) -> str:
    """Name the grid points of a selection, which are compared with those `beside`."""
    known = {axis: grid.wanted_values(beside, axis) for axis in beside} if beside else {}
    return "; ".join(
        _named_value(axis, grid.wanted_values(chosen, axis), known.get(axis, ())) for axis in chosen
    )


def _named_value(axis: str, values: Sequence[str], beside: Sequence[str] = ()) -> str:
    names = labels_of([*beside, *values])
    *others, last = [names[value] for value in values] or [""]
    labels = f"{', '.join(others)} or {last}" if others else last
    has_numbers = any(amounts.number_of(value) is not None for value in values)
    return f"{axis} {labels}" if has_numbers else labels


def every(quantifier: str, noun: str) -> str:
    """Say for how many findings something is expected; nothing where that goes without saying."""
    singular = _SINGULAR.get(noun)
    if singular is None:
        return ""
    return {
        "all": f"for every {singular}",
        "most": f"for more than half of the {noun}",
        "median": f"in the median over {noun}",
        "any": f"for one {singular} or more",
    }[quantifier]


def tie(resolution: float) -> str:
    """Say within which difference values are a tie; nothing if they never are."""
    return f" (a tie within {number(100 * resolution)} %)" if resolution else ""


def only_in_full(*, is_shorter: bool, missing: int) -> str:
    """Say why quick runs do not contradict; nothing if they may."""
    parts = []
    if is_shorter:
        parts.append("runs of full length")
    if missing:
        parts.append(f"{count(missing, 'grid point')} that the quick part leaves out")
    return f"only {' and '.join(parts)} could contradict it" if parts else ""


def lacking(runs: Sequence[int], points: int, most: int) -> str:
    """Say how many runs would decide."""
    if not runs:
        return f"not even {most} runs of each grid point are expected to decide"
    if max(runs) == RUNS_MIN:
        return f"needs at least {RUNS_MIN} runs of {count(points, 'grid point')}"
    return f"about {max(runs)} runs of {count(points, 'grid point')} would decide"
