"""Traces of rates, delays and losses: files that a scenario names."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

from pydantic import Field, PrivateAttr, ValidationInfo, model_validator

from dumbbell.base.errors import InputError, placed
from dumbbell.base.units import WholeDelay, format_time
from dumbbell.scenario.tables import Table
from dumbbell.scenario.traces import (
    STEPS_MAX,
    Opportunities,
    read_delays,
    read_losses,
    read_trace,
)


class _File(Table):
    """A table that names a file, relative to the file that names it."""

    def _path(self, name: str, info: ValidationInfo) -> Path:
        """Return the file's path, which becomes the value of `trace`."""
        folder: Path = (info.context or {}).get("folder", Path())
        path = (folder / name).absolute()
        object.__setattr__(self, "trace", str(path))
        return path


class Trace(_File):
    """A rate recorded as a trace in the format of mahimahi."""

    trace: str = Field(examples=["cellular.trace"])
    """The file, relative to the one that names it: one line for each packet of 1504 bytes that may
    depart, with its time in whole milliseconds. The last line is the period after which the trace
    begins again. Its mean rate is 12.032 Tbit/s at most, and it has 2 million lines at most."""

    _opportunities: Opportunities = PrivateAttr()

    @model_validator(mode="after")
    def _read(self, info: ValidationInfo) -> Self:
        with placed(key="trace"):
            self._opportunities = read_trace(self._path(self.trace, info))
        return self

    @property
    def opportunities(self) -> Opportunities:
        """The opportunities in the file."""
        return self._opportunities


class _Series(_File):
    """Values recorded at a regular interval, a line each."""

    interval: WholeDelay = Field(examples=["10ms"])
    """Time that each line holds. After the last line the trace begins again."""

    _values: tuple[float, ...] = PrivateAttr()

    def steps(self, duration_ns: int) -> list[list[Any]]:
        """Return the values with the times from which they hold, until the duration.

        Lines that repeat the value before them are left out. The first pass is always whole.
        """
        lines = max(len(self._values), -(-duration_ns // self.interval))
        if lines > STEPS_MAX:
            longest = format_time(STEPS_MAX * self.interval)
            raise InputError(
                f"a run of {format_time(duration_ns)} takes {lines:,} lines",
                key="interval",
                value=format_time(self.interval),
                valid=f"at most {STEPS_MAX:,} lines: a duration of at most {longest}",
            )
        values = self._values
        return [
            [line * self.interval, values[line % len(values)]]
            for line in range(lines)
            if line == 0 or values[line % len(values)] != values[(line - 1) % len(values)]
        ]


class DelayTrace(_Series):
    """A one-way delay recorded at a regular interval."""

    trace: str = Field(examples=["delay.txt"])
    """The file, relative to the one that names it: a delay in milliseconds on each line."""

    @model_validator(mode="after")
    def _read(self, info: ValidationInfo) -> Self:
        with placed(key="trace"):
            self._values = read_delays(self._path(self.trace, info))
        return self


class LossTrace(_Series):
    """A share of lost packets recorded at a regular interval."""

    trace: str = Field(examples=["loss.txt"])
    """The file, relative to the one that names it: a share from 0 to 1, or in per cent, on each
    line."""

    @model_validator(mode="after")
    def _read(self, info: ValidationInfo) -> Self:
        with placed(key="trace"):
            self._values = read_losses(self._path(self.trace, info))
        return self
