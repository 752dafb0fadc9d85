"""What notebooks use: run one scenario and look at it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from dumbbell.analysis.latency import latencies
from dumbbell.running import engines, validity
from dumbbell.running.cancelling import CancelToken
from dumbbell.running.engine import Engine, Output
from dumbbell.running.engines import EngineName
from dumbbell.running.executor import in_order_of_completion
from dumbbell.running.result import Run
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve import ResolvedScenario

__all__ = ["latencies", "simulate"]


def simulate(
    scenario: Scenario | ResolvedScenario,
    *,
    engine: Engine | str = EngineName.SIMULATOR,
    retries: int = validity.RETRIES,
) -> Run:
    """Run one scenario and return its result; Ctrl-C stops it.

    Parameters
    ----------
    scenario
        What to run.
    engine
        "simulator", or "testbed": in real time, between hosts of this machine's kernel.
    retries
        How often a run is repeated that the testbed marks invalid. One that stays invalid says why
        in ``run.summary["testbed"]["invalid"]``.
    """
    chosen = engines.runnable(engine)
    resolved = scenario.resolve() if isinstance(scenario, Scenario) else scenario
    resolved = resolved.on(chosen.identity)
    cancel = CancelToken()

    def last() -> Output:
        *_, output = validity.attempts(chosen, resolved, cancel, retries)
        return output

    with ThreadPoolExecutor(max_workers=1) as pool:
        running = pool.submit(last)
        try:
            (output,) = in_order_of_completion([running])
        except KeyboardInterrupt:
            cancel.cancel()
            raise
    return Run.of(resolved, output)
