"""Files that a scenario names: packet traces and distributions of sizes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Final

from dumbbell.errors import InputError
from dumbbell.units import NS_PER_S, parse_bytes, parse_fraction

OPPORTUNITY_BYTES: Final = 1504
"""What may depart at each line of a mahimahi trace."""

_LINES_MAX: Final = 2_000_000
_NS_PER_MS: Final = 10**6
_MS_MAX: Final = 10**12


@dataclass(frozen=True)
class Opportunities:
    """When packets may depart, within a period that repeats."""

    times_ns: tuple[int, ...]
    period_ns: int

    @property
    def rate_bps(self) -> int:
        """The mean rate, rounded down."""
        return 8 * OPPORTUNITY_BYTES * len(self.times_ns) * NS_PER_S // self.period_ns


def read_trace(path: Path) -> Opportunities:
    """Read a mahimahi trace: one departure a line, in whole milliseconds."""
    times_ms: list[int] = []
    for number, line in _lines(path):
        if not (line.isascii() and line.isdecimal()) or int(line) > _MS_MAX:
            raise _wrong(path, number, line, "not a time", "a whole number of milliseconds")
        if times_ms and int(line) < times_ms[-1]:
            valid = f"at least {times_ms[-1]}"
            raise _wrong(path, number, line, "earlier than the line before it", valid)
        times_ms.append(int(line))
    if not times_ms or times_ms[-1] == 0:
        raise InputError(
            "the last line of a trace is its period, which is more than 0",
            value=str(path),
            valid="a trace of one whole number of milliseconds a line",
        )
    return Opportunities(tuple(time * _NS_PER_MS for time in times_ms), times_ms[-1] * _NS_PER_MS)


@dataclass(frozen=True)
class Distribution:
    """Sizes in bytes with the share of what is not larger; linear in between."""

    points: tuple[tuple[int, Fraction], ...]

    @property
    def mean(self) -> Fraction:
        """The mean in bytes."""
        size, share = self.points[0]
        steps = [
            (upper - lower) * Fraction(small + large, 2)
            for (small, lower), (large, upper) in pairwise(self.points)
        ]
        return size * share + sum(steps, Fraction())

    def at(self, share: Fraction) -> int:
        """Return the size which this share of all is not larger than, at least one byte."""
        if share <= self.points[0][1]:
            return max(1, self.points[0][0])
        (small, lower), (large, upper) = next(
            (below, above) for below, above in pairwise(self.points) if share <= above[1]
        )
        return max(1, int(small + (large - small) * (share - lower) / (upper - lower)))


def read_distribution(path: Path) -> Distribution:
    """Read a distribution: a size and the share of what is not larger on each line."""
    points: list[tuple[int, Fraction]] = []
    for number, line in _lines(path):
        try:
            size, share = line.split()
            point = parse_bytes(size), parse_fraction(share)
        except ValueError:
            raise _wrong(
                path, number, line, "not a point", "a size and a share: 10kb 0.5"
            ) from None
        if point[1] > 1 or (points and (point[0] < points[-1][0] or point[1] < points[-1][1])):
            valid = "sizes and shares that do not fall, up to a share of 1"
            raise _wrong(path, number, line, "not in order", valid)
        points.append(point)
    if not points or points[-1][1] != 1 or points[-1][0] == 0:
        raise InputError(
            "does not end at a share of 1", value=str(path), valid="a last line 10mb 1"
        )
    return Distribution(tuple(points))


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines that say something, with their numbers."""
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not a text"
        raise InputError(
            f"cannot read it: {reason}",
            value=str(path),
            valid="a file, relative to the one that names it",
        ) from None
    if text.count("\n") > _LINES_MAX:
        raise InputError("too long", value=str(path), valid=f"at most {_LINES_MAX} lines")
    for number, line in enumerate(text.splitlines(), start=1):
        content = line.partition("#")[0].strip()
        if content:
            yield number, content


def _wrong(path: Path, number: int, line: str, problem: str, valid: str) -> InputError:
    return InputError(f"{problem} in line {number} of {path}", value=line, valid=valid)
