"""Dumbbell: the gym for TCP congestion control.

>>> import dumbbell
>>> run = dumbbell.simulate("two-flows.toml")
>>> run.flows                # samples as a Polars frame
>>> run.chart("cwnd")        # an Altair chart
>>> run.series("goodput")    # over time
>>> run.measure("goodput[1]", "rtt_p95_ms")
>>> run.perturb()            # how much depends on the phase of packets

>>> compared = dumbbell.compare(["reno", "cubic"], rate="100mbit", rtt="40ms")
>>> compared.summary(), compared.chart("tradeoff")

>>> contest = dumbbell.compete("bbr3:4", "cubic:4", rate="50mbit", rtt="50ms")
>>> contest.verdict          # who harms whom

>>> checklist = dumbbell.checklist("./my_cc.c", quick=True)
>>> checklist.verdict        # which clauses of RFC 9743 fail

>>> found = dumbbell.score("./my_cc.c", suite="internet-1")
>>> found.value, found.problems  # one number, and what is wrong

>>> results = dumbbell.run_study("li2007", quick=True)
>>> results.table("fairness", ["ratio_min_max", "goodput_mbit_per_s[2]@late"])
>>> results.claims().to_frame()
>>> results.report("report")
"""

# ruff: noqa: F405 - all names come by the star

from __future__ import annotations

import importlib
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # Type checkers see here what `__getattr__` imports.
    from dumbbell.api import *  # noqa: F403

__all__ = [
    "Advice",
    "BbrCases",
    "Checklist",
    "Checks",
    "Claims",
    "Comparison",
    "Contest",
    "Hunt",
    "InputError",
    "Measurement",
    "Results",
    "Run",
    "Scenario",
    "Score",
    "Spreads",
    "Store",
    "Study",
    "Sweep",
    "Tuning",
    "Validation",
    "advise",
    "bbr_cases",
    "check",
    "checklist",
    "claims",
    "compare",
    "compete",
    "hunt",
    "latencies",
    "list_quantities",
    "open_results",
    "open_run",
    "perturb",
    "read_measurement",
    "report",
    "run_study",
    "score",
    "series",
    "simulate",
    "sweep",
    "take",
    "tune",
    "validate",
]

_RENAMED = {"run": "run_study"}
"""Old name -> new name; the old ones go with the next version."""


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, as importing all of them takes a second."""
    if name == "__version__":
        return importlib.import_module("importlib.metadata").version("dumbbell")
    if name in _RENAMED:
        new = _RENAMED[name]
        warnings.warn(f"use dumbbell.{new}, not {name}", DeprecationWarning, stacklevel=2)
        return __getattr__(new)
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module("dumbbell.api"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
