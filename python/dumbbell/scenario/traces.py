"""Files that a scenario names: packet traces, distributions of sizes, lists of flows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Final, TypeVar

from dumbbell.base import documents
from dumbbell.base.errors import InputError, printable
from dumbbell.base.units import (
    NS_PER_S,
    format_rate,
    format_time,
    parse_bytes,
    parse_delay,
    parse_fraction,
    parse_rate,
    parse_share,
    parse_time,
)
from dumbbell.scenario import path_traces, text_lines
from dumbbell.scenario.path_traces import Epoch

OPPORTUNITY_BYTES: Final = 1504
"""Bytes that may depart at each line of a mahimahi trace."""

RATE_MAX_BPS: Final = 8 * OPPORTUNITY_BYTES * NS_PER_S
"""The highest mean rate of a trace: a packet takes a nanosecond, as one of a flow must at least."""

STEPS_MAX: Final = 500_000
"""Values of a trace within a run, repetitions included."""

_Value = TypeVar("_Value")
_BYTES_MAX: Final = 64_000_000
_LINES_MAX: Final = 2_000_000
_NS_PER_MS: Final = 10**6
_MS_MAX: Final = 10**12
_TABLE_ENTRIES_MAX: Final = 16_384
"""More a kernel does not take."""
_TABLE_MOST: Final = 2**15 - 1
_TABLE_DIGITS: Final = 5
_TIME: Final = "a whole number of milliseconds"


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
        # Python refuses to read numbers of thousands of digits.
        if not (line.isascii() and line.isdecimal()) or len(line) > len(str(_MS_MAX)):
            raise _wrong(path, number, line, "not a time", _TIME)
        time_ms = int(line)
        if time_ms > _MS_MAX:
            raise _wrong(path, number, line, "not a time", _TIME)
        if times_ms and time_ms < times_ms[-1]:
            valid = f"at least {times_ms[-1]}"
            raise _wrong(path, number, line, "earlier than the line before it", valid)
        times_ms.append(time_ms)
    if not times_ms or times_ms[-1] == 0:
        raise InputError(
            "the last line of a trace is its period, which is more than 0",
            value=str(path),
            valid="a trace of one whole number of milliseconds a line",
        )
    opportunities = Opportunities(
        tuple(time * _NS_PER_MS for time in times_ms), times_ms[-1] * _NS_PER_MS
    )
    if opportunities.rate_bps > RATE_MAX_BPS:
        raise InputError(
            f"the trace has a mean rate of {format_rate(opportunities.rate_bps)}",
            value=str(path),
            valid=f"at most {format_rate(RATE_MAX_BPS)}: fewer lines, or a longer period",
        )
    return opportunities


def read_epochs(path: Path) -> tuple[Epoch, ...] | None:
    """Read a trace of a whole path, as TheaterQ has them; None if the file is another one."""
    text = _text(path)
    if not path_traces.is_path_trace(text):
        return None
    try:
        return path_traces.parse(text, lambda line: f"line {line} of {printable(str(path))}")
    except InputError as error:
        # The source of an error is the scenario.
        problem = f"{error.problem} in {error.source}"
        raise replace(error, problem=problem, source=None) from None


def read_table(path: Path) -> tuple[int, ...]:
    """Read a table of netem (*.dist): numbers in units of the deviation divided by 8192."""
    valid = f"whole numbers from {-_TABLE_MOST - 1} to {_TABLE_MOST}, apart by blanks"
    numbers: list[int] = []
    for number, line in _lines(path):
        for word in line.split():
            digits = word.removeprefix("-")
            is_number = digits.isascii() and digits.isdecimal() and len(digits) <= _TABLE_DIGITS
            if not is_number or not -_TABLE_MOST - 1 <= int(word) <= _TABLE_MOST:
                raise _wrong(path, number, word, "not a number of a table", valid)
            numbers.append(int(word))
    if not 1 <= len(numbers) <= _TABLE_ENTRIES_MAX:
        raise InputError(
            f"{len(numbers)} numbers in {printable(str(path))}", value=str(path),
            valid=f"from 1 to {_TABLE_ENTRIES_MAX} numbers",
        )  # fmt: skip
    return tuple(numbers)


def read_delays(path: Path) -> tuple[int, ...]:
    """Read delays in milliseconds, one a line, as nanoseconds."""
    valid = "milliseconds, from 0 to a day: 12 or 12.5"
    return _series(path, lambda line: parse_delay(f"{line}ms"), valid)


def read_losses(path: Path) -> tuple[float, ...]:
    """Read shares of lost packets, one a line."""
    shares = _series(path, parse_share, "a share from 0 to 1, or in per cent: 0.01 or 1%")
    if min(shares) == 1:
        raise InputError(
            "nothing ever passes", value=str(path), valid="a share of less than 1 on some line"
        )
    return shares


def _series(path: Path, parse: Callable[[str], _Value], valid: str) -> tuple[_Value, ...]:
    """Read a file with a value on each line, which holds for an interval."""
    values = []
    blank = None
    for number, line in text_lines.numbered(_text(path)):
        if not line:
            blank = blank or number
            continue
        if blank is not None:
            # Left out, it would move all later values to an earlier time.
            problem = f"a blank line before a value in line {blank} of {printable(str(path))}"
            raise InputError(problem, valid=f"on each line {valid}")
        try:
            values.append(parse(line))
        except ValueError:
            raise _wrong(path, number, line, "not a value", valid) from None
    if not values:
        raise InputError("empty", value=str(path), valid=f"on each line {valid}")
    return tuple(values)


@dataclass(frozen=True)
class Distribution:
    """Sizes in bytes, each with the share of sizes that are not larger; linear between them."""

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
        # The first size has all of its share; before it there is nothing to interpolate with.
        if share <= self.points[0][1]:
            return max(1, self.points[0][0])
        (small, lower), (large, upper) = next(
            (below, above) for below, above in pairwise(self.points) if share <= above[1]
        )
        return max(1, int(small + (large - small) * (share - lower) / (upper - lower)))


def read_distribution(path: Path) -> Distribution:
    """Read a distribution: each line has a size, and the share of sizes that are not larger."""
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


def read_arrivals(path: Path, most: int) -> tuple[tuple[int, int], ...]:
    """Read when flows start, in ns, and how much each sends: a line each, in order of time."""
    flows: list[tuple[int, int]] = []
    for number, line in _lines(path):
        try:
            time, size = line.split()
            arrival = parse_time(time), parse_bytes(size)
        except ValueError:
            valid = "a time and a size: 12.5ms 10kb"
            raise _wrong(path, number, line, "not an arrival", valid) from None
        if flows and arrival[0] < flows[-1][0]:
            valid = f"at least {format_time(flows[-1][0])}"
            raise _wrong(path, number, line, "earlier than the line before it", valid)
        if arrival[1] == 0:
            raise _wrong(path, number, line, "nothing to send", "at least 1 byte")
        if len(flows) == most:
            raise _wrong(path, number, line, "too many flows", f"at most {most}")
        flows.append(arrival)
    if not flows:
        raise InputError(
            "nothing arrives", value=str(path), valid="a time and a size on each line: 12.5ms 10kb"
        )
    return tuple(flows)


def read_rates(path: Path) -> tuple[tuple[int, int], ...]:
    """Read rates in bits per second with the times in ns from which they hold: a line each."""
    steps: list[tuple[int, int]] = []
    for number, line in _lines(path):
        try:
            time, rate = line.split()
            step = parse_time(time), parse_rate(rate)
        except ValueError:
            valid = "a time and a rate: 2.5s 3mbit"
            raise _wrong(path, number, line, "not a rate from a time on", valid) from None
        least = steps[-1][0] + 1 if steps else 0
        if step[0] < least or (not steps and step[0] > 0):
            valid = f"at least {format_time(least)}" if steps else "0s, for the beginning"
            raise _wrong(path, number, line, "not in order", valid)
        if len(steps) == STEPS_MAX:
            raise _wrong(path, number, line, "too many rates", f"at most {STEPS_MAX}")
        steps.append(step)
    if not any(rate for _, rate in steps):
        raise InputError(
            "nothing is ever sent", value=str(path), valid="on some line a rate of more than 0bit"
        )
    return tuple(steps)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines that say something, with their numbers."""
    return ((number, line) for number, line in text_lines.numbered(_text(path)) if line)


def _text(path: Path) -> str:
    valid = "a file, relative to the one that names it"
    text = documents.read_text(path, _BYTES_MAX, named=str(path), valid=valid)
    if text.count("\n") > _LINES_MAX:
        raise InputError("too long", value=str(path), valid=f"at most {_LINES_MAX} lines")
    return text


def _wrong(path: Path, number: int, line: str, problem: str, valid: str) -> InputError:
    place = f"line {number} of {printable(str(path))}"
    return InputError(f"{problem} in {place}", value=line, valid=valid)
