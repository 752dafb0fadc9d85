"""Engines: what turns a resolved scenario into frames and a summary."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Protocol, runtime_checkable

import numpy as np
import polars as pl

from dumbbell import _core
from dumbbell.algorithms import apart, catalogue
from dumbbell.base import keys
from dumbbell.base.errors import (
    BroughtDown,
    Cancelled,
    EngineError,
    GivenUp,
    InputError,
    TestbedError,
)
from dumbbell.base.shell import quoted
from dumbbell.contract.reading import read_summary
from dumbbell.contract.summary import Summary
from dumbbell.engines.cancelling import CancelToken
from dumbbell.scenario.resolve import ResolvedScenario

NONE_U32: Final = 0xFFFF_FFFF
"""Of 32-bit columns: no value."""

# Polars looks for NumPy when it first meets an array, and fails if two threads do so at once.
pl.Series(np.empty(0, np.uint32))


@dataclass(frozen=True)
class Output:
    """Output of one run: its summary and its tables by name.

    On request also the packets that the sending and the receiving hosts saw, as pcapng files.
    """

    summary: Summary
    tables: Mapping[str, pl.DataFrame]
    captures: tuple[bytes, bytes] | None = None


class Engine(Protocol):
    """Runs resolved scenarios.

    Results of engines with different identities are different results: the identity is part of
    their keys, and what reports call the engine. One in real time takes as long as its runs last,
    and may find one of them invalid; see `validity`.
    """

    @property
    def identity(self) -> str:
        """Identity of the engine, on which a result depends besides its scenario."""
        ...

    @property
    def real_time(self) -> bool:
        """True if a run takes as long as its scenario lasts."""
        ...

    def run(self, scenario: ResolvedScenario, cancel: CancelToken | None = None) -> Output:
        """Run one scenario to its end, or raise Cancelled."""
        ...


@runtime_checkable
class HastyEngine(Engine, Protocol):
    """An engine in real time that can stop once nothing can make a run valid."""

    def hasty(self) -> Engine:
        """Return the engine whose runs end with GivenUp as soon as that is sure."""
        ...


class SimulatorEngine:
    """Virtual time: the simulator of the compiled core.

    A scenario with a user-defined algorithm runs in another process, as that may crash.
    """

    real_time: Final = False

    @property
    def identity(self) -> str:
        """The version of what the simulator does."""
        return catalogue.ENGINE_VERSION

    def run(self, scenario: ResolvedScenario, cancel: CancelToken | None = None) -> Output:
        """Run one scenario; other Python threads run meanwhile."""
        with core_errors("simulator"):
            if scenario.scenario.sources:
                with brought_down(scenario):
                    return unpacked(apart.simulate(scenario.json, cancel))
            return unpacked(_core.simulate(scenario.json, None if cancel is None else cancel.core))


@contextmanager
def brought_down(scenario: ResolvedScenario) -> Iterator[None]:
    """Turn the end of the process that ran a scenario into BroughtDown."""
    try:
        yield
    except (apart.Died, apart.Stalled) as ended:
        names = " or ".join(scenario.scenario.sources) or "the testbed"
        remedy = f"; to find where: {_checks(scenario)}" if scenario.scenario.sources else ""
        raise BroughtDown(f"the process that ran {names} {ended}{remedy}") from None


def _checks(scenario: ResolvedScenario) -> str:
    """Return the commands that check a scenario's own algorithms."""
    sources = scenario.scenario.sources.items()
    files = [catalogue.file_of(name, code) for name, code in sources]
    return ", ".join(f"dumbbell check {quoted(file)}" for file in files)


def never_returns(scenario: ResolvedScenario, algorithm: str, hook: str) -> BroughtDown:
    """Return the error of a hook that was left in this process, as it did not return."""
    file = catalogue.file_of(algorithm, scenario.scenario.sources[algorithm])
    return BroughtDown(
        f"{file}: {hook} took {apart.STALLED_S:g} s of processor time in one call, as if a loop in "
        f"it had no end; the episode is over. To look at the file: dumbbell check {quoted(file)}"
    )


@contextmanager
def core_errors(engine: str) -> Iterator[None]:
    """Turn what the compiled core raises into errors of Dumbbell."""
    try:
        yield
    except _core.Cancelled:
        raise Cancelled("the run was cancelled") from None
    except _core.GivenUp as given_up:
        raise GivenUp(str(given_up)) from None
    except _core.TestbedError as error:
        raise TestbedError(str(error)) from None
    except _core.AlgorithmError as error:
        file, line, cause = error.args
        raise InputError(cause, source=f"{file}:{line}" if line else file) from None
    except _core.ScenarioError as error:
        key, message = error.args
        raise InputError(message, key=keys.of_core(key) or None) from None
    except BaseException as error:
        # PyO3 derives it from BaseException, and no module exports the class.
        if type(error).__name__ == "PanicException":
            raise EngineError(f"the {engine} stopped on a broken invariant: {error}") from None
        raise


def unpacked(output: _core.RunOutput | apart.RawOutput) -> Output:
    """Turn what the compiled core returns into frames."""
    captures = output.captures
    return Output(
        summary=read_summary(output.summary),
        tables={name: frame(columns) for name, columns in output.tables.items()},
        captures=None if captures is None else (captures[0], captures[1]),
    )


def frame(columns: Sequence[tuple[str, str, bytes]]) -> pl.DataFrame:
    """Turn the raw columns of one table into a frame: codes become names, "none" null."""
    return pl.DataFrame([_series(name, np.frombuffer(raw, dtype)) for name, dtype, raw in columns])


def empty_frame(table: str) -> pl.DataFrame:
    """Return a table without rows."""
    columns = catalogue.schema().tables[table]
    return frame([(column.name, column.dtype, b"") for column in columns])


def _series(name: str, values: np.ndarray[Any, Any]) -> pl.Series:
    # Expressions of Polars take longer than a short run, so none is used without need.
    if name in catalogue.schema().codes:
        # One string for each code, not one for each row: a table may have 20 million rows.
        return _names_of_codes(name)[values]
    series = pl.Series(name, values)
    if values.dtype == np.uint32 and (values == NONE_U32).any():
        return series.replace(NONE_U32, None)
    return series


@lru_cache
def _names_of_codes(column: str) -> pl.Series:
    codes = catalogue.schema().codes[column]
    return pl.Series(column, codes, dtype=pl.Enum(codes))
