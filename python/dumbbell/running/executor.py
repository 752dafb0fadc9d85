"""Running many scenarios on all processors, each at most once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from dumbbell._core import CancelToken
from dumbbell.errors import Cancelled, DamagedResult, DumbbellError, StoreError
from dumbbell.running.engine import Engine
from dumbbell.running.store import Store
from dumbbell.scenario.resolve import ResolvedScenario

_SIGNAL_LATENCY_S: Final = 0.2


class Fate(Enum):
    """What became of a run."""

    DONE = "done"
    REUSED = "reused"
    FAILED = "failed"


@dataclass(frozen=True)
class Progress:
    """The state of an execution after one more run has come to its end.

    `packets` counts the data packets simulated so far, `warning` is about the latest run.
    """

    total: int
    done: int
    reused: int
    failed: int
    packets: int
    latest: ResolvedScenario
    warning: str | None = None

    @property
    def finished(self) -> int:
        """Runs that need no more work."""
        return self.done + self.reused + self.failed


@dataclass
class Outcome:
    """What became of all runs; equal scenarios count once."""

    done: list[ResolvedScenario] = field(default_factory=list)
    reused: list[ResolvedScenario] = field(default_factory=list)
    failed: list[tuple[ResolvedScenario, Exception]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


class Interrupted(DumbbellError):  # noqa: N818 - the user's wish, not a failure
    """The user stopped an execution; what was finished is kept."""

    exit_code = 130

    def __init__(self, outcome: Outcome, total: int) -> None:
        self.outcome = outcome
        kept = len(outcome.done) + len(outcome.reused)
        super().__init__(
            f"interrupted: {kept} of {total} runs are kept; the same command continues"
        )


@dataclass(frozen=True)
class _Finished:
    scenario: ResolvedScenario
    fate: Fate
    packets: int = 0
    error: Exception | None = None
    warning: str | None = None


def execute(
    runs: Sequence[ResolvedScenario],
    store: Store,
    engine: Engine,
    jobs: int = 1,
    on_progress: Callable[[Progress], None] | None = None,
) -> Outcome:
    """Run every scenario that the store does not hold yet, on `jobs` threads.

    A run that fails does not stop the others. A store that cannot be written does: its
    StoreError is raised. Ctrl-C stops the running simulations and raises Interrupted.
    """
    unique = list(dict.fromkeys(runs))
    store.clean()
    cancel = CancelToken()
    outcome = Outcome()
    packets = 0
    with ThreadPoolExecutor(max_workers=jobs, thread_name_prefix="run") as pool:
        futures = [pool.submit(_run, scenario, store, engine, cancel) for scenario in unique]
        try:
            for result in _in_order_of_completion(futures):
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


def _in_order_of_completion(futures: Sequence[Future[_Finished]]) -> Iterator[_Finished]:
    """Yield results as they come, and never be deaf to a signal for long."""
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
    scenario: ResolvedScenario, store: Store, engine: Engine, cancel: CancelToken
) -> _Finished:
    """Bring one scenario's result into the store and keep nothing of it in memory."""
    warning = None
    if store.has(scenario.key):
        try:
            store.verify(scenario.key)
        except DamagedResult as error:
            warning = str(error)
        else:
            return _Finished(scenario, Fate.REUSED)
    try:
        output = engine.run(scenario, cancel)
        store.put(scenario, output)
    except (StoreError, Cancelled):
        raise
    except Exception as error:  # the others go on, whatever went wrong here
        return _Finished(scenario, Fate.FAILED, error=error, warning=warning)
    return _Finished(scenario, Fate.DONE, int(output.summary.get("packets", 0)), warning=warning)


def _count(outcome: Outcome, result: _Finished) -> None:
    if result.warning is not None:
        outcome.warnings.append(result.warning)
    if result.error is not None:
        outcome.failed.append((result.scenario, result.error))
    elif result.fate is Fate.REUSED:
        outcome.reused.append(result.scenario)
    else:
        outcome.done.append(result.scenario)


def _progress(outcome: Outcome, total: int, packets: int, latest: _Finished) -> Progress:
    return Progress(
        total=total,
        done=len(outcome.done),
        reused=len(outcome.reused),
        failed=len(outcome.failed),
        packets=packets,
        latest=latest.scenario,
        warning=latest.warning,
    )
