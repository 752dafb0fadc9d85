"""Forks of studies: changes, figures and claims that follow, and the original next to them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from inline_snapshot import snapshot

import small_study
from command_line import Command, assert_refused, line
from dumbbell.algorithms import catalogue
from dumbbell.base.errors import InputError
from dumbbell.experiments.forks import content, forking
from dumbbell.experiments.forks.content import Fork
from dumbbell.plan.expanding import scenarios
from dumbbell.results.campaign import Campaign
from dumbbell.results.plans import Plan
from dumbbell.results.results import Results
from dumbbell.scenario.changes import Change
from dumbbell.study.experiment_names import FOLDER
from dumbbell.study.model import Study


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return small_study.write(tmp_path / "study")


def forked(study: Study, *changes: str, name: str | None = None) -> Fork:
    return content.fork(study, [Change.parse(text) for text in changes], name)


def test_a_figure_and_its_claims_follow_to_another_value_of_an_axis(study: Study) -> None:
    fork = forked(study.part(["fig2"]), "rtt=30ms")
    ours = fork.study
    assert ours.name.startswith("study-fig2-rtt-30ms-")
    assert ours.header.changes == ("rtt=30ms",)
    (test,) = ours.tests
    assert test.axes["rtt"] == ("30ms",)
    assert test.axes["rate"] == ("5mbit", "10mbit")  # A01 looks at all of them
    assert {run.resolved.scenario.duration_ns for run in ours.runs()} == {12_000_000_000}
    (claim,) = ours.claims
    assert claim.statement == "expectation"
    assert (claim.text, claim.expectation) == snapshot(
        (
            "With rtt = 30ms, what the authors state for theirs: “The link is used by at least half.”",
            "of the fork, of which the authors say nothing: utilisation of at least 0.25",
        )
    )


def test_a_file_that_an_axis_names_is_one_of_the_current_folder(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.c").write_text(catalogue.algorithm("reno").code.replace("reno", "own"))
    (test,) = forked(study.part(["fig2"]), "algorithm=./own.c,cubic").study.tests
    assert test.axes["algorithm"] == ("own", "cubic")


def test_what_does_not_change_is_the_run_of_the_original(study: Study) -> None:
    """A fork with the study's own values has the study's own runs, key by key."""
    fork = forked(study, "rtt=20ms,40ms")
    assert fork.study.test("fairness").axes == study.test("fairness").axes
    ours = {run.key for run in scenarios(fork.study.runs(tests=["fairness"]))}
    assert ours == {run.key for run in scenarios(study.runs(tests=["fairness"]))}
    quick = {run.key for run in scenarios(fork.study.runs(quick=True, tests=["fairness"]))}
    assert quick == {run.key for run in scenarios(study.runs(quick=True, tests=["fairness"]))}


@pytest.mark.parametrize("name", ["li2007", "mani2012", "kumazoe2012"])
def test_common_tables_move_into_the_tests_of_a_fork(name: str) -> None:
    study = Study.load(name)
    (axis, values), *_ = study.tests[0].axes.items()
    for part in (study.figures[0].name, study.figures[-1].name):
        original = study.part([part])
        axes = [test.axes for test in original.tests if axis in test.axes]
        same = ",".join(dict.fromkeys(value for grid in axes for value in grid[axis]))
        if any(set(grid[axis]) != set(same.split(",")) for grid in axes):
            continue
        fork = forked(original, f"{axis}={same}")
        names = [test.name for test in fork.study.tests]
        ours = {run.key for run in scenarios(fork.study.runs(runs=1))}
        theirs = {run.key for run in scenarios(original.runs(runs=1, tests=names))}
        assert ours == theirs
        assert values


def test_a_scenario_key_changes_at_every_point_in_quick_runs_too(study: Study) -> None:
    fork = forked(study, "duration=7s", "flow.2.start=3s")
    for quick in (False, True):
        for run in fork.study.runs(quick=quick):
            assert run.resolved.scenario.duration_ns == 7_000_000_000
    starts = {flow.start_ns for run in fork.study.runs() for flow in run.resolved.scenario.flows}
    assert starts == {0, 3_000_000_000}


def test_panels_follow_once_and_are_titled_by_what_they_show(study: Study) -> None:
    fork = forked(study.part(["fig3"]), "rtt=30ms,60ms")
    (figure,) = fork.content["figure"]
    assert [panel["title"] for panel in figure["panel"]] == [
        "algorithm highspeed, rate 10mbit, rtt 30ms",
        "algorithm highspeed, rate 10mbit, rtt 60ms",
    ]


def test_names_do_not_follow(study: Study) -> None:
    fork = forked(study, "algorithm=cubic,bbr")
    assert [figure.name for figure in fork.study.figures] == ["fig1", "fig2"]
    assert "overlay" not in fork.content["figure"][0] or not fork.content["figure"][0]["overlay"]
    assert [reason for reason in fork.left_out if "fig3" in reason] == snapshot(
        ["fig3 is left out: the fork has none of its runs"]
    )


def test_claims_that_compare_values_of_the_axis_are_left_out_by_name() -> None:
    fork = forked(Study.load("li2007").part(["fig8"]), "rtt=42ms")
    guide = Path(__file__).parents[2] / "docs" / "guides" / "fork.md"
    assert f"dumbbell report {fork.study.name} " in guide.read_text()
    assert "E31" not in [claim.id for claim in fork.study.claims]
    assert [reason for reason in fork.left_out if "E31" in reason] == snapshot(
        ["E31 is left out: it compares values of rtt, of which the fork has one"]
    )
    assert [test.name for test in fork.study.tests] == ["efficiency"]
    assert all(
        check["statement"] == "expectation" for c in fork.content["claim"] for check in c["check"]
    )


def test_settings_at_points_that_are_gone_are_named() -> None:
    fork = forked(Study.load("li2007").part(["fig8"]), "rate=50mbit")
    note = "efficiency: what the study sets at rate = 100mbit is not set in the fork"
    assert note in fork.left_out


@pytest.mark.parametrize(
    ("change", "key", "problem"),
    [
        ("rtx=42ms", "set.rtx", "neither an axis"),
        ("seed=3", "set.seed", "neither an axis"),
        ("network.rtt=42ms", "set.network.rtt", "is what the axis rtt of"),
        ("network.rtx=42ms", "set.network.rtx", "unknown key"),
        ("network.edge_queue=much", "set.network.edge_queue", "not the size of a queue"),
        ("rtt=soon", "set.rtt", "not a time"),
        ("rtt=", "set.rtt", "a value is missing"),
        ("rtt=20ms,20ms", "set.rtt", "same value twice"),
        ("algorithm=rneo", "set.algorithm", "unknown algorithm"),
        ("flow.3.start=1s", "set.flow.3.start", "there is no such entry"),
        ("duration.length=1s", "set.duration", "has no keys"),
    ],
)
def test_what_the_study_has_not_is_refused(
    study: Study, small: Results, change: str, key: str, problem: str
) -> None:
    campaign = Campaign(study, small.store, small.engine, Plan())
    with pytest.raises(InputError) as error:
        forking.campaign(forked(study, change), campaign, is_kept=False)
    assert error.value.source is None
    assert error.value.key == key
    assert problem in error.value.problem


@pytest.fixture
def copied(small_folder: Path, tmp_path: Path, dumbbell: Command) -> Command:
    """Return the command in a folder with the small study and its finished runs."""
    shutil.copytree(small_folder / "study", tmp_path / "studies" / "small")
    shutil.copytree(small_folder / "results", tmp_path / "results")
    return dumbbell


FORK = ("run", "small:fig2", "--set", "rtt=30ms", "--where", "rate=10mbit", "--runs", "2")


@pytest.mark.usefixtures("undrawn")
def test_a_fork_is_a_study_of_its_own_that_every_command_knows(
    copied: Command, tmp_path: Path
) -> None:
    output = copied(*FORK)
    assert output.code == 0, output.err
    name = line(output.err, "The fork is").rpartition(" ")[2]
    assert name.startswith("small-fig2-rtt-30ms-")
    assert (tmp_path / "results" / FOLDER / name / "study.toml").is_file()
    assert f"Next: dumbbell report {name}" in output.err
    assert "4 reused" in copied(*FORK).err
    assert name in copied("list", "studies").out
    listed = copied("list", "runs", "--csv").out
    assert sum(name in row for row in listed.splitlines()) == 4
    judged = copied("claims", name, "--json").json
    (claim,) = judged["claims"]
    assert claim["statement"] == "expectation"
    assert claim["verdict"] in ("expectation met", "expectation failed", "undecided")
    assert not any(judged["statements"]["number"].values())
    assert copied("open", name, "--print").out.strip().endswith("index.html")


@pytest.mark.usefixtures("unconverted")
def test_the_page_shows_the_original_on_the_same_axes(copied: Command, tmp_path: Path) -> None:
    name = line(copied(*FORK).err, "The fork is").rpartition(" ")[2]
    page = tmp_path / "report" / "index.html"
    assert copied("report", name).code == 0
    text = page.read_text()
    assert text.count("A fork of small:fig2") == 1
    assert 'id="original-fig2"' in text
    assert "Original: Fig. 2. Loss overhead" in text
    assert "Claims of the fork" in text
    assert "Statements of sources" not in text  # The same claims once more.
    folder = page.parent / "data"
    ours, theirs = (folder / f"{prefix}fig2.csv" for prefix in ("", "original-"))
    assert "30" in ours.read_text()
    assert "20" in theirs.read_text()
    assert "40" in theirs.read_text()


@pytest.mark.usefixtures("undrawn")
def test_an_original_without_runs_is_named_with_its_command(
    copied: Command, tmp_path: Path
) -> None:
    shutil.rmtree(tmp_path / "results")
    name = line(copied(*FORK).err, "The fork is").rpartition(" ")[2]
    copied("report", name)
    text = (tmp_path / "report" / "index.html").read_text()
    assert "dumbbell run small:fig2" in text
    assert "original-fig2" not in text
    copied("run", "small:fig2")
    copied("report", name)
    assert 'id="original-fig2"' in (tmp_path / "report" / "index.html").read_text()


def test_a_dry_run_keeps_nothing(copied: Command, tmp_path: Path) -> None:
    output = copied(*FORK, "--dry-run")
    assert line(output.out, "4 runs") == snapshot("4 runs, 0 of them are there")
    assert not (tmp_path / "results" / FOLDER).exists()


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--set", "rtx=1ms"), "--set: rtx"),
        (("--set", "rtt=soon"), "--set: rtt"),
        (("--set", "rtt"), "--set"),
        (("--name", "mine"), "--name: "),
    ],
)
def test_a_wrong_fork_is_refused_in_one_line(
    copied: Command, words: tuple[str, ...], problem: str
) -> None:
    output = copied("run", "small", *words)
    assert_refused(output)
    assert problem in output.err


def test_a_fork_may_have_a_name(study: Study) -> None:
    assert forked(study, "rtt=30ms", name="Mine!").study.name.startswith("mine-")
