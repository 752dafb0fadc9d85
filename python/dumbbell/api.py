"""What notebooks use: run one scenario and look at it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from dumbbell._core import CancelToken
from dumbbell.analysis.latency import latencies
from dumbbell.running.engine import SimulatorEngine
from dumbbell.running.result import Run
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve import ResolvedScenario

__all__ = ["latencies", "simulate"]


def simulate(scenario: Scenario | ResolvedScenario) -> Run:
    """Run one scenario on the simulator and return its result; Ctrl-C stops it."""
    resolved = scenario.resolve() if isinstance(scenario, Scenario) else scenario
    cancel = CancelToken()
    with ThreadPoolExecutor(max_workers=1) as pool:
        running = pool.submit(SimulatorEngine().run, resolved, cancel)
        try:
            return Run.of(resolved, running.result())
        except KeyboardInterrupt:
            cancel.cancel()
            raise
