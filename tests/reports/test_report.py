"""Reports: complete, offline, and made of the same numbers as the tables."""

from __future__ import annotations

import base64
import json
import re
import shutil
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from inline_snapshot import snapshot

import small_study
from browser import Browser
from command_line import line
from dumbbell.algorithms import catalogue
from dumbbell.algorithms.head_comments import Kind
from dumbbell.base.errors import InputError, StoreError
from dumbbell.figures import drawing
from dumbbell.quantities import tables
from dumbbell.reports import single, site, study_page
from dumbbell.results.results import Results
from dumbbell.store import campaigns
from dumbbell.store.store import Store
from page_contents import Page


@pytest.fixture(scope="module")
def page(small_report: Path) -> Page:
    return Page((small_report / "index.html").read_text())


@pytest.fixture(scope="module")
def checks(small_report: Path) -> Page:
    return Page((small_report / "checks.html").read_text())


@pytest.fixture(scope="module")
def figures(small_report: Path) -> Page:
    return Page((small_report / "figures.html").read_text())


def test_nothing_is_loaded_from_elsewhere(
    small_report: Path, page: Page, checks: Page, figures: Page
) -> None:
    anchors = {"index.html": page, "checks.html": checks, "figures.html": figures}
    for name, other in anchors.items():
        for reference in other.references:
            assert "//" not in reference
            file, _, anchor = reference.partition("#")
            assert (small_report / (file or name)).is_file()
            if anchor and (file or name) in anchors:
                assert anchor in anchors[file or name].anchors, (name, reference)
    assert not re.search(r"url\(|@import", (small_report / "assets/report.css").read_text())


def test_every_figure_is_there_as_picture_and_chart(small_report: Path, figures: Page) -> None:
    assert [image["src"] for image in figures.images] == [f"figures/fig{n}.svg" for n in (1, 2, 3)]
    assert figures.images[0]["alt"] == (
        snapshot(
            "Fig. 1. Ratio of throughputs. 5 Mbit/s: ratio, mean and 95 % interval, by RTT (ms). Standard TCP: 0.94 at 20 and 0.89 at 40; HS-TCP: 0.86 at 20 and 0.942 at 40. 10 Mbit/s: ratio, mean and 95 % interval, by RTT (ms). Standard TCP: 0.86 at 20 and 0.86 at 40; HS-TCP: 0.82 at 20 and 0.80 at 40. Mean of 2 runs per point. Small dots are single runs."
        )
    )
    for image in figures.images:
        svg = (small_report / str(image["src"])).read_text()
        assert f'width="{image["width"]}"' in svg
    for number in (1, 2, 3):
        script = (small_report / f"figures/fig{number}.js").read_text()
        chart = json.loads(script.partition(" = ")[2].rstrip(";\n"))
        assert f"Fig. {number}." in json.dumps(chart["title"])


def test_the_interactive_part_is_bundled(small_report: Path) -> None:
    bundle = (small_report / "assets/vega.js").read_text()
    assert "vegaEmbed" in bundle
    head = bundle[: bundle.index("*/")]
    assert "University of Washington Interactive Data Lab" in head
    assert "Mike Bostock" in head


def test_header_cites_and_counts(page: Page, checks: Page) -> None:
    assert "A small study of <b>two</b> algorithms" in page.text
    assert "A. One and B. Two. Journal of Tests, 2024." in page.text
    assert line(page.text, "statements") == snapshot("3 statements that runs judge:")
    for counted in ("1 holds", "1 contradicted", "1 open"):
        assert counted in page.text
    assert line(checks.text, "judged") == snapshot(
        "3 claims judged by runs: 1 holds, 1 contradicted, 1 undecided."
    )
    assert "16 of 18" in checks.text
    assert re.search(r"dumbbell run \S*study", page.text)


def test_claims_come_with_verdict_value_and_reason(
    small_report: Path, page: Page, checks: Page
) -> None:
    verdicts = pl.read_csv(small_report / "data/claims.csv")
    assert verdicts["verdict"].to_list() == ["holds", "contradicted", "undecided"]
    assert verdicts["measured"].to_list()[0] in checks.text
    assert line(checks.text, "A09") == snapshot(
        "Reason: A link cannot be used <twice> over (A01, test fairness, not A09 or nowhere)."
    )
    assert {"A01", "A02", "A03"} <= page.anchors
    assert {"A01", "A02", "A03"} <= checks.anchors
    details = json.loads((small_report / "data/claims.json").read_text())
    assert details[1]["checks"][0]["decisive"]["value"] < 2


