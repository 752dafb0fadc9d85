"""The page of a study: it has only texts that verdicts bear out, and is the same in both forms."""

from __future__ import annotations

import math
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from inline_snapshot import snapshot

import small_study
from browser import Browser
from command_line import line
from dumbbell.base.errors import InputError
from dumbbell.figures import drawing
from dumbbell.judging.evidence import Verdict
from dumbbell.judging.standing import Standing
from dumbbell.reports import effect_chart, pictures, site, study_markdown, study_text
from dumbbell.reports.study_text import StudyText
from dumbbell.results import account
from dumbbell.results.account import Account
from dumbbell.results.results import Results
from dumbbell.study.model import Study
from pages_in_words import words_of

PAGE = """
[[question]]
title = "Is the link used?"
claims = ["A02", "A01"]

[[finding]]
text = "The link is never used twice over (A02)."
when = { A01 = "holds", A02 = "contradicted" }

[[finding]]
text = "The link is used twice over."
when = { A02 = "holds" }

[[decision]]
parameter = "round-trip time"
value = "20 ms"
evidence = "The text of A01 has no other."
decided = "2026-11-27"
axis = "rtt"
main = "20ms"

[[decision.tried]]
claim = "A01"
check = { type = "band", test = "fairness", where = { algorithm = "reno" }, quantity = "rtt_min_ms[1]@run", high = 30 }

[[decision]]
parameter = "colour of the cable"
stated = "blue"
value = "grey"
evidence = "Nothing hangs on it."
claims = ["A02", "A03"]

[[cause]]
title = "A link has one rate"
text = "No more leaves a link than its rate allows (test `fairness`)."
claims = ["A01", "A02"]
tests = ["fairness"]
refuted_by = "a link that is faster than its rate"

[[ask]]
text = "Was it a second link?"
claims = ["A02"]

[[ask]]
text = "Was A01 measured?"
claims = ["A01"]
"""
STATED = {
    'quantity = "utilisation", low = 0.25': "stated = 0.9",
    'quantity = "utilisation", low = 2': "stated_low = 2",
}


def written(folder: Path, page: str = PAGE) -> Study:
    """Write the small study with the texts of its page and the authors' numbers."""
    small_study.write(folder)
    text = small_study.CLAIMS
    for check, stated in STATED.items():
        text = text.replace(check, f"{check}, {stated}")
    (folder / "claims.toml").write_text(text)
    (folder / "page.toml").write_text(page)
    return Study.load(folder)


@pytest.fixture(scope="module")
def results(small: Results, tmp_path_factory: pytest.TempPathFactory) -> Results:
    return Results(written(tmp_path_factory.mktemp("written")), small.store)


