"""Running many scenarios, each at most once, several at the same time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Future, wait
from dataclasses import dataclass, field
from enum import Enum
from queue import Empty, SimpleQueue
from types import MappingProxyType
from typing import Final, TypeVar

from dumbbell.base.errors import (
    BroughtDown,
    DamagedResult,
    DumbbellError,
    EngineError,
    MissingResult,
)
from dumbbell.engines import doubts, validity
from dumbbell.engines.choices import RETRIES
from dumbbell.engines.doubts import AnyDoubt
from dumbbell.engines.engine import Engine
from dumbbell.execution.pools import Pool, Running, opened
from dumbbell.execution.task import Brought, Task, received
from dumbbell.plan.places import Places, words
from dumbbell.scenario.resolve import ResolvedScenario
from dumbbell.store import failures
from dumbbell.store.extent import NOTHING, Extent
from dumbbell.store.store import Store

_SIGNAL_LATENCY_S: Final = 0.1
_PATIENCE_S: Final = 0.1
"""Time for runs to end on Ctrl-C, in seconds."""
_AHEAD: Final = 3
"""Tasks that are out for each in progress: one that runs, one on its way, one on its way back."""

T = TypeVar("T")


class Fate(Enum):
    """The outcome of a run."""

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


@dataclass
class Outcome:
    """The outcomes of all runs; equal scenarios count once.

    `left` is the number of runs that were not made, since an algorithm brought down another one.
    `ran` is the extent of the executed runs, invalid ones included. `held` is the extent of the
    requested runs that the store holds now: those done or reused. Of each of these `doubts` has
    what is doubtful.
    """

    done: list[ResolvedScenario] = field(default_factory=list)
    reused: list[ResolvedScenario] = field(default_factory=list)
    invalid: list[tuple[ResolvedScenario, tuple[str, ...]]] = field(default_factory=list)
    doubts: list[tuple[ResolvedScenario, tuple[AnyDoubt, ...]]] = field(default_factory=list)
    failed: list[tuple[ResolvedScenario, Exception]] = field(default_factory=list)
    left: int = 0
    warnings: list[str] = field(default_factory=list)
    ran: Extent = NOTHING
    held: Extent = NOTHING

    @property
    def is_plain(self) -> bool:
        """True if there is nothing to say of any run."""
        doubtful = any(doubts for _, doubts in self.doubts)
        return not (doubtful or self.invalid or self.failed or self.warnings)

    def failures(self, places: Places = MappingProxyType({})) -> list[str]:
        """Name the runs that failed, each with its reason."""
        return [
            f"{words(run, places.get(run.key))}: {str(error) or type(error).__name__}"
            for run, error in self.failed
        ]

    def raise_for_failed(self, places: Places = MappingProxyType({})) -> None:
        """Raise DumbbellError if a run failed; it names the first."""
        match self.failures(places):
            case [failure]:
                raise DumbbellError(f"a run failed: {failure}")
            case [first, *_]:
                raise DumbbellError(f"{len(self.failed)} runs failed; the first is {first}")


class Interrupted(DumbbellError):  # noqa: N818 - the user's wish, not a failure
    """The user stopped an execution; what was finished is kept."""

    exit_code = 130

    def __init__(self, outcome: Outcome, total: int) -> None:
        self.outcome = outcome
        kept = len(outcome.done) + len(outcome.reused) + len(outcome.invalid)
        super().__init__(
            f"interrupted: {kept} of {total} runs are kept; the same command continues"
        )


class _BroughtDown(Exception):  # noqa: N818 - what happened, not what to do
    """An algorithm brought a run down, and without it the others are of no use."""


class PoolLost(DumbbellError):  # noqa: N818 - what happened, not what to do
    """The workers of the tasks are gone."""


@dataclass(frozen=True)
class _Wanted:
    """A run that the store does not hold; `warning` is set if it had a damaged one."""

    scenario: ResolvedScenario
    warning: str | None = None


@dataclass(frozen=True)
class _Finished:
    scenario: ResolvedScenario
    fate: Fate
    ran: Extent = NOTHING
    held: Extent = NOTHING
    seconds: float = 0.0
    invalid: tuple[str, ...] = ()
    doubts: tuple[AnyDoubt, ...] = ()
    error: Exception | None = None
    warning: str | None = None


def execute(
    runs: Sequence[ResolvedScenario],
    store: Store,
    engine: Engine,
    jobs: int | Pool = 1,
    on_progress: Callable[[Progress], None] | None = None,
    *,
    retries: int = RETRIES,
    places: Places = MappingProxyType({}),
    on_wait: Callable[[Sequence[Running]], None] | None = None,
    whole: bool = False,
) -> Outcome:
    """Run every scenario that the store does not hold yet, in this order.

    Several run at a time in threads of this process, or where a pool takes them. Only this process
    touches the store: it installs what comes back.

    Results are kept as those of this engine, whichever the scenarios were resolved for. A run that
    is invalid is repeated up to `retries` times. If it stays so, it is kept, named, and run again
    at the next request. A run that fails does not stop the others; why it failed is recorded, with
    its place in `places` if it has one (see `failures`). A store that cannot be written does stop
    everything: its StoreError is raised. So do PoolLost, if nobody is left to run anything, and
    OtherBuild. Ctrl-C stops what is running and raises Interrupted.

    If the answer needs the `whole`, the first run that an algorithm of a user's own brings down
    ends the execution. Others of that algorithm would end likewise, each after an endless loop.

    `on_progress` is called for each run that has ended, `on_wait` a few times a second with the
    runs in progress.
    """
    # Equal scenarios have one key and so one result: grid points may meet in the same run.
    unique = list(dict.fromkeys(run.on(engine.identity) for run in runs))
    store.clean()
    owner = _Owner(store, engine, retries, places)
    outcome = Outcome()
    try:
        with opened(jobs) as pool:
            waiting = None if on_wait is None else lambda: on_wait(pool.running())
            for result in owner.bring(unique, pool, waiting):
                _count(outcome, result)
                if on_progress is not None:
                    on_progress(_progress(outcome, len(unique), result))
                if whole and isinstance(result.error, BroughtDown):
                    raise _BroughtDown
    except (KeyboardInterrupt, _BroughtDown) as stopped:
        for result in owner.rest():
            _count(outcome, result)
        if isinstance(stopped, KeyboardInterrupt):
            raise Interrupted(outcome, len(unique)) from None
        ends = (outcome.done, outcome.reused, outcome.invalid, outcome.failed)
        outcome.left = len(unique) - sum(len(ended) for ended in ends)
    return outcome


class _Owner:
    """Has a pool run the missing runs, and puts the results into the store.

    Only so many tasks are out at a time that no worker has to wait. Results that are not in the
    store yet take memory, and tasks that nobody has begun are lost work for a scheduler.
    """

    def __init__(self, store: Store, engine: Engine, retries: int, places: Places) -> None:
        self._store = store
        self._engine = engine
        self._retries = retries
        self._places = places
        self._out: dict[Future[Brought], _Wanted] = {}

    def bring(
        self,
        scenarios: Sequence[ResolvedScenario],
        pool: Pool,
        on_wait: Callable[[], None] | None,
    ) -> Iterator[_Finished]:
        """Yield what becomes of scenarios as they end."""
        ended: SimpleQueue[Future[Brought]] = SimpleQueue()
        for scenario in scenarios:
            looked_up = self._looked_up(scenario)
            if isinstance(looked_up, _Finished):
                yield looked_up
                continue
            while len(self._out) >= _AHEAD * pool.jobs:
                yield self._finish(_next(ended, on_wait))
            future = pool.submit(Task(scenario, self._engine, self._retries))
            self._out[future] = looked_up
            future.add_done_callback(ended.put)
        while self._out:
            yield self._finish(_next(ended, on_wait))

    def rest(self) -> Iterator[_Finished]:
        """Yield the runs that ended while everything was stopped, and their results."""
        wait(self._out, timeout=_PATIENCE_S)
        for future in list(self._out):
            if future.done() and not future.cancelled() and future.exception() is None:
                yield self._finish(future)

    def _looked_up(self, scenario: ResolvedScenario) -> _Finished | _Wanted:
        """Return the result that is there if it is intact and valid."""
        try:
            stored = self._store.verify(scenario.key)
        except MissingResult:
            return _Wanted(scenario)
        except DamagedResult as error:
            return _Wanted(scenario, str(error))
        if validity.reasons(stored.summary):
            return _Wanted(scenario)
        # A kill between installing a result and forgetting its earlier failure leaves the record.
        failures.forget(self._store, scenario.key)
        size_bytes = self._store.size_bytes(scenario.key)
        held = Extent.of(stored.scenario.duration_ns, stored.summary, size_bytes)
        return _Finished(
            scenario, Fate.REUSED, held=held, doubts=doubts.of(stored.scenario, stored.summary)
        )

    def _finish(self, future: Future[Brought]) -> _Finished:
        """Put the returned result into the store, if it is the one of its task."""
        request = self._out.pop(future)
        scenario, warning = request.scenario, request.warning
        scenario.forget()  # what has come back has it again
        brought, kept = received(_answer(future), scenario)
        if kept is None:
            error = brought.error or EngineError("the run came back empty")
            place = self._places.get(scenario.key)
            failures.record(self._store, scenario, place, error, brought.trace)
            return _Finished(scenario, Fate.FAILED, brought.ran, error=error, warning=warning)
        run, result = kept
        self._store.install(result)
        failures.forget(self._store, scenario.key)
        invalid = validity.reasons(run.summary)
        if invalid:
            warning_of_run = validity.described(scenario, invalid)
            warning = "\n".join(filter(None, (warning, warning_of_run)))
        return _Finished(
            scenario,
            Fate.INVALID if invalid else Fate.DONE,
            brought.ran,
            NOTHING
            if invalid
            else Extent.of(run.scenario.duration_ns, run.summary, result.size_bytes()),
            brought.seconds,
            invalid,
            () if invalid else doubts.of(run.scenario, run.summary),
            warning=warning,
        )


def _next(ended: SimpleQueue[Future[T]], on_wait: Callable[[], None] | None = None) -> Future[T]:
    """Wait for the next that ends, but never be deaf to a signal for long.

    Libraries have separate handlers for Ctrl-C, after which a plain wait would continue.
    """
    while True:
        try:
            return ended.get(timeout=_SIGNAL_LATENCY_S)
        except Empty:
            pass
        finally:
            if on_wait is not None:
                on_wait()


def _answer(future: Future[Brought]) -> object:
    """Return what came back, whatever it is; if its worker is gone, this run alone has failed."""
    try:
        return future.result()
    # Such as `OtherBuild`: it concerns every task, so the whole execution ends.
    except DumbbellError:
        raise
    except (CancelledError, BrokenExecutor) as error:
        raise PoolLost(
            "nobody is left to run anything "
            f"({str(error) or type(error).__name__}); finished runs are kept: the same command "
            "continues"
        ) from None
    except Exception as error:
        failure = EngineError(f"its worker ended: {type(error).__name__}: {error}")
        return Brought(None, NOTHING, error=failure)


def in_order_of_completion(futures: Sequence[Future[T]]) -> Iterator[T]:
    """Yield results as they come, and never be deaf to a signal for long."""
    ended: SimpleQueue[Future[T]] = SimpleQueue()
    for future in futures:
        future.add_done_callback(ended.put)
    for _ in futures:
        yield _next(ended).result()


def _count(outcome: Outcome, result: _Finished) -> None:
    outcome.ran += result.ran
    outcome.held += result.held
    if result.warning is not None:
        outcome.warnings.append(result.warning)
    if result.error is not None:
        outcome.failed.append((result.scenario, result.error))
    elif result.fate is Fate.INVALID:
        outcome.invalid.append((result.scenario, result.invalid))
    else:
        kept = outcome.reused if result.fate is Fate.REUSED else outcome.done
        kept.append(result.scenario)
        outcome.doubts.append((result.scenario, result.doubts))


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