def test_claims_link_to_the_figures_they_name(small_report: Path) -> None:
    text = (small_report / "checks.html").read_text()
    page = "figures.html"
    assert f'Figs. <a href="{page}#fig1">1</a> and <a href="{page}#fig2">2</a>' in text


def test_reasons_link_to_the_claims_and_tests_they_name(small_report: Path) -> None:
    text = (small_report / "checks.html").read_text()
    tests = (
        '<a href="figures.html#fairness"><code>fairness</code></a>, not A09 or <code>nowhere</code>'
    )
    assert f'over (<a href="#A01">A01</a>, test {tests}).' in text


def test_interpretations_of_the_algorithms_that_ran_are_told(small: Results, checks: Page) -> None:
    assert "interpretations" in checks.anchors
    text = checks.text.partition("Interpretations\n")[2]
    for algorithm in small.algorithms:
        for paragraph in algorithm.comment.of(Kind.INTERPRETATION):
            for block in paragraph.blocks:
                assert block.lines[0] in text, algorithm.name
    assert {algorithm.name for algorithm in small.algorithms} == {"reno", "highspeed"}
    assert "HighSpeed TCP" in text
    others = catalogue.algorithm("fast").comment.of(Kind.INTERPRETATION)
    assert others[0].blocks[0].lines[0] not in text


def test_tables_hold_what_the_quantities_say(small_report: Path, small: Results) -> None:
    axes = ["algorithm", "rate", "rtt"]
    means = pl.read_csv(small_report / "data/fairness.csv").filter(
        pl.col("quantity") == "utilisation"
    )
    expected = tables.aggregate(small.table("fairness", ["utilisation"]), axes, "utilisation")
    assert means.select(axes).rows() == expected.select(axes).rows()
    assert means["mean"].to_list() == pytest.approx(expected["mean"].to_list())
    assert pl.read_csv(small_report / "data/fairness-runs.csv").height == 16
    shown = pl.read_csv(small_report / "data/fig1.csv")
    assert shown.columns[:4] == ["rate", "algorithm", "rtt_ms", "quantity"]
    assert shown.height == 8


def test_a_report_is_the_same_every_time(
    small_report: Path, first_small: Results, tmp_path: Path
) -> None:
    site.write(first_small, tmp_path)

    def content(root: Path) -> dict[str, bytes]:
        # The renderer numbers its clips from the start of the process, and fonts in any order.
        return {
            str(path.relative_to(root)): re.sub(rb"clip\d+", b"clip", path.read_bytes())
            for path in files(root)
            if path.suffix not in (".png", ".pdf")
        }

    assert content(tmp_path) == content(small_report)


@pytest.fixture
def report(small_report: Path, tmp_path: Path) -> Path:
    """Return a copy of the report, to be changed."""
    return shutil.copytree(small_report, tmp_path / "report")


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Results]:
    """Return the results whose pages would be drawn; none is."""
    results_drawn: list[Results] = []
    monkeypatch.setattr(study_page, "write", lambda results, *_: results_drawn.append(results))
    return results_drawn


def test_a_report_is_drawn_again_only_if_it_is_not_current(
    small_report: Path, report: Path, small: Results, drawn: list[Results]
) -> None:
    assert site.write(small, report) == report / "index.html"
    assert drawn == []
    for name in ("figures/fig1.svg", "data/claims.csv", "runs/fairness.js", "checks.html"):
        (report / name).unlink()
        site.write(small, report)
        assert len(drawn) == 1, name
        drawn.clear()
        shutil.copy(small_report / name, report / name)
    (report / "data/fig1.csv").write_text("")
    site.write(small, report)
    assert len(drawn) == 1


