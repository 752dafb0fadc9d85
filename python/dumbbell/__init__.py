"""Dumbbell: the gym for TCP congestion control.

>>> import dumbbell
>>> run = dumbbell.simulate(dumbbell.Scenario.load("two-flows.toml"))
>>> run.flows          # samples as a Polars frame
>>> run.chart("cwnd")  # an Altair chart
>>> dumbbell.latencies(run)  # what requests and transfers took
"""

from dumbbell.api import latencies, simulate
from dumbbell.running.result import Run
from dumbbell.running.store import Store
from dumbbell.scenario.model import Scenario
from dumbbell.study.model import Study

__all__ = ["Run", "Scenario", "Store", "Study", "latencies", "simulate"]
