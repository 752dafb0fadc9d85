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
    own, fewer, more, none = Plan(), Plan(runs=1), Plan(runs=9), Plan(seed=5)
    counts = Results(study, store, [own, fewer, more, none]).counts
    assert [each.finished for each in counts] == [16, 8, 16, 0]
    told = Results(study, store, [fewer, more, own, none]).counted
    assert [each.plan for each in told] == [own]


def test_a_complete_plan_comes_before_one_that_asks_for_more(tmp_path: Path) -> None:
    study = small_study.write(tmp_path / "study")
    store = small_study.run(study, tmp_path / "results", where={"rtt": "20ms"})
    assert not execute(scenarios(study.runs(runs=1)), store, SimulatorEngine(), 2).failed
    whole, more = Plan(runs=1), Plan(runs=2)
    both = Results(study, store, [more, whole]).counted
    assert [(each.plan, each.finished == each.planned) for each in both] == [
        (more, False),
        (whole, True),
    ]


def test_without_runs_the_first_plan_counts(tmp_path: Path) -> None:
    study = small_study.write(tmp_path / "study")
    store = small_study.run(study, tmp_path / "results")
    told = Results(study, store, [Plan(seed=5), Plan(seed=6)]).counted
    assert [each.plan.seed for each in told] == [5]
