"""Checklists: known answers by short versions of the tests, and how verdicts are shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import polars as pl
import pytest
from inline_snapshot import snapshot

from command_line import line
from dumbbell.base.errors import InputError
from dumbbell.conformance import starting
from dumbbell.engines import engines
from dumbbell.experiments.checklist import Checklist, checking, suite, words
from dumbbell.experiments.checklist.content import content
from dumbbell.experiments.checklist.roles import roles
from dumbbell.experiments.checklist.suite import Suite
from dumbbell.experiments.suites.verdicts import FAILS, PASSES
from dumbbell.judging.kinds.reference import Reference
from dumbbell.reports import checklist_markdown, suite_pages
from dumbbell.scenario import facts
from dumbbell.store.store import Store
from dumbbell.study.model import Study

KNOWN = ("bbr", "vegas", "scalable", "cubic")
SHORT: dict[str, dict[str, Any]] = {
    "outage": {"runs": 2},
    "half-lost": {"runs": 2},
    "high-loss": {"where": {"flows": "10", "queue": "0.1bdp"}, "runs": 2},
    "next-to-{id}": {
        "where": {"rate": "10mbit", "rtt": "40ms", "queue": "1bdp"},
        "runs": 3,
    },
}
"""Parts of the tests that are run here."""


WHOLE: Final = suite.load()


def short() -> Suite:
    """Return a suite of four clauses with few and short runs."""
    tests = [
        {**test, "quick": SHORT[test["name"]]} for test in WHOLE.tests if test["name"] in SHORT
    ]
    return WHOLE.model_copy(
        update={
            "clauses": tuple(
                clause for clause in WHOLE.clauses if clause.id in ("S01", "S03", "M01", "M04")
            ),
            "quantities": [
                quantity for quantity in WHOLE.quantities if quantity["name"].startswith("harm")
            ],
            "tests": tests,
        }
    )


@pytest.fixture(scope="module", autouse=True)
def _short() -> Any:
    patch = pytest.MonkeyPatch()
    cut = short()
    patch.setattr(suite, "load", lambda: cut)
    yield
    patch.undo()


@pytest.fixture(scope="module")
def checklists(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Checklist]:
    """Checklists of algorithms with known answers."""
    store = tmp_path_factory.mktemp("checklist") / "results"
    lists = checking.checklist(KNOWN, quick=True, at_most=5, results=store, jobs=2)
    return {checklist.algorithm: checklist for checklist in lists}


def outcome(checklist: Checklist, clause: str) -> str:
    (judged,) = (judged for judged in checklist.clauses if judged.clause.name == clause)
    return judged.outcome


def test_the_whole_suite_is_a_study_of_any_algorithm_and_references() -> None:
    study = content(WHOLE, roles(["bbr"], ["reno", "cubic"]), flags=[])
    assert [claim["id"] for claim in study["claim"]] == [clause.id for clause in WHOLE.clauses]
    assert {test["name"] for test in study["test"]} > {"next-to-reno", "next-to-cubic", "outage"}
    text = json.dumps(study)
    for placeholder in ("{algorithms}", "{reference", "{id}"):
        assert placeholder not in text


def test_each_clause_alone_is_a_study_with_its_tests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(suite, "load", lambda: WHOLE)
    for number, clause in enumerate(WHOLE.clauses):
        store, engine = Store(tmp_path / str(number)), engines.named("simulator")
        planned = checking.campaign(
            ["bbr"], ["reno"], [clause.name], quick=True, seed=0, store=store, engine=engine
        )
        study = planned.own_results().study
        assert [claim.id for claim in study.claims] == [clause.id]
        (claim,) = study.claims
        tests = {check.test for check in claim.checks if isinstance(check, Reference)}
        assert tests == {test.name for test in study.tests}
        assert planned.ordered


@pytest.mark.parametrize(
    ("algorithm", "clause"),
    [
        ("bbr", "high-loss"),  # RFC 9743, 5.1.3, names it
        ("bbr", "harm"),
        ("scalable", "harm"),
        ("vegas", "coexistence"),
    ],
)
def test_what_is_known_to_fail_fails(
    checklists: dict[str, Checklist], algorithm: str, clause: str
) -> None:
    assert outcome(checklists[algorithm], clause) == FAILS


def test_cubic_passes_and_vegas_harms_nobody(checklists: dict[str, Checklist]) -> None:
    assert {judged.outcome for judged in checklists["cubic"].clauses} == {PASSES}
    assert outcome(checklists["vegas"], "harm") == PASSES
    assert {outcome(checklist, "collapse") for checklist in checklists.values()} == {PASSES}


def test_a_must_that_fails_decides(checklists: dict[str, Checklist]) -> None:
    passing = {name for name, checklist in checklists.items() if checklist.passes}
    assert passing == {"vegas", "cubic"}  # coexistence is a SHOULD
    assert words.conclusion(checklists["cubic"]) == snapshot(
        [
            "CUBIC passes all 2 MUST clauses.",
            "It passes 2 clauses without a MUST, too.",
        ]
    )
    assert words.conclusion(checklists["scalable"])[0].endswith("MUST clauses: 5.2 harm.")


def test_references_and_worst_runs_are_next_to_the_value(checklists: dict[str, Checklist]) -> None:
    frame = checklists["bbr"].frame()
    row = frame.filter(pl.col("clause") == "high-loss").row(0, named=True)
    assert row["bbr_low"] < row["bbr"] < row["bbr_high"]
    assert row["bbr_worst"] >= row["bbr"] > row["bound"] >= 0.01
    assert max(row["reno"], row["cubic"]) < row["bound"]
    assert row["where"].startswith("Shallow queues: flows 10")


def test_what_passes_by_the_bound_of_the_suite_is_wholly_within_it(
    checklists: dict[str, Checklist],
) -> None:
    passed = [
        (answer, (answer.of or {})[checklist.algorithm].mean.interval)
        for checklist in checklists.values()
        for judged in checklist.clauses
        for answer in judged.answers
        if answer.outcome == PASSES and not answer.limited_by
    ]
    assert passed
    for answer, (low, high) in passed:
        assert answer.limit is not None
        assert high <= answer.limit if answer.check.is_most else low >= answer.limit


def test_harm_is_no_other_measure_than_that_of_the_runs(checklists: dict[str, Checklist]) -> None:
    results = checklists["scalable"].results
    table = results.table("next-to-reno", ["goodput_mbit_per_s[victim]", "harm_to_reno"])
    one, alike = (
        table.filter(algorithm=name, queue="1bdp", repetition=1).row(0, named=True)
        for name in ("scalable", "reno")
    )
    expected = 1 - one["goodput_mbit_per_s[victim]"] / alike["goodput_mbit_per_s[victim]"]
    assert one["harm_to_reno"] == pytest.approx(expected)


def test_a_page_is_a_file_of_its_own(checklists: dict[str, Checklist], tmp_path: Path) -> None:
    page = tmp_path / "bbr.html"
    suite_pages.write([checklists["bbr"]], page, "dumbbell checklist bbr")
    text = page.read_text()
    assert "src=" not in text
    assert 'rel="stylesheet"' not in text
    assert line(text, "not judged<") == snapshot("<h2>Clauses that are not judged</h2>")
    assert "Multipath transport" in text
    assert text.count('<svg class="glyph"') == len(checklists["bbr"].frame())


def test_markdown_says_which_clauses_each_fails(checklists: dict[str, Checklist]) -> None:
    text = checklist_markdown.page(list(checklists.values()), "dumbbell checklist")
    (vegas,) = (line for line in text.splitlines() if line.startswith("| vegas |"))
    assert vegas == "| vegas | none | 5.2.1 coexistence | none |"


def test_a_preset_and_a_file_are_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    starting.write("my_cc")
    both = roles(["./my_cc.c", "cubic@abe"], ["reno"])
    study = content(suite.load(), both, flags=[])
    axis = study["test"][0]["axes"]["algorithm"]
    assert axis == ["./my_cc.c", "cubic/abe", "reno"]
    campaign = checking.campaign(
        ["./my_cc.c", "cubic@abe"],
        ["reno"],
        quick=True,
        seed=0,
        store=Store("results"),
        engine=engines.named("simulator"),
    )
    run = next(run for run in campaign.planned if run.axes["algorithm"] == "cubic/abe")
    assert set(facts.algorithms(run.resolved.scenario)) == {"cubic"}
    assert run.table["flow"][0]["algorithm"] == "cubic@abe"
    assert Study.load(campaign.study.name, Path("results")).name == campaign.study.name


@pytest.mark.parametrize(
    ("algorithms", "against", "key"),
    [
        (["rno"], ["reno"], "algorithm"),
        (["bbr"], ["cubc"], "against"),
        (["bbr"], [], "against"),
        (["bbr"], ["reno", "reno"], "against"),
        (["bbr", "bbr"], ["reno"], "algorithm"),
    ],
)
def test_what_is_no_algorithm_is_refused(
    algorithms: list[str], against: list[str], key: str
) -> None:
    with pytest.raises(InputError) as error:
        roles(algorithms, against)
    assert error.value.key == key
