"""Plans of a study that reports and pages name."""

from __future__ import annotations

from pathlib import Path

import pytest
from inline_snapshot import snapshot

import small_study
from command_line import Command
from dumbbell.base.errors import InputError
from dumbbell.engines.engine import SimulatorEngine
from dumbbell.execution.executor import execute
from dumbbell.judging.evidence import Verdict
from dumbbell.plan.expanding import scenarios
from dumbbell.results.plans import Plan
from dumbbell.results.results import Results
from dumbbell.store.store import Store
from dumbbell.study.model import Study


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


def test_plans_are_not_expanded_to_find_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = small_study.write(tmp_path / "study")
    results = Results(study, Store(tmp_path / "results"))
    with monkeypatch.context() as patch:
        patch.setattr(Plan, "runs_of", None)
        assert {claim.verdict for claim in results.claims()} == {Verdict.UNDECIDED}
        assert results.figure("fig3").notes == snapshot(("Not run yet: 20 ms; 40 ms.",))
        with pytest.raises(InputError, match="lossy"):
            results.quick("loss")
    small_study.run(study, tmp_path / "results", where={"rtt": "20ms"})
    run = results.stored_run("fairness", {"algorithm": "reno", "rate": "5mbit", "rtt": "20ms"})
    assert run is not None


@pytest.mark.parametrize("part", [["study:A03"], ["study", "--where", "test=lossy"]])
def test_the_repetitions_of_a_part_are_planned_of_it_alone(
    dumbbell: Command, tmp_path: Path, part: list[str]
) -> None:
    small_study.write(tmp_path / "study")
    dumbbell("run", "study", "--where", "test=fairness", "--where", "rtt=20ms", "--results", "most")
    dumbbell("run", *part, "--runs", "6", "--results", "part")
    assert dumbbell("merge", "most", "part").code == 0
    dumbbell("claims", "study", "--markdown", "page.md")
    page = (tmp_path / "page-checks.md").read_text()
    assert [one for one in page.splitlines() if one.startswith("- Runs")] == snapshot(
        ["- Runs: 10 of 18", "- Runs (test=lossy): 12 of 12, 6 of each grid point"]
    )
    # Both plan the first run of each of the two grid points.
    assert Results(Study.load("study"), Store(Path("results"))).progress == (20, 28)


def test_a_plan_of_grid_points_that_are_no_more_has_no_runs(tmp_path: Path) -> None:
    study = small_study.write(tmp_path / "study")
    store = small_study.run(study, tmp_path / "results")
    plans = [Plan(runs=3).at({axis: value}) for axis, value in (("test", "gone"), ("rtt", "1s"))]
    assert [count.planned for count in Results(study, store, plans).counts] == [0, 0]
    (count,) = Results(study, store, [Plan(runs=3).at({"rtt": ["1s", "40ms"]})]).counts
    assert count.planned == 12
    assert Plan().at({"rtt": "40ms"}) == Plan()
