"""Running many scenarios, each at most once, several at the same time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, TypeVar

from dumbbell._core import CancelToken
from dumbbell.errors import Cancelled, DamagedResult, DumbbellError, StoreError
from dumbbell.running import validity
from dumbbell.running.engine import Engine
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

    `packets` counts the data packets of all runs so far, `warning` is about the latest run.
    """

    total: int
    done: int
    reused: int
    invalid: int
    failed: int
    packets: int
    latest: ResolvedScenario
    warning: str | None = None

    @property
    def finished(self) -> int:
        """Runs that need no more work."""
        return self.done + self.reused + self.invalid + self.failed


@dataclass
class Outcome:
    """What became of all runs; equal scenarios count once."""

    done: list[ResolvedScenario] = field(default_factory=list)
    reused: list[ResolvedScenario] = field(default_factory=list)
    invalid: list[tuple[ResolvedScenario, tuple[str, ...]]] = field(default_factory=list)
    failed: list[tuple[ResolvedScenario, Exception]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


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
    packets: int = 0
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
) -> Outcome:
    """Run every scenario that the store does not hold yet, on `jobs` threads.

    Results are kept as those of this engine, whichever the scenarios were resolved for. A run that
    is invalid is repeated up to `retries` times; if it stays so, it is kept, named, and run again
    when it is asked for again. A run that fails does not stop the others. A store that cannot be
    written does: its StoreError is raised. Ctrl-C stops what is running and raises Interrupted.
    """
    unique = list(dict.fromkeys(run.on(engine.identity) for run in runs))
    store.clean()
    cancel = CancelToken()
    outcome = Outcome()
    packets = 0
    with ThreadPoolExecutor(max_workers=jobs, thread_name_prefix="run") as pool:
        futures = [
            pool.submit(_run, scenario, store, engine, cancel, retries) for scenario in unique
        ]
        try:
            for result in in_order_of_completion(futures):
                packets += result.packets
                _count(outcome, result)
                if on_progress is not None:
                    on_progress(_progress(outcome, len(unique), packets, result))
        except BaseException as error:
            cancel.cancel()
            pool.shutdown(cancel_futures=True)
            if isinstance(error, KeyboardInterrupt):
                raise Interrupted(_finished(futures), len(unique)) from None
            raise
    return outcome


def in_order_of_completion(futures: Sequence[Future[T]]) -> Iterator[T]:
    """Yield results as they come, and never be deaf to a signal for long.

    Libraries have handlers of their own for Ctrl-C, after which a plain wait would go on.
    """
    pending = set(futures)
    while pending:
        done, pending = wait(pending, timeout=_SIGNAL_LATENCY_S, return_when=FIRST_COMPLETED)
        for future in done:
            yield future.result()


def _finished(futures: Sequence[Future[_Finished]]) -> Outcome:
    """Return what is finished once all threads have stopped."""
    outcome = Outcome()
    for future in futures:
        if not future.cancelled() and future.exception() is None:
            _count(outcome, future.result())
    return outcome


def _run(
    scenario: ResolvedScenario, store: Store, engine: Engine, cancel: CancelToken, retries: int
) -> _Finished:
    """Bring one scenario's result into the store and keep nothing of it in memory."""
    warning = None
    if store.has(scenario.key):
        try:
            found = store.verify(scenario.key)
        except DamagedResult as error:
            warning = str(error)
        else:
            if not validity.reasons(found["summary"]):
                return _Finished(scenario, Fate.REUSED)
    packets = 0
    why: tuple[str, ...] = ()
    try:
        for output in validity.attempts(engine, scenario, cancel, retries):
            store.put(scenario, output)
            packets += int(output.summary.get("packets", 0))
            why = validity.reasons(output.summary)
    except (StoreError, Cancelled):
        raise
    except Exception as error:  # the others go on, whatever went wrong here
        return _Finished(scenario, Fate.FAILED, error=error, warning=warning)
    if why:
        warning = "\n".join(filter(None, (warning, validity.described(scenario, why))))
        return _Finished(scenario, Fate.INVALID, packets, why, warning=warning)
    return _Finished(scenario, Fate.DONE, packets, warning=warning)


def _count(outcome: Outcome, result: _Finished) -> None:
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


def _progress(outcome: Outcome, total: int, packets: int, latest: _Finished) -> Progress:
    return Progress(
        total=total,
        done=len(outcome.done),
        reused=len(outcome.reused),
        invalid=len(outcome.invalid),
        failed=len(outcome.failed),
        packets=packets,
        latest=latest.scenario,
        warning=latest.warning,
    )
