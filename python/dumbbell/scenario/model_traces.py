"""Traces of rates, delays and losses: files that a scenario names."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from pydantic import Field, PrivateAttr, ValidationInfo, model_validator

from dumbbell.base.errors import InputError, placed, printable
from dumbbell.base.units import WholeDelay, format_time
from dumbbell.scenario import path_traces
from dumbbell.scenario.path_traces import Epoch
from dumbbell.scenario.tables import Table
from dumbbell.scenario.traces import (
    STEPS_MAX,
    Opportunities,
    read_delays,
    read_epochs,
    read_losses,
    read_trace,
)


class File(Table):
    """A table that names a file, relative to the file that names it."""

    def _path(self, key: str, info: ValidationInfo) -> Path:
        """Return the path of the file that a key names, which becomes the key's value."""
        folder: Path = (info.context or {}).get("folder", Path())
        path: Path = (folder / getattr(self, key)).absolute()
        # Models are frozen. The whole path makes the scenario mean the same in another folder.
        object.__setattr__(self, key, str(path))
        return path


class Trace(File):
    """A rate recorded as a trace in the format of mahimahi or of TheaterQ."""

    trace: str = Field(examples=["cellular.trace", "leo.csv"])
    """The file, relative to the one that names it. In the format of mahimahi it has one line for
    each packet of 1504 bytes that may depart, with its time in whole milliseconds. The last line is
    the period after which the trace begins again. Its mean rate is 12.032 Tbit/s at most, and it
    has 2 million lines at most. In a CSV file of TheaterQ, the column `RATE` counts."""

    _opportunities: Opportunities | None = PrivateAttr(None)
    _epochs: tuple[Epoch, ...] = PrivateAttr(())

    @model_validator(mode="after")
    def _read(self, info: ValidationInfo) -> Self:
        with placed(key="trace"):
            path = self._path("trace", info)
            self._epochs = read_epochs(path) or ()
            path_traces.check_rates(self._epochs, str(path))
            if not self._epochs:
                self._opportunities = read_trace(path)
        return self

    @property
    def opportunities(self) -> Opportunities | None:
        """The opportunities in the file; None if it has rates."""
        return self._opportunities

    @property
    def mean_bps(self) -> int:
        """The mean rate, rounded down."""
        if self._opportunities is not None:
            return self._opportunities.rate_bps
        total_us = sum(epoch.keep_us for epoch in self._epochs)
        return sum(epoch.keep_us * epoch.rate_bps for epoch in self._epochs) // total_us

    def steps(self, duration_ns: int) -> list[list[Any]]:
        """Return the rates of a file that has such, as `_Series.steps` does."""
        return _steps(self._epochs, lambda epoch: epoch.rate_bps, duration_ns)


def _steps(
    epochs: tuple[Epoch, ...], value: Callable[[Epoch], Any], duration_ns: int
) -> list[list[Any]]:
    """Return one column with the times from which its values hold, until the duration."""
    period_ns = sum(epoch.keep_ns for epoch in epochs)
    # Counted before they are made: a short trace in a long run could take all memory.
    lines = max(1, -(-duration_ns // period_ns)) * len(epochs)
    if lines > STEPS_MAX:
        raise InputError(
            f"a run of {format_time(duration_ns)} takes {lines:,} lines",
            key="trace",
            value=f"{len(epochs):,} lines of {format_time(period_ns)}",
            valid=f"at most {STEPS_MAX:,} lines: a shorter duration, or a longer trace",
        )
    return path_traces.repeated([(epoch.keep_ns, value(epoch)) for epoch in epochs], duration_ns)


class _Series(File):
    """Values recorded at a regular interval, a line each, or a column of a trace of a path."""

    interval: WholeDelay | None = Field(None, examples=["10ms"])
    """Time for which each line is valid; a CSV file of TheaterQ contains times. After the last line
    the trace begins again."""

    _values: tuple[Any, ...] = PrivateAttr(())
    _epochs: tuple[Epoch, ...] = PrivateAttr(())

    def _read_values(self, info: ValidationInfo, read: Callable[[Path], tuple[Any, ...]]) -> None:
        path = self._path("trace", info)
        with placed(key="trace"):
            self._epochs = read_epochs(path) or ()
            if not self._epochs:
                self._values = read(path)
        if self._epochs and self.interval is not None:
            raise InputError(
                f"{printable(path.name)} has its own times",
                key="interval", value=format_time(self.interval), valid="no such key here",
            )  # fmt: skip
        if not self._epochs and self.interval is None:
            raise InputError(
                "is missing", key="interval", valid="the time that each line holds, such as 10ms"
            )

    @abstractmethod
    def _column(self, epoch: Epoch) -> Any:
        """Return the value of an epoch."""

    def steps(self, duration_ns: int) -> list[list[Any]]:
        """Return the values with the times from which they hold, until the duration.

        Lines that repeat the value before them are left out. The first pass is always whole.
        """
        if self.interval is None:
            return _steps(self._epochs, self._column, duration_ns)
        lines = max(len(self._values), -(-duration_ns // self.interval))
        if lines > STEPS_MAX:
            longest = format_time(STEPS_MAX * self.interval)
            raise InputError(
                f"a run of {format_time(duration_ns)} takes {lines:,} lines",
                key="interval",
                value=format_time(self.interval),
                valid=f"at most {STEPS_MAX:,} lines: a duration of at most {longest}",
            )
        return path_traces.repeated([(self.interval, value) for value in self._values], duration_ns)


class DelayTrace(_Series):
    """A one-way delay recorded as a trace."""

    trace: str = Field(examples=["delay.txt", "leo.csv"])
    """The file, relative to the one that names it: a delay in milliseconds on each line. In a CSV
    file of TheaterQ, the columns `LATENCY` and `ROUTE_ID` count."""

    @model_validator(mode="after")
    def _read(self, info: ValidationInfo) -> Self:
        self._read_values(info, read_delays)
        return self

    def _column(self, epoch: Epoch) -> int:
        return epoch.latency_ns

    def routes(self, duration_ns: int) -> list[list[int]]:
        """Return the numbers of routes with the times from which these are taken."""
        if self.interval is not None:
            return [[0, 0]]
        return _steps(self._epochs, lambda epoch: epoch.route, duration_ns)


class LossTrace(_Series):
    """A share of lost packets recorded as a trace."""

    trace: str = Field(examples=["loss.txt", "leo.csv"])
    """The file, relative to the one that names it: a share from 0 to 1, or in per cent, on each
    line. In a CSV file of TheaterQ, the column `LOSS` counts."""

    @model_validator(mode="after")
    def _read(self, info: ValidationInfo) -> Self:
        self._read_values(info, read_losses)
        if self._epochs and all(epoch.loss == path_traces.ALL for epoch in self._epochs):
            raise InputError(
                "nothing ever passes", key="trace", value=self.trace,
                valid=f"a LOSS of less than {path_traces.ALL} on some line",
            )  # fmt: skip
        return self

    def _column(self, epoch: Epoch) -> float:
        return epoch.loss / path_traces.ALL
