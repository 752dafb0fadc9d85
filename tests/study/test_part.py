"""Parts of studies: ``li2007:fig4,E10`` is what some figures and claims need."""

from __future__ import annotations

from pathlib import Path

import pytest
from inline_snapshot import snapshot

import small_study
from command_line import Command, assert_refused, line
from dumbbell.base.errors import InputError
from dumbbell.plan import grid
from dumbbell.plan.expanding import scenarios
from dumbbell.plan.tests import Test
from dumbbell.study.model import Study

DERIVED = """
[[quantity]]
name = "beside"
title = "utilisation at this RTT, and at the shorter one"
ratio = ["utilisation", { quantity = "utilisation", at = { rtt = "20ms" } }]

[[claim]]
id = "A04"
source = "Section 10"
text = "It is used as well at the longer RTT."
expectation = "at least 0.9 times"
[[claim.check]]
type = "band"
test = "fairness"
where = { rtt = "40ms", rate = "5mbit", algorithm = "reno" }
quantity = "beside"
low = 0.9

[[claim]]
id = "A05"
source = "Section 10"
text = "The BDP is 83 packets."
expectation = "83"
[[claim.check]]
type = "arithmetic"
formula = "bdp_packets"
case = [{ args = { rate_mbit = 100, rtt_ms = 10 }, expected = 83 }]
"""


@pytest.fixture
def study(tmp_path: Path) -> Study:
    small_study.write(tmp_path / "small")
    (tmp_path / "small" / "more.toml").write_text(DERIVED)
    return Study.load(tmp_path / "small")


def points(test: Test) -> set[tuple[str, ...]]:
    return {tuple(point.values()) for point in test.grid_points}


def test_a_figure_comes_with_the_claims_about_it_and_the_points_of_both(study: Study) -> None:
    part = study.part(["fig2"])
    assert [figure.name for figure in part.figures] == ["fig2"]
    assert [claim.id for claim in part.claims] == ["A01"]
    (test,) = part.tests
    assert points(test) == points(study.test("fairness"))  # A01 looks at all of them


def test_a_claim_comes_alone_with_what_its_derived_quantity_is_taken_of(study: Study) -> None:
    part = study.part(["A04"])
    assert (part.figures, [claim.id for claim in part.claims]) == ((), ["A04"])
    (test,) = part.tests
    assert points(test) == {("reno", "5mbit", "20ms"), ("reno", "5mbit", "40ms")}


def test_its_runs_are_those_of_the_whole(study: Study) -> None:
    whole = {run.key for run in scenarios(study.runs())}
    runs = scenarios(study.part(["A04"]).runs())
    assert len(runs) == 4
    assert {run.key for run in runs} < whole


def test_points_that_nothing_needs_are_left_out_of_the_grid(tmp_path: Path) -> None:
    part = small_study.write(tmp_path).part(["fig3", "A03"])
    assert [test.name for test in part.tests] == ["fairness", "lossy"]
    assert points(part.tests[0]) == {
        ("highspeed", "10mbit", "20ms"),
        ("highspeed", "10mbit", "40ms"),
    }


def test_a_grid_that_is_no_rectangle_keeps_what_was_meant() -> None:
    axes = {"algorithm": ["reno", "reno@abe", "cubic"], "rtt": ["1ms", "2ms"]}
    whole = Test.model_validate({"name": "t", "title": "T", "axes": axes})
    wanted = [{"algorithm": "reno@abe", "rtt": "1ms"}, {"algorithm": "cubic", "rtt": "2ms"}]
    assert list(whole.restricted(wanted).grid_points) == wanted
    # `without = { algorithm = "reno" }` would mean reno@abe as well.
    wanted = [{"algorithm": "reno@abe", "rtt": "1ms"}, {"algorithm": "reno", "rtt": "2ms"}]
    kept = list(whole.restricted(wanted).grid_points)
    assert all(point in kept for point in wanted)


def test_it_is_called_by_what_finds_it(study: Study) -> None:
    assert Study.load("li2007:fig4, E10").called == "li2007:fig4,E10"
    assert Study.load("li2007:fig4").name == "li2007"
    path = f"{study._files.path}:fig1"
    assert Study.load(path).called == path