@pytest.fixture(scope="module")
def report(results: Results, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of its report, which no test changes."""
    return site.write(results, tmp_path_factory.mktemp("report")).parent


@pytest.fixture(scope="module")
def judged(results: Results) -> Account:
    return account.of(results)


@pytest.fixture(scope="module")
def text(results: Results, judged: Account) -> StudyText:
    return study_text.of(results.study, judged)


def test_claims_stand_where_verdicts_and_readings_put_them(judged: Account) -> None:
    assert judged.standings == {
        "A01": Standing.READING,
        "A02": Standing.CONTRADICTED,
        "A03": Standing.OPEN,
    }
    assert judged.counts == {
        Standing.HOLDS: 0,
        Standing.READING: 1,
        Standing.TIE: 0,
        Standing.CONTRADICTED: 1,
        Standing.OPEN: 1,
    }


def test_what_hangs_on_a_decision_is_measured(judged: Account) -> None:
    tried, assumed = judged.decided
    assert list(tried.dependent) == ["A01"]
    assert list(tried.values) == ["20ms", "40ms"]
    assert [verdicts["A01"].is_good for verdicts in tried.values.values()] == [True, False]
    # None of the claims on which it bears holds.
    assert list(assumed.dependent) == []


def test_other_values_that_have_not_run_show_nothing(
    results: Results, judged: Account, tmp_path: Path
) -> None:
    (cut, *others) = judged.decided
    (main, *_) = cut.values
    undecided = dict.fromkeys(cut.values[main], Verdict.UNDECIDED)
    waiting = replace(cut, values={main: cut.values[main], "40ms": undecided}, dependent=())
    assert waiting.has_not_run
    assert not any(decided.has_not_run for decided in judged.decided)
    study_markdown.write(results, replace(judged, decided=[waiting, *others]), tmp_path / "page.md")
    page = (tmp_path / "page.md").read_text()
    assert line(page, "| round-trip time |").endswith("| not run yet |")
    assert "## Sensitivity" not in page


def test_findings_show_only_while_they_are_true(text: StudyText) -> None:
    assert text.findings == snapshot(
        [
            "The link is never used twice over (A02).",
            "1 of 1 contradicted claim has a named cause.",
            "1 claim holds only as the paper is read here.",
        ]
    )


def test_a_finding_that_a_verdict_refutes_is_not_said(small: Results, tmp_path: Path) -> None:
    page = PAGE.replace('A02 = "contradicted" }', 'A02 = "open" }')
    with_page = Results(written(tmp_path, page), small.store)
    findings = study_text.of(with_page.study, account.of(with_page)).findings
    assert not any("twice over" in sentence for sentence in findings)


def test_causes_name_the_contradicted_claims_only(text: StudyText) -> None:
    (explained,) = text.explained
    assert list(explained.claims) == ["A02"]
    assert text.unexplained == []


def test_a_cause_of_nothing_is_not_told(small: Results, tmp_path: Path) -> None:
    page = PAGE.replace('claims = ["A01", "A02"]\ntests', 'claims = ["A01"]\ntests')
    with_page = Results(written(tmp_path, page), small.store)
    text = study_text.of(with_page.study, account.of(with_page))
    assert text.explained == []
    assert text.unexplained == ["A02"]


def test_claims_come_by_question_and_the_rest_last(text: StudyText) -> None:
    groups = [(group.title, [line.claim for line in group.lines]) for group in text.groups]
    assert groups == [("Is the link used?", ["A02", "A01"]), ("Other claims", ["A03"])]


def test_numbers_are_compared_with_those_of_the_authors(text: StudyText) -> None:
    first, second = text.effects
    assert (first.theirs, first.kind) == ("90 %", "value")
    assert first.low <= first.ratio <= first.high
    assert (second.theirs, second.kind) == ("at least 200 %", "at least")
    assert 0.4 < second.ratio < 0.5
    assert text.numbers == snapshot(
        "Of 1 value that the authors state, the median of ours / theirs is 1; by a factor, 1 within 1.25 and 1 within 2. Limits and ranges that are kept: 0 of 1."
    )


def test_what_is_open_says_what_it_needs(text: StudyText) -> None:
    assert text.undecided == snapshot([("not run yet", ["A03"])])
    assert [ask.text for ask in text.asks] == snapshot(
        ["Was it a second link?", "Was A01 measured?"]
    )


def test_a_claim_of_which_a_part_has_run_shows_it(small: Results, tmp_path: Path) -> None:
    """As in a quick part that has one side of what another check compares."""
    written(tmp_path)
    claims = tmp_path / "claims.toml"
    other = '{ type = "band", test = "lossy", quantity = "utilisation", low = 0.1 }'
    claims.write_text(claims.read_text().replace("stated = 0.9 }", f"stated = 0.9 }}, {other}"))
    study = Study.load(tmp_path)
    text = study_text.of(study, account.of(Results(study, small.store)))
    assert text.undecided == [("run in part only", ["A01"]), ("not run yet", ["A03"])]
    lines = {line.claim: line for group in text.groups for line in group.lines}
    assert lines["A01"].theirs == "90 %"
    assert text.effects[0].ours in lines["A01"].ours
    assert lines["A03"].ours == ""


def test_a_number_beyond_the_axis_stands_at_its_end(judged: Account, text: StudyText) -> None:
    far = [
        replace(text.effects[0], ratio=ratio, low=math.nan, high=math.nan)
        for ratio in (0, 340, math.inf)
    ]
    drawn = drawing.rendered(effect_chart.draw(far, judged.standings), ".svg").decode()
    assert all(words in drawn for words in ("\u2190 0", "340 \u2192", "\u221e \u2192"))


def test_the_figure_of_numbers_fits_a_phone(
    report: Path, judged: Account, text: StudyText, tab: Browser, tmp_path: Path
) -> None:
    page = shutil.copytree(report, tmp_path / "report") / "index.html"
    long = [
        replace(effect, theirs="at most 0.01 with queues of 2 % of the BDP")
        for effect in text.effects
    ]
    chart = effect_chart.draw(long, judged.standings)
    pictures.write(effect_chart.NAME, chart, page.parent / "figures")
    tab.open(page, "#numbers", 390)
    tab.wait("document.querySelector('#numbers .vega-embed svg') !== null")
    drawn = "document.querySelector('#numbers svg').getBoundingClientRect()"
    assert tab.evaluate(f"{drawn}.right") <= 390
    labels = tab.evaluate(
        "[...document.querySelectorAll('#numbers svg text')].map((each) => each.textContent)"
    )
    assert any("at most 0.01" in label for label in labels)
    assert not any("…" in label for label in labels)
    assert tab.evaluate("document.documentElement.scrollWidth") == 390
    assert tab.complaints == []


def test_both_forms_say_the_same(
    report: Path, results: Results, judged: Account, tmp_path: Path
) -> None:
    study_markdown.write(results, judged, tmp_path / "small.md")
    markdown = (tmp_path / "small.md").read_text()
    html = (report / "index.html").read_text()
    assert _headings(markdown) == [re.sub(r"<.*?>", "", heading) for heading in _heads(html)]
    for sentence in ("The link is never used twice over", "colour of the cable", "a second link"):
        assert sentence in markdown
        assert sentence in html
    assert (tmp_path / "small-figure.svg").is_file()
    assert words_of(markdown) < 500


def test_a_part_of_a_study_has_the_texts_of_its_claims(results: Results) -> None:
    part = results.study.part(["A02"])
    of_part = Results(part, results.store)
    text = study_text.of(part, account.of(of_part))
    assert [claim.id for claim in part.claims] == ["A02"]
    assert [explained.claims for explained in text.explained] == [["A02"]]
    assert [ask.text for ask in text.asks] == snapshot(["Was it a second link?"])
    # Its first finding also rests on A01, and the first decision is about that alone.
    assert not any("twice over" in sentence for sentence in text.findings)
    assert [decided.decision.parameter for decided in text.decided] == ["colour of the cable"]


def _headings(markdown: str) -> list[str]:
    return re.findall(r"^##? (.*)", markdown, re.MULTILINE)[1:]


def _heads(html: str) -> Iterator[str]:
    return (heading for heading in re.findall(r"<h2>(.*?)</h2>", html))


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('claims = ["A02", "A01"]', 'claims = ["A02", "A99"]', "unknown claim"),
        ('claims = ["A02", "A01"]', 'claims = ["A02", "A02"]', "another question has this claim"),
        ('tests = ["fairness"]', 'tests = ["fairnes"]', "unknown test"),
        ('axis = "rtt"\n', 'axis = "rttt"\n', "unknown axis"),
        ('main = "20ms"', 'main = "30ms"', "unknown value of rtt"),
        ('main = "20ms"\n', "", "an axis needs the chosen value"),
        ('A02 = "contradicted"', 'A02 = "reproduced"', "not a known value"),
        ("never used", "never used " + "so " * 40, "30 words or fewer"),
        ("No more leaves", "No more " + "and more " * 40 + "leaves", "80 words or fewer"),
    ],
)
def test_wrong_texts_are_refused(tmp_path: Path, old: str, new: str, complaint: str) -> None:
    assert old in PAGE
    with pytest.raises(InputError) as refused:
        written(tmp_path, PAGE.replace(old, new, 1))
    assert complaint in str(refused.value)


@pytest.mark.parametrize(
    "name", ["brakmo2017", "kumazoe2012", "li2007", "lukaseder2016", "mani2012"]
)
def test_published_studies_say_what_each_claim_asks(name: str) -> None:
    study = Study.load(name)
    listed = [claim for question in study.questions for claim in question.claims]
    counted = [claim.id for claim in study.claims if claim.statement in ("number", "order")]
    assert sorted(listed) == sorted(counted)
    assert len(study.header.summary.split()) <= 50
