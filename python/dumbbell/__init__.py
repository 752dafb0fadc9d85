"""Dumbbell: the gym for TCP congestion control.

>>> import dumbbell
>>> run = dumbbell.simulate(dumbbell.Scenario.load("two-flows.toml"))
>>> run.flows          # samples as a Polars frame
>>> run.chart("cwnd")  # an Altair chart
"""

from dumbbell.api import simulate
from dumbbell.result import Run
from dumbbell.scenario import Scenario
from dumbbell.store import Store
from dumbbell.study import Study

__all__ = ["Run", "Scenario", "Store", "Study", "simulate"]