def test_a_path_may_have_a_colon(tmp_path: Path) -> None:
    small_study.write(tmp_path / "a:fig1")
    assert len(Study.load(str(tmp_path / "a:fig1")).figures) == 3
    assert len(Study.load(f"{tmp_path / 'a:fig1'}:fig2").figures) == 1


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        (
            ["fig9"],
            snapshot(
                '"fig9": unknown figure or claim of small (did you mean "fig3"?); valid: fig3, fig2, fig1, A01, A02, A03, A04, A05'
            ),
        ),
        (
            [""],
            snapshot(
                '"small:": a name is missing after the colon or a comma; valid: small, or small:fig1'
            ),
        ),
        (["A05"], snapshot('"A05": needs no runs; valid: a figure or a claim that does')),
    ],
)
def test_what_is_no_part_is_refused(study: Study, names: list[str], problem: str) -> None:
    with pytest.raises(InputError) as error:
        study.part(names)
    assert str(error.value) == problem


@pytest.mark.parametrize("name", Study.names())
def test_every_figure_of_a_study_is_a_part_of_it(name: str) -> None:
    study = Study.load(name)
    for figure in study.figures:
        part = study.part([figure.name])
        assert figure.section in [test.name for test in part.tests], figure.name
        for behind in figure.behind():
            whole = study.test(behind.test).grid_points
            meant = {tuple(point.values()) for point in whole if grid.matches(point, behind.where)}
            assert meant <= points(part.test(behind.test)), figure.name


def test_a_part_is_run_judged_and_shown(dumbbell: Command, tmp_path: Path) -> None:
    small_study.write(tmp_path / "studies" / "small")
    assert line(dumbbell("run", "small:fig3", "--dry-run").out, "runs") == snapshot(
        "4 runs, 0 of them are there"
    )
    ran = dumbbell("run", "small:fig3")
    assert ran.code == 0
    assert "dumbbell report small:fig3" in ran.err
    assert dumbbell("report", "small:fig3").code == 0
    page = Path("report/figures.html").read_text()
    assert '<figure id="fig3">' in page
    assert '<figure id="fig1">' not in page
    assert "dumbbell run small:fig3" in Path("report/index.html").read_text()
    opened = dumbbell("open", "small:fig3", "--print").out.strip()
    assert opened.endswith("/report/studies/small-fig3/index.html")
    only = Path("report/studies/small-fig3/figures.html").read_text()
    assert '<figure id="fig3">' in only
    assert '<figure id="fig1">' not in only
    # The whole study has the same runs.
    whole = dumbbell("run", "small", "--where", "algorithm=highspeed", "--where", "rate=10mbit")
    assert "4 reused" in whole.err
    judged = dumbbell("claims", "small:A01", "--json").json
    assert [row["id"] for row in judged["claims"]] == ["A01"]


@pytest.mark.parametrize("where", [["rtt=40ms"], ["rtt=40ms", "algorithm=reno,highspeed"]])
def test_values_that_quick_runs_leave_out_are_refused_with_those_that_they_keep(
    dumbbell: Command, tmp_path: Path, where: list[str]
) -> None:
    small_study.write(tmp_path / "studies" / "small")
    conditions = [word for condition in where for word in ("--where", condition)]
    output = dumbbell("run", "small", "--quick", *conditions, "--dry-run")
    assert_refused(output)
    assert f'--where: "{" ".join(where)}"' in output.err
    assert output.err.partition('": ')[2] == snapshot(
        "quick runs leave this out; valid: rtt=20ms, or runs that are not quick\n"
    )


def test_conditions_that_no_run_meets_together_are_refused(
    dumbbell: Command, tmp_path: Path
) -> None:
    small_study.write(tmp_path / "studies" / "small")
    where = ("--where", "test=fairness", "--where", "rate=10mbit", "--where", "rtt=20ms")
    assert dumbbell("run", "small", *where, "--dry-run").code == 0
    Path("studies/small/study.toml").write_text(
        small_study.STUDY.replace(
            'name = "fairness"\n',
            'name = "fairness"\nwithout = [{ rate = "10mbit", rtt = "20ms" }]\n',
        )
    )
    output = dumbbell("run", "small", *where, "--quick", "--dry-run")
    assert_refused(output)
    assert output.err == snapshot(
        'error: --where: "test=fairness rate=10mbit rtt=20ms": selects no run; valid: fewer conditions\n'
    )


def test_a_wrong_part_is_refused(dumbbell: Command, tmp_path: Path) -> None:
    small_study.write(tmp_path / "studies" / "small")
    assert_refused(dumbbell("run", "small:fig4"))
    output = dumbbell("open", "small:fig3")
    assert_refused(output)
    assert output.err == snapshot(
        'error: "small:fig3": neither a study that has been run nor the beginning of a run\'s key; valid: studies: none exist\n'
    )
    assert dumbbell("run", "small:fig3").code == 0
    output = dumbbell("open", "small:fig4")
    assert_refused(output)
    assert output.err == snapshot(
        'error: "fig4": unknown figure or claim of small (did you mean "fig3"?); valid: fig3, fig2, fig1, A01, A02, A03\n'
    )