def test_a_report_is_drawn_again_if_commands_took_more_time(
    report: Path, small: Results, drawn: list[Results], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command whose runs all fail adds no result, but the page shows what it took."""
    command = campaigns.Command(
        study=small.study.name,
        engine=small.engine.identity,
        quick=False,
        jobs=1,
        started=datetime(2026, 11, 29, tzinfo=UTC),
        failed=3,
        wall_s=60.0,
    )
    monkeypatch.setattr(campaigns, "commands", lambda *_: [command])
    site.write(small, report)
    assert len(drawn) == 1


def test_only_figures_that_differ_are_drawn_again(
    report: Path, small: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[str] = []
    rendered = drawing.rendered

    def noted(chart: Mapping[str, Any], suffix: str) -> bytes:
        drawn.append(str(chart["title"]["text"]))
        return rendered(chart, suffix)

    monkeypatch.setattr(drawing, "rendered", noted)
    (report / "index.html").write_text("an older page")
    (report / "figures/fig2.png").unlink()
    chart = (report / "figures/fig3.js").read_text()
    (report / "figures/fig3.js").write_text(chart.replace("cwnd", "window"))
    site.write(small, report)
    assert sorted(re.findall(r"Fig\. (\d)", " ".join(drawn))) == ["2", "3"]
    assert (report / "figures/fig2.png").stat().st_size
    assert (report / "figures/fig3.js").read_text() == chart


def test_pictures_say_what_is_seen_on_them(figures: Page) -> None:
    alts = {str(image["src"]).split("/")[-1]: str(image["alt"]) for image in figures.images}
    assert re.search(r"Standard TCP: [\d.]+ at 20 and [\d.]+ at 40", alts["fig1.svg"])
    assert re.search(r"cwnd \(segments\): flow 1 \d+ to \d+, mean", alts["fig3.svg"])


def test_a_page_is_one_file_to_mail(small: Results, tmp_path: Path) -> None:
    file = single.write(small, tmp_path / "page.html", None, lambda _: None)
    page = Page(file.read_text())
    inside = ("#", "data:", "https:")
    assert [reference for reference in page.references if not reference.startswith(inside)] == []
    csv = next(reference for reference in page.references if reference.startswith("data:text/csv"))
    assert b"verdict" in base64.b64decode(csv.partition("base64,")[2])
    # Links to other pages are words.
    assert "All figures and runs" in page.text
    assert list(tmp_path.iterdir()) == [tmp_path / "page.html"]


def test_pictures_are_in_the_one_file(small_report: Path) -> None:
    text = single.page(small_report / "figures.html")
    page = Page(text)
    assert len(page.images) == 3
    for image in page.images:
        assert str(image["src"]).startswith("data:image/svg+xml;base64,")
    # What SVG shows as well is left out.
    assert ">SVG</a>" in text
    assert ">PNG<" not in text


def test_a_page_of_one_file_has_interactive_figures(
    small_report: Path, tab: Browser, tmp_path: Path
) -> None:
    (file := tmp_path / "page.html").write_text(single.page(small_report / "figures.html"))
    tab.open(file, "#fig3")
    tab.wait("document.querySelector('#fig3 .vega-embed svg') !== null")
    assert tab.complaints == []


@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_a_figure_is_one_file_to_mail(small: Results, tmp_path: Path, suffix: str) -> None:
    file = single.write(small, tmp_path / f"f{suffix}", "fig1", lambda _: None)
    assert file.read_bytes()[:4] in (b"<svg", b"\x89PNG")


def test_an_unknown_figure_is_refused(small: Results, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r'figure.*"fig11".*fig1'):
        single.write(small, tmp_path / "f.svg", "fig11", lambda _: None)


def files(root: Path) -> Iterator[Path]:
    return (path for path in root.rglob("*") if path.is_file())


def test_a_study_without_runs_has_a_report_too(tmp_path: Path) -> None:
    study = small_study.write(tmp_path / "study")
    page = site.write(Results(study, Store(tmp_path / "results")), tmp_path / "report")
    assert line(Page(page.read_text()).text, "decided") == snapshot("No claim is decided yet.")
    text = Page((page.parent / "checks.html").read_text()).text
    assert line(text, "judged") == snapshot("3 claims judged by runs: 3 undecided.")
    assert "none of 18 yet" in text


def test_a_folder_that_cannot_be_written_is_named(small: Results, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(StoreError, match="cannot write the report"):
        site.write(small, tmp_path / "file" / "report")
