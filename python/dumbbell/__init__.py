"""Dumbbell: the gym for TCP congestion control.

>>> import dumbbell
>>> run = dumbbell.simulate("two-flows.toml")
>>> run.flows          # samples as a Polars frame
>>> run.chart("cwnd")  # an Altair chart
>>> dumbbell.take(run, "goodput_mbit_per_s[1]", "rtt_p95_ms")
>>> dumbbell.series(run, "goodput_mbit_per_s")
>>> dumbbell.perturb("two-flows.toml")  # how much of it is phase

>>> study = dumbbell.run("li2007", quick=True)
>>> study.table("fairness", ["ratio_min_max", "goodput_mbit_per_s[2]@late"])
>>> dumbbell.claims("li2007")
>>> dumbbell.report("li2007")
>>> dumbbell.compare(["reno", "cubic"], rate="100mbit", rtt="40ms")
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dumbbell.api import (
        claims,
        compare,
        latencies,
        list_quantities,
        open_results,
        perturb,
        report,
        run,
        series,
        simulate,
        take,
    )
    from dumbbell.engines.result import Run
    from dumbbell.results.results import Results
    from dumbbell.scenario.model import Scenario
    from dumbbell.store.store import Store
    from dumbbell.study.model import Study

__all__ = [
    "Results",
    "Run",
    "Scenario",
    "Store",
    "Study",
    "claims",
    "compare",
    "latencies",
    "list_quantities",
    "open_results",
    "perturb",
    "report",
    "run",
    "series",
    "simulate",
    "take",
]

_HOMES = {
    **dict.fromkeys(__all__, "dumbbell.api"),
    "Results": "dumbbell.results.results",
    "Run": "dumbbell.engines.result",
    "Scenario": "dumbbell.scenario.model",
    "Store": "dumbbell.store.store",
    "Study": "dumbbell.study.model",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for: all of them take a second."""
    if name == "__version__":
        return importlib.import_module("importlib.metadata").version("dumbbell")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
