"""Plans of a study that reports and pages name."""

from __future__ import annotations

from pathlib import Path

import small_study
from dumbbell.engines.engine import SimulatorEngine
from dumbbell.execution.executor import execute
from dumbbell.plan.expanding import scenarios
from dumbbell.results.plans import Plan
from dumbbell.results.results import Results


def test_plans_count_whose_runs_no_fuller_one_has(tmp_path: Path) -> None:
    study = small_study.write(tmp_path / "study")
    store = small_study.run(study, tmp_path / "results")
    default, fewer, more, none = Plan(), Plan(runs=1), Plan(runs=9), Plan(seed=5)
    counts = Results(study, store, [default, fewer, more, none]).counts
    assert [count.finished for count in counts] == [16, 8, 16, 0]
    counted = Results(study, store, [fewer, more, default, none]).counted
    assert [count.plan for count in counted] == [default]


def test_a_complete_plan_comes_before_one_that_asks_for_more(tmp_path: Path) -> None:
    study = small_study.write(tmp_path / "study")
    store = small_study.run(study, tmp_path / "results", where={"rtt": "20ms"})
    assert not execute(scenarios(study.runs(runs=1)), store, SimulatorEngine(), 2).failed
    whole, more = Plan(runs=1), Plan(runs=2)
    both = Results(study, store, [more, whole]).counted
    assert [(count.plan, count.finished == count.planned) for count in both] == [
        (more, False),
        (whole, True),
    ]


def test_without_runs_the_first_plan_counts(tmp_path: Path) -> None:
    study = small_study.write(tmp_path / "study")
    store = small_study.run(study, tmp_path / "results")
    counted = Results(study, store, [Plan(seed=5), Plan(seed=6)]).counted
    assert [count.plan.seed for count in counted] == [5]
