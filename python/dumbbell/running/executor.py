"""Running many scenarios, each at most once, several at the same time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import Enum
from queue import Empty, SimpleQueue
from types import MappingProxyType
from typing import Final, TypeVar

from dumbbell.errors import Cancelled, DamagedResult, DumbbellError, MissingResult, StoreError
from dumbbell.running import failures, validity
from dumbbell.running.cancelling import CancelToken
from dumbbell.running.engine import Engine
from dumbbell.running.extent import NOTHING, Extent
from dumbbell.running.places import Places
from dumbbell.running.store import Store
from dumbbell.scenario.resolve import ResolvedScenario

_SIGNAL_LATENCY_S: Final = 0.2

T = TypeVar("T")


class Fate(Enum):
    """What became of a run."""

    DONE = "done"
    REUSED = "reused"
    INVALID = "invalid"
    FAILED = "failed"


@dataclass(frozen=True)
class Progress:
    """The state of an execution after one more run has come to its end.

    `ran` is how much was run so far. `fate`, `seconds` (of work; none for a
    reused run) and `warning` are about the latest run.
    """

    total: int
    done: int
    reused: int
    invalid: int
    failed: int
    ran: Extent
    latest: ResolvedScenario
    fate: Fate = Fate.DONE
    seconds: float = 0.0
    warning: str | None = None

    @property
    def finished(self) -> int:
        """Runs that need no more work."""
        return self.done + self.reused + self.invalid + self.failed

    @property
    def packets(self) -> int:
        """Data packets of all that was run so far."""
        return self.ran.packets


@dataclass(frozen=True)
class Running:
    """A run that goes on; `started_s` is a reading of `time.monotonic`."""

    scenario: ResolvedScenario
    started_s: float


@dataclass
class Outcome:
    """What became of all runs; equal scenarios count once.

    `ran` is how much was run, invalid runs included, and `held` how much of what was asked for the
    store holds now: what is done or reused.
    """

    done: list[ResolvedScenario] = field(default_factory=list)
    reused: list[ResolvedScenario] = field(default_factory=list)
    invalid: list[tuple[ResolvedScenario, tuple[str, ...]]] = field(default_factory=list)
    failed: list[tuple[ResolvedScenario, Exception]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    ran: Extent = NOTHING
    held: Extent = NOTHING


class Interrupted(DumbbellError):  # noqa: N818 - the user's wish, not a failure
    """The user stopped an execution; what was finished is kept."""

    exit_code = 130

    def __init__(self, outcome: Outcome, total: int) -> None:
        self.outcome = outcome
        kept = len(outcome.done) + len(outcome.reused) + len(outcome.invalid)
        super().__init__(
            f"interrupted: {kept} of {total} runs are kept; the same command continues"
        )


@dataclass(frozen=True)
class _Finished:
    scenario: ResolvedScenario
    fate: Fate
    ran: Extent = NOTHING
    held: Extent = NOTHING
    seconds: float = 0.0
    invalid: tuple[str, ...] = ()
    error: Exception | None = None
    warning: str | None = None


def execute(
    runs: Sequence[ResolvedScenario],
    store: Store,
    engine: Engine,
    jobs: int = 1,
    on_progress: Callable[[Progress], None] | None = None,
    *,
    retries: int = validity.RETRIES,
    places: Places = MappingProxyType({}),
    on_wait: Callable[[Sequence[Running]], None] | None = None,
) -> Outcome:
    """Run every scenario that the store does not hold yet, on `jobs` threads and in this order.

    Results are kept as those of this engine, whichever the scenarios were resolved for. A run that
    is invalid is repeated up to `retries` times; if it stays so, it is kept, named, and run again
    when it is asked for again. A run that fails does not stop the others; why it failed is
    recorded, with its place in `places` if it has one (see `failures`). A store that cannot be
    written does stop everything: its StoreError is raised. Ctrl-C stops what is running and raises
    Interrupted.

    `on_progress` is told of each run that has ended, `on_wait` a few times a second what goes on.
    """
    unique = list(dict.fromkeys(run.on(engine.identity) for run in runs))
    store.clean()
    worker = _Worker(store, engine, retries, places)
    outcome = Outcome()
    with ThreadPoolExecutor(max_workers=jobs, thread_name_prefix="run") as pool:
        futures = [pool.submit(worker.bring, scenario) for scenario in unique]
        waiting = None if on_wait is None else lambda: on_wait(worker.running())
        try:
            for result in in_order_of_completion(futures, waiting):
                _count(outcome, result)
                if on_progress is not None:
                    on_progress(_progress(outcome, len(unique), result))
        except BaseException as error:
            worker.cancel.cancel()
            pool.shutdown(cancel_futures=True)
            if isinstance(error, KeyboardInterrupt):
                raise Interrupted(_finished(futures), len(unique)) from None
            raise
    return outcome


def in_order_of_completion(
    futures: Sequence[Future[T]], on_wait: Callable[[], None] | None = None
) -> Iterator[T]:
    """Yield results as they come, and never be deaf to a signal for long.

    Libraries have handlers of their own for Ctrl-C, after which a plain wait would go on.
    """
    ended: SimpleQueue[Future[T]] = SimpleQueue()
    for future in futures:
        future.add_done_callback(ended.put)
    left = len(futures)
    while left:
        try:
            future = ended.get(timeout=_SIGNAL_LATENCY_S)
        except Empty:
            pass
        else:
            left -= 1
            yield future.result()
        if on_wait is not None:
            on_wait()


def _finished(futures: Sequence[Future[_Finished]]) -> Outcome:
    """Return what is finished once all threads have stopped."""
    outcome = Outcome()
    for future in futures:
        if not future.cancelled() and future.exception() is None:
            _count(outcome, future.result())
    return outcome


class _Worker:
    """Brings results into the store, on several threads; keeps nothing of them in memory."""

    def __init__(self, store: Store, engine: Engine, retries: int, places: Places) -> None:
        self.cancel = CancelToken()
        self._store = store
        self._engine = engine
        self._retries = retries
        self._places = places
        self._lock = threading.Lock()
        self._running: dict[str, Running] = {}

    def running(self) -> list[Running]:
        """Return what goes on, the longest first."""
        with self._lock:
            return list(self._running.values())

    def bring(self, scenario: ResolvedScenario) -> _Finished:
        """Bring one scenario's result into the store."""
        warning = None
        if self._store.has(scenario.key):
            try:
                reused = self._reused(scenario)
            except MissingResult:
                pass  # another process is replacing it
            except DamagedResult as error:
                warning = str(error)
            else:
                if reused is not None:
                    return reused
        with self._lock:
            self._running[scenario.key] = Running(scenario, time.monotonic())
        try:
            return self._run(scenario, warning)
        finally:
            with self._lock:
                del self._running[scenario.key]

    def _reused(self, scenario: ResolvedScenario) -> _Finished | None:
        """Return what is there if it is intact and valid."""
        found = self._store.verify(scenario.key)
        if validity.reasons(found["summary"]):
            return None
        failures.forget(self._store, scenario.key)
        size_bytes = self._store.size_bytes(scenario.key, found)
        held = Extent.of(scenario.data, found["summary"], size_bytes)
        return _Finished(scenario, Fate.REUSED, held=held)

    def _run(self, scenario: ResolvedScenario, warning: str | None) -> _Finished:
        began_s = time.monotonic()
        ran = held = NOTHING
        why: tuple[str, ...] = ()
        try:
            for output in validity.attempts(self._engine, scenario, self.cancel, self._retries):
                size_bytes = self._store.put(scenario, output)
                held = Extent.of(scenario.data, output.summary, size_bytes)
                ran += held
                why = validity.reasons(output.summary)
        except (StoreError, Cancelled):
            raise
        except Exception as error:  # the others go on, whatever went wrong here
            failures.record(self._store, scenario, self._places.get(scenario.key), error)
            error.__traceback__ = None  # it would keep the run in memory
            return _Finished(scenario, Fate.FAILED, ran, error=error, warning=warning)
        failures.forget(self._store, scenario.key)
        seconds = time.monotonic() - began_s
        if why:
            warning = "\n".join(filter(None, (warning, validity.described(scenario, why))))
            return _Finished(
                scenario, Fate.INVALID, ran, seconds=seconds, invalid=why, warning=warning
            )
        return _Finished(scenario, Fate.DONE, ran, held, seconds, warning=warning)


def _count(outcome: Outcome, result: _Finished) -> None:
    outcome.ran += result.ran
    outcome.held += result.held
    if result.warning is not None:
        outcome.warnings.append(result.warning)
    if result.error is not None:
        outcome.failed.append((result.scenario, result.error))
    elif result.fate is Fate.INVALID:
        outcome.invalid.append((result.scenario, result.invalid))
    elif result.fate is Fate.REUSED:
        outcome.reused.append(result.scenario)
    else:
        outcome.done.append(result.scenario)


def _progress(outcome: Outcome, total: int, latest: _Finished) -> Progress:
    return Progress(
        total=total,
        done=len(outcome.done),
        reused=len(outcome.reused),
        invalid=len(outcome.invalid),
        failed=len(outcome.failed),
        ran=outcome.ran,
        latest=latest.scenario,
        fate=latest.fate,
        seconds=latest.seconds,
        warning=latest.warning,
    )
