"""The front page of all studies: written from results, whatever these are."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from artifact import bars, front
from artifact.bars import Bar
from artifact.front import Refereed, Theme
from inline_snapshot import snapshot

from command_line import line
from dumbbell.base.errors import InputError
from dumbbell.judging.standing import Standing
from dumbbell.results.results import Results
from dumbbell.store.store import Store
from dumbbell.study.model import Study

PAGE = Path(__file__).parents[2] / "docs" / "studies" / "README.md"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def refereed(small: Results, tmp_path_factory: pytest.TempPathFactory) -> list[Refereed]:
    """Return the small study as the page has it, from the fuller of two folders."""
    empty = Store(tmp_path_factory.mktemp("none"))
    folder = tmp_path_factory.mktemp("docs")
    (folder / "small.md").write_text("# Small\n")
    return [front.refereed(small.study, [empty, small.store], folder, draws=2)]


def themes(*claims: str) -> list[Theme]:
    return [Theme("A link is used", {"small": claims})]


def section(page: str, heading: str) -> str:
    return page.partition(f"## {heading}\n")[2].partition("\n## ")[0]


def test_the_answer_comes_first(refereed: list[Refereed]) -> None:
    page = front.page(refereed, [], "bars.svg")
    assert page.splitlines()[0] == "# One study, run again"
    assert line(page, "In 2024") == snapshot(
        "In 2024, one study evaluated TCP congestion control. Dumbbell runs it again and judges 3 of its statements by runs: 1 holds, 1 is contradicted and 1 is open. 1 of 1 has not run whole."
    )


@pytest.mark.parametrize(
    ("claims", "summary"),
    [
        (
            ("A01",),
            snapshot("**Holds where it is decided** - A link is used: [small](small.md) 1 of 1."),
        ),
        (
            ("A02",),
            snapshot(
                "**Contradicted where it is decided** - A link is used: [small](small.md) 0 of 1."
            ),
        ),
        (("A03",), snapshot("**Not decided yet** - A link is used.")),
        (
            ("A01", "A02", "A03"),
            snapshot("**Divided** - A link is used: [small](small.md) 1 of 2."),
        ),
    ],
)
def test_themes_are_sorted_by_how_their_claims_stand(
    refereed: list[Refereed], claims: tuple[str, ...], summary: str
) -> None:
    page = front.page(refereed, themes(*claims), "bars.svg")
    assert " ".join(section(page, "What came out").split()) == summary


def test_a_theme_of_no_judged_claim_is_refused(refereed: list[Refereed]) -> None:
    with pytest.raises(InputError) as refused:
        front.page(refereed, themes("A09"), "bars.svg")
    assert str(refused.value) == snapshot(
        '"A09": unknown claim of small that runs judge (did you mean "A03"?); valid: A03, A02, A01'
    )


def test_what_has_no_cause_is_said(refereed: list[Refereed]) -> None:
    failed = section(front.page(refereed, [], "bars.svg"), "Why statements fail")
    assert line(failed, "contradicted") == snapshot(
        "0 of 1 contradicted statements have a named cause; a test shows that of 0."
    )


def test_the_table_has_each_kind_and_its_sum(refereed: list[Refereed]) -> None:
    numbers = section(front.page(refereed, [], "bars.svg"), "In numbers")
    rows = [line.split("|")[1:-1] for line in numbers.splitlines() if line.startswith("| ")]
    by_kind = {(row[0].strip(), row[1].strip()): row[2:8] for row in rows[2:]}
    assert by_kind["small", "numbers"] == by_kind["all", "numbers"]
    *parts, whole = map(int, by_kind["all", "judged by runs"])
    assert sum(parts) == whole == 3


def test_it_leads_to_a_page_or_to_the_study(small: Results, tmp_path: Path) -> None:
    (study,) = [front.refereed(small.study, [small.store], tmp_path, draws=2)]
    assert study.link == "[small](../../studies/small)"
    (tmp_path / "small.md").touch()
    assert front.refereed(small.study, [small.store], tmp_path, draws=2).link == "[small](small.md)"


def test_the_themes_are_of_claims_that_runs_judge() -> None:
    studies = {name: Study.load(name) for name in Study.names()}
    for theme in front.themes():
        assert len(theme.claims) >= 2, theme.statement
        for name, claims in theme.claims.items():
            judged = {claim.id: claim.statement for claim in studies[name].claims}
            for claim in claims:
                assert judged[claim] in ("number", "order"), (theme.statement, claim)


def test_bars_are_as_long_as_their_shares() -> None:
    counts = dict.fromkeys(Standing, 0) | {Standing.HOLDS: 30, Standing.OPEN: 10}
    drawn = ElementTree.fromstring(bars.svg([Bar("<one>", counts)]))
    widths = {
        bar.get("class"): float(bar.get("width", "0"))
        for bar in drawn.iter(f"{SVG}rect")
        if bar.get("height") == "22"
    }
    assert widths["holds"] == pytest.approx(3 * widths["open"], rel=0.02)
    texts = [text.text for text in drawn.iter(f"{SVG}text")]
    assert texts[:4] == ["<one>", "40", "30", "10"]
    assert [standing.value for standing in Standing] == texts[4:]


def test_bars_without_statements_are_empty() -> None:
    ElementTree.fromstring(bars.svg([Bar("none", dict.fromkeys(Standing, 0))]))


def test_the_page_is_short() -> None:
    """A reader meets 300 words or so, besides tables."""
    text = PAGE.read_text()
    prose = [line for line in text.splitlines() if not line.startswith(("|", "![", "- Engine"))]
    words = re.sub(r"\]\([^)]*\)", "]", " ".join(prose)).split()
    assert len(words) <= 450


def test_a_tie_is_no_contradiction() -> None:
    tied = front.heading_of([Standing.TIE, Standing.OPEN])
    assert tied == "A tie where it is decided"
    assert front.heading_of([Standing.TIE, Standing.CONTRADICTED]) == "Divided"
