"""Cases of draft-ietf-ccwg-bbr: moments, verdicts, refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

import dumbbell
from dumbbell.algorithms import catalogue
from dumbbell.base.errors import InputError
from dumbbell.base.units import parse_time
from dumbbell.experiments.cases import cases, changing, suite, words
from dumbbell.experiments.cases.measures import MEASURES
from dumbbell.experiments.cases.outcome import Answer, Cases, Judged
from dumbbell.experiments.cases.reported import VARIABLES, reported
from dumbbell.experiments.cases.suite import Suite
from dumbbell.experiments.cases.trace import Trace
from dumbbell.experiments.suites.verdicts import FAILS, PASSES, UNJUDGED
from dumbbell.reports import cases_markdown, suite_pages

WHOLE = suite.load()


def only(*numbers: int) -> Suite:
    """Return the suite with some cases."""
    return WHOLE.model_copy(
        update={"cases": tuple(case for case in WHOLE.cases if case.number in numbers)}
    )


def of(cases_judged: Cases, number: int) -> Judged:
    return next(case for case in cases_judged.cases if case.case.number == number)


def check(judged: Judged, label: str) -> Answer:
    return next(answer for answer in judged.answers if answer.check.label == label)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cases")


@pytest.fixture(scope="module")
def by_algorithm(folder: Path) -> dict[str, Cases]:
    """Short cases by three algorithms."""
    names = ("bbr", "bbr3", "bbr3@draft")
    judged = cases(names, only(3, 4, 22), results=folder / "results", jobs=2)
    return {checked.algorithm: checked for checked in judged}


def test_the_suite_has_each_case_once_with_measures_and_variables_that_exist() -> None:
    assert [case.number for case in WHOLE.cases] == list(range(1, 23))
    checks = [check for case in WHOLE.cases for run in case.runs for check in run.checks]
    assert {check.measure for check in checks} <= MEASURES.keys()
    assert {check.variable for check in checks} <= {"", *VARIABLES}
    for stated in checks:
        assert bool(stated.is_in) != (stated.least is not None or stated.most is not None), stated
    assert {cause.case for cause in WHOLE.causes} <= set(range(1, 23))


def test_a_change_happens_when_the_first_pass_entered_the_state(
    by_algorithm: dict[str, Cases],
) -> None:
    judged = of(by_algorithm["bbr3@draft"], 4)
    (at_ns,) = judged.changed_at_ns
    runs = {run.test: run for run in by_algorithm["bbr3"].results.study.runs()}
    steps = runs["bbr3draft-04-drain-time"].table["network"]["rate"]
    assert [step["rate"] for step in steps] == ["100mbit", "30mbit"]
    assert parse_time(steps[1]["at"]) == at_ns
    # Data in flight stays above the BDP only if the rate falls right at that moment.
    assert check(judged, "in flight / BDP").outcome == PASSES
    assert 0.3 < at_ns / 1e9 < 1


def test_an_application_pauses_at_the_moment_and_has_no_data_left(
    by_algorithm: dict[str, Cases],
) -> None:
    judged = of(by_algorithm["bbr3"], 22)
    (at_ns,) = judged.changed_at_ns
    results = by_algorithm["bbr3"].results
    (run,) = (run for run in results.study.runs() if run.test == "bbr3-22-refill-limited")
    stored = results.store.get(run.on(results.engine.identity).resolved.key)
    flow = stored.tables["flows"]
    sent = dict(zip(flow["time_ns"].to_list(), flow["sent_segs"].to_list(), strict=True))
    step_ns = 1_000_000
    pause_ns = (at_ns // step_ns + 2) * step_ns
    assert sent[pause_ns - 10 * step_ns] < sent[pause_ns] == sent[pause_ns + 40 * step_ns]
    assert judged.outcome == PASSES


def test_a_case_passes_with_the_values_of_the_draft_alone(by_algorithm: dict[str, Cases]) -> None:
    outcomes = {name: of(checked, 3).outcome for name, checked in by_algorithm.items()}
    assert outcomes == {"bbr": FAILS, "bbr3": FAILS, "bbr3@draft": PASSES}
    gains = {
        name: check(of(checked, 3), "gain in DRAIN").measured
        for name, checked in by_algorithm.items()
    }
    assert gains == {"bbr": 88 / 256, "bbr3": 88 / 256, "bbr3@draft": 0.5}
    # DRAIN ends after three round trips, or never.
    assert check(of(by_algorithm["bbr3@draft"], 4), "after DRAIN").measured == "down"
    assert check(of(by_algorithm["bbr3"], 4), "after DRAIN").measured == "none"
    assert "drain_rounds" in words.reason(of(by_algorithm["bbr3"], 4))
    assert not by_algorithm["bbr3"].passes


def test_an_algorithm_is_not_judged_by_states_that_it_does_not_have(
    by_algorithm: dict[str, Cases],
) -> None:
    judged = of(by_algorithm["bbr"], 22)
    assert judged.outcome == UNJUDGED
    assert (words.reason(judged), words.conclusion(by_algorithm["bbr"])[-1]) == snapshot(
        ("It has no state refill.", "1 is not judged: A.22.")
    )


def test_a_round_trip_takes_the_rtt(by_algorithm: dict[str, Cases]) -> None:
    results = by_algorithm["bbr3"].results
    (run,) = (run for run in results.study.runs() if run.test == "bbr3-03-drain-inflight")
    stored = results.store.get(run.on(results.engine.identity).resolved.key)
    trace = Trace(stored, reported(catalogue.algorithm("bbr3")))
    # PROBE_CRUISE keeps the queue empty: 40 ms and the time of a packet or two.
    assert trace.rounds(1_000_000_000, 2_000_000_000) == pytest.approx(25, rel=0.05)


RENAMES = {"bbr3": "my_bbr", "BBR3": "MY_BBR"}


@pytest.fixture(scope="module")
def my_bbr(folder: Path) -> Path:
    """A user's BBR, whose estimate is a tenth too high, and whose modes have the draft's names."""
    text = (Path(__file__).parents[2] / "algorithms" / "bbr3.c").read_text()
    right = "ack->bw = cc_bw_of(rate->delivered_segs, rate->interval_us);"
    assert right in text
    text = text.replace(right, right.replace(";", " * 11 / 10;"))
    for phase in ("down", "cruise", "refill", "up"):
        text = text.replace(f'"{phase}"', f'"probe_bw_{phase}"')
    for old, new in RENAMES.items():
        text = text.replace(old, new)
    file = folder / "my_bbr.c"
    file.write_text(text)
    return file


def test_a_file_with_a_wrong_estimate_fails(my_bbr: Path, folder: Path) -> None:
    (judged,) = cases([str(my_bbr)], only(1), results=folder / "own", jobs=2)
    case = of(judged, 1)
    assert case.outcome == FAILS
    share = check(case, "max_bw / link").measured
    assert isinstance(share, float)
    assert share == pytest.approx(1.1, abs=0.01)
    assert check(case, "after STARTUP").outcome == PASSES
    page = folder / "page.html"
    suite_pages.write([judged], page, "dumbbell checklist ./my_bbr.c --suite bbr-draft")
    text = page.read_text()
    assert "Bound: 0.98 to 1.02" in text
    assert "src=" not in text


def test_a_notebook_gets_a_row_for_each_check(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = only(3)
    monkeypatch.setattr(suite, "load", lambda: short)
    judged = dumbbell.bbr_cases("bbr3", results=folder / "results", jobs=2)
    assert judged.verdict == "BBRv3 passes 0 of 1 case.\nIt fails 1: A.3."
    frame = judged.to_frame()
    assert frame["check_verdict"].to_list() == [FAILS, PASSES, PASSES, PASSES]
    assert frame["state"].to_list()[-1] == "down"
    assert "BBRv3 by the cases of" in repr(judged)
    assert judged.report(folder / "api.html").read_text().count("<h3>") == 1


def test_markdown_has_verdicts_and_measurements(by_algorithm: dict[str, Cases]) -> None:
    text = cases_markdown.page(list(by_algorithm.values()), "dumbbell checklist ...")
    assert "| A.3 | Exiting DRAIN Based on Inflight | fails | fails | passes |" in text
    assert "| A.3 | Gain of pacing in DRAIN | 0.3438 | 0.49 to 0.51 |" in text


def test_what_reports_no_states_is_refused(folder: Path) -> None:
    with pytest.raises(InputError) as error:
        cases(["bbr3", "cubic"], only(1), results=folder / "refused")
    assert str(error.value) == snapshot(
        'algorithm = "cubic": reports no states of BBR: no mode startup, drain, up, down, probe_rtt; no bw_kbit_per_s, min_rtt_us among the first 4 variables; valid: bbr, bbr3, or a C file whose .mode_names and .info_names have these (bbr3.c)'
    )
    assert not (folder / "refused").exists()


@pytest.mark.parametrize("algorithms", [["bbr3", "bbr3"], [], ["bbr4"]])
def test_what_is_no_list_of_algorithms_is_refused(algorithms: list[str], folder: Path) -> None:
    with pytest.raises(InputError) as error:
        cases(algorithms, only(1), results=folder / "refused")
    assert (error.value.key or "").startswith("algorithm")


def described(**changes: Any) -> Any:
    return reported(catalogue.algorithm("bbr3").model_copy(update=changes))


def test_states_have_the_names_of_the_draft_with_its_prefix_or_without() -> None:
    long = (
        "Startup",
        "Drain",
        "ProbeBW_DOWN",
        "probe_bw_cruise",
        "probe_refill",
        "up",
        "PROBE_RTT",
    )
    assert described(modes=long).states == suite.STATES
    assert described(modes=(*long, "mine")).states[-1] is None


def test_phases_of_one_mode_need_the_gain_of_pacing() -> None:
    assert reported(catalogue.algorithm("bbr")).has >= {"up", "down", "cruise"}
    with pytest.raises(InputError, match="no pacing_gain_x256 among the first 4 variables"):
        described(
            modes=("startup", "drain", "probe_bw", "probe_rtt"),
            info=("bw_kbit_per_s", "min_rtt_us"),
        )


def test_moments_are_written_into_a_scenario() -> None:
    change = suite.Change(state="up", set={"duration": "{t}", "network": [{"at": "{t+20ms}"}]})
    filled = changing.second({}, change, 1_500_000_000, None)  # type: ignore[arg-type]
    assert filled == {"duration": "1.5s", "network": [{"at": "1.52s"}]}
