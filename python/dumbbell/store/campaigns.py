"""Cost of campaigns: the size of their results, and the time and memory that they took.

Results must not depend on time, so data about time are in separate files. Each ``dumbbell run``
that runs anything keeps one, ``campaigns/STUDY-....json``, from its first run on. A campaign that
was interrupted, also by ``kill -9``, is the sum of its commands.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict

from dumbbell.base import regular
from dumbbell.base.errors import DamagedResult, MissingResult
from dumbbell.engines import validity
from dumbbell.store import notes, staging
from dumbbell.store.extent import NOTHING, Extent
from dumbbell.store.store import Store

try:
    import resource
except ImportError:  # pragma: no cover - only where the system does not count
    resource = None  # type: ignore[assignment]

FOLDER: Final = "campaigns"
_KEPT_EVERY_S: Final = 10.0


class Command(BaseModel):
    """Log of one ``dumbbell run``."""

    model_config = ConfigDict(frozen=True)

    study: str
    """Name of the study."""

    engine: str
    """Identity of the engine."""

    quick: bool
    """True if it ran the representative part only."""

    jobs: int
    """Runs at the same time."""

    started: AwareDatetime
    """When it began (UTC)."""

    wall_s: float = 0.0
    """Time until the last of its runs, in seconds."""

    runs: int = 0
    """Number of executed runs; repetitions of invalid runs included."""

    failed: int = 0
    """Runs that failed."""

    simulated_s: float = 0.0
    """Sum of its runs' durations, in simulated seconds."""

    packets: int = 0
    """Data packets that reached their receivers in its runs."""

    peak_memory_bytes: int | None = None
    """The most memory that its process had; None: the system does not say."""


class Logbook:
    """Keeps what a command does while it does it; a context manager.

    A log must not stop its command: where it cannot be written, it is not.
    """

    def __init__(self, store: Store, study: str, engine: str, *, quick: bool, jobs: int) -> None:
        started = datetime.now(UTC).replace(microsecond=0)
        self._command = Command(study=study, engine=engine, quick=quick, jobs=jobs, started=started)
        name = staging.new_path(Path()).name.removeprefix(staging.PREFIX)
        self._file = store.root / FOLDER / f"{study}-{started:%Y%m%dT%H%M%SZ}-{name}.json"
        self._began_s = time.monotonic()
        self._kept_s: float | None = None

    @property
    def command(self) -> Command:
        """The log of the command so far."""
        return self._command

    def note(self, ran: Extent, failed: int) -> None:
        """Take down what has been done so far; the store must hold something already."""
        now_s = time.monotonic()
        self._command = self._command.model_copy(
            update={
                "wall_s": now_s - self._began_s,
                "runs": ran.runs,
                "failed": failed,
                "simulated_s": ran.simulated_s,
                "packets": ran.packets,
                "peak_memory_bytes": peak_memory_bytes(),
            }
        )
        if self._kept_s is None or now_s - self._kept_s >= _KEPT_EVERY_S:
            self._keep()
            self._kept_s = now_s

    def _keep(self) -> None:
        if self._command.runs or self._command.failed:
            with suppress(OSError):
                staging.replace(self._file, self._command.model_dump_json(indent=1).encode())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._keep()


def peak_memory_bytes() -> int | None:
    """Return the most memory that this process has had; None: the system does not say.

    Linux's getrusage includes the process that started it.
    """
    if sys.platform == "linux":
        line = re.search(
            r"^VmHWM:\s+(\d+) kB$", Path("/proc/self/status").read_text(), re.MULTILINE
        )
        return int(line[1]) * 1024 if line else None
    if resource is None:
        return None
    peak: int = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


@dataclass(frozen=True)
class Effort:
    """Sum of the work of several commands.

    Attributes
    ----------
    commands
        Number of commands.
    runs, failed, simulated_s, packets, wall_s
        As of a `Command`.
    peak_memory_bytes
        The most memory that one of them had.
    """

    commands: int = 0
    runs: int = 0
    failed: int = 0
    simulated_s: float = 0.0
    packets: int = 0
    wall_s: float = 0.0
    peak_memory_bytes: int | None = None

    @classmethod
    def of(cls, commands: Iterable[Command]) -> Effort:
        """Add commands up."""
        alone = (
            cls(
                1,
                command.runs,
                command.failed,
                command.simulated_s,
                command.packets,
                command.wall_s,
                command.peak_memory_bytes,
            )
            for command in commands
        )
        return sum(alone, cls())

    def __add__(self, other: Effort) -> Effort:
        peaks = [effort.peak_memory_bytes for effort in (self, other)]
        return Effort(
            self.commands + other.commands,
            self.runs + other.runs,
            self.failed + other.failed,
            self.simulated_s + other.simulated_s,
            self.packets + other.packets,
            self.wall_s + other.wall_s,
            max((peak for peak in peaks if peak is not None), default=None),
        )

    @property
    def packets_per_s(self) -> float | None:
        """Packets per second of wall time; None: nothing was run."""
        return self.packets / self.wall_s if self.wall_s > 0 else None


NO_EFFORT: Final = Effort()


@dataclass(frozen=True)
class Cost:
    """Size of results, and the effort to get them.

    Commands that are not known, as they ran elsewhere or before there was a log, are missing in
    `effort`; a run that was repeated counts there each time.
    """

    held: Extent = NOTHING
    effort: Effort = NO_EFFORT

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.held + other.held, self.effort + other.effort)


def cost(store: Store, study: str, engine: str, keys: Iterable[str]) -> Cost:
    """Return what those of the results `keys` that are there and valid have cost.

    Parameters
    ----------
    store
        The results folder.
    study, engine
        Name of the study and identity of the engine whose commands count.
    keys
        The runs.
    """
    return Cost(held(store, keys), Effort.of(commands(store, study, engine)))


def held(store: Store, keys: Iterable[str]) -> Extent:
    """Return how much those of the results `keys` hold that are there and valid."""
    total = Extent()
    for key in dict.fromkeys(keys):
        with suppress(MissingResult, DamagedResult):
            run = store.described(key)
            if not validity.reasons(run.summary):
                size_bytes = store.size_bytes(key)
                total += Extent.of(run.scenario.duration_ns, run.summary, size_bytes)
    return total


def commands(store: Store, study: str, engine: str) -> Iterator[Command]:
    """Yield the commands that ran a study on an engine, oldest first; unreadable logs count not."""
    for command in _readable(store, f"{study}-"):
        if (command.study, command.engine) == (study, engine):
            yield command


def latest(store: Store) -> Command | None:
    """Return the command that was begun last; None: nothing is known of any."""
    return max(_readable(store), key=lambda command: command.started, default=None)


def files(store: Store) -> Iterator[Path]:
    """Yield the logs in a results folder, by name."""
    for file in regular.files(store.root / FOLDER, ".json", below=store.root):
        if not staging.is_staging(file):
            yield file


def read(store: Store, file: Path) -> Command:
    """Return the command of one of `files`; one that is damaged or gone is a DamagedResult."""
    return notes.read(store, file, Command)


def _readable(store: Store, beginning: str = "") -> Iterator[Command]:
    with store.errors("read"):
        logs = [file for file in files(store) if file.name.startswith(beginning)]
    for file in logs:
        with suppress(DamagedResult):
            yield read(store, file)
