"""The page of a study as readers meet it: figures first, on any width, by day and by night."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import small_study
from browser import Browser
from dumbbell.reports import cross_links, site
from dumbbell.results.results import Results
from dumbbell.store.store import Store
from dumbbell.study import mentions

FIGURES = ["fig1", "fig3", "fig4a", "fig4b", "fig4-rtt", "fig8", "fig9", "fig10", "causes"]


@pytest.mark.parametrize(
    ("source", "meant"),
    [
        ("Fig. 1", ["fig1"]),
        ("Figs. 1 and 9", ["fig1", "fig9"]),
        ("Fig. 4, Section VII-A", ["fig4a", "fig4b"]),
        ("Fig. 4B", ["fig4b"]),
        ("Figs. 8 to 10", ["fig8", "fig9", "fig10"]),
        ("Section 2.5, Figs. 4a to 4b", ["fig4a", "fig4b"]),
        ("Figs. 3.a, 3.c and 3.g, Section III", ["fig3"]),
        ("10 ms, Fig. 8D", ["fig8"]),
        ("Section IX", []),
        ("Fig. 2", []),
    ],
)
def test_a_claim_speaks_of_the_figures_that_its_source_names(source: str, meant: list[str]) -> None:
    assert mentions.figures_in(source, FIGURES) == meant


def test_numbers_of_figures_are_links() -> None:
    linked = cross_links.to_figures("Figs. 1 and 4 of <them>, Fig. 2", FIGURES)
    assert linked == (
        'Figs. <a href="#fig1">1</a> and <a href="#fig4a">4</a> of &lt;them&gt;, Fig. 2'
    )


@pytest.fixture
def page(small_report: Path) -> Path:
    return small_report / "figures.html"


@pytest.fixture
def checks(small_report: Path) -> Path:
    return small_report / "checks.html"


def test_claims_come_by_question_and_figures_with_the_claims_about_them(small_report: Path) -> None:
    text = (small_report / "index.html").read_text()
    places = [text.index(f'<tbody id="{claim}"') for claim in ("A01", "A02", "A03")]
    assert places == sorted(places)
    drawn = (small_report / "figures.html").read_text()
    about = re.findall(r"Claims about this figure: (.*?)</p>", drawn)
    assert about == ['<a href="checks.html#A01">A01</a>'] * 2


# --- In a browser --------------------------------------------------------------------


def scheme(tab: Browser, name: str) -> None:
    """Emulate that readers want light or dark pages."""
    features = [{"name": "prefers-color-scheme", "value": name}]
    tab.send("Emulation.setEmulatedMedia", features=features)


DRAWN = "document.querySelector('#fig1 .vega-embed svg') !== null"
WIDTH = "document.querySelector('#fig1 .vega-embed svg').getBoundingClientRect().width"


def test_figures_are_laid_out_for_a_phone(page: Path, tab: Browser) -> None:
    tab.open(page, "#fig1", 390)
    tab.wait(DRAWN)
    assert tab.evaluate(WIDTH) <= 390 - 32
    # Letters keep their size: nothing is scaled.
    assert tab.evaluate(
        "[...document.querySelectorAll('#fig1 svg text')].every((text) =>"
        " parseFloat(getComputedStyle(text).fontSize) >= 11)"
    )
    assert tab.evaluate(
        "document.querySelector('#fig1 svg').viewBox.baseVal.width"
    ) == tab.evaluate(WIDTH)
    # Two plots stand below each other, with one legend.
    tops = tab.evaluate(
        "[...document.querySelectorAll('#fig1 svg .mark-text.role-title-text')].length > 1 &&"
        " [...document.querySelectorAll('#fig1 svg text')].filter((text) =>"
        " text.textContent === '5 Mbit/s' || text.textContent === '10 Mbit/s')"
        ".map((text) => text.getBoundingClientRect().top)"
    )
    assert len(tops) == 2
    assert tops[1] - tops[0] > 200
    assert tab.complaints == []


def test_a_figure_is_laid_out_anew_for_another_width(page: Path, tab: Browser) -> None:
    tab.open(page, "#fig1", 390)
    tab.wait(DRAWN)
    narrow = tab.evaluate(WIDTH)
    metrics = {"width": 1400, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    tab.send("Emulation.setDeviceMetricsOverride", **metrics)
    tab.wait(f"{WIDTH} > 2 * {narrow}")
    assert tab.complaints == []


def test_contents_stay_in_sight(checks: Path, tab: Browser) -> None:
    top = "document.querySelector('.contents').getBoundingClientRect().top"
    opened = "document.querySelector('.contents details').open"
    for width, is_open in ((1400, True), (390, False)):
        tab.open(checks, "#claims", width)
        # The mark follows the scrolling to the place, so it may name another section first.
        tab.wait("document.querySelector('.contents [aria-current]')?.textContent === 'All claims'")
        assert 0 <= tab.evaluate(top) <= 20
        assert tab.evaluate(opened) == is_open
    assert "Contents: All claims" in tab.text()
    tab.evaluate("document.querySelector('.contents summary').click()")
    assert tab.evaluate(opened)
    tab.evaluate("document.querySelector('.contents a[href=\"#cost\"]').click()")
    tab.wait(f"!{opened} && location.hash === '#cost'")


LUMINANCE = """(() => {
  const [r, g, b] = getComputedStyle(%s).%s.match(/[\\d.]+/g).map(Number);
  return (0.2126 * r + 0.7152 * g + 0.0722 * b) / 255;
})()"""


def test_pages_are_dark_where_readers_want_it(page: Path, tab: Browser) -> None:
    for name, is_dark in (("dark", True), ("light", False)):
        scheme(tab, name)
        tab.open(page, "#fig1")
        tab.wait(DRAWN)
        paper = tab.evaluate(LUMINANCE % ("document.body", "backgroundColor"))
        ink = tab.evaluate(LUMINANCE % ("document.body", "color"))
        assert (paper < 0.2, ink > 0.8) == (is_dark, is_dark)
        filtered = tab.evaluate("getComputedStyle(document.querySelector('.chart > *')).filter")
        assert (filtered != "none") == is_dark


def test_wide_tables_say_that_they_scroll(checks: Path, tab: Browser) -> None:
    box = "document.querySelector('#cost .scroll')"
    hint = f"getComputedStyle({box}, '::before').content"
    tab.open(checks, "", 390)
    tab.wait(f"{box}.dataset.more === 'right'")
    assert "scroll sideways" in tab.evaluate(hint)
    tab.evaluate(f"{box}.scrollLeft = 1e6")
    tab.wait(f"{box}.dataset.more === 'left'")
    tab.open(checks, "", 1400)
    tab.wait(f"{box}.dataset.more === ''")
    assert tab.evaluate(hint) == "none"


@pytest.fixture
def plain(tmp_path: Path) -> Results:
    """Return the small study without its figures and runs, which take time to draw."""
    study = small_study.write(tmp_path / "study")
    (tmp_path / "study/figures.toml").unlink()
    return Results(study.load(tmp_path / "study"), Store(tmp_path / "nothing"))


def test_a_page_in_a_site_leads_back_to_its_first_page(plain: Results, tmp_path: Path) -> None:
    site.write_all([], tmp_path / "site")
    for place, up in (("mine", "../"), ("studies/small", "../../")):
        inside = site.write(plain, tmp_path / "site" / place).read_text()
        assert f'<a href="{up}index.html">All studies</a>' in inside
        runs = (tmp_path / "site" / place / "runs/fairness.html").read_text()
        assert f'<a href="../{up}index.html">All studies</a>' in runs
    alone = site.write(plain, tmp_path / "later/mine")
    assert "All studies" not in alone.read_text()
    site.write_all([], tmp_path / "later")
    assert "All studies" in site.write(plain, alone.parent).read_text()
    (tmp_path / "other").mkdir()
    (tmp_path / "other/index.html").write_text("something else")
    assert "All studies" not in site.write(plain, tmp_path / "other/small").read_text()
