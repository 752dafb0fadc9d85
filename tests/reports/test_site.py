"""The site about all studies: complete, offline, its numbers add up, its links lead somewhere."""

from __future__ import annotations

import io
import os
import re
import shutil
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import unquote

import polars as pl
import pytest
from inline_snapshot import snapshot

import small_study
from browser import Browser
from command_line import line, sentence
from dumbbell.base import labels
from dumbbell.engines.engine import SimulatorEngine
from dumbbell.execution.executor import execute
from dumbbell.inference import statistics
from dumbbell.judging.evidence import Verdict
from dumbbell.plan.expanding import scenarios
from dumbbell.reports import comparison, comparison_charts, overview, site
from dumbbell.reports.overview import Reported
from dumbbell.reports.pages import Pages, Place
from dumbbell.results import account
from dumbbell.results.account import Account
from dumbbell.results.results import Results
from dumbbell.store import campaigns
from dumbbell.store.campaigns import Command
from dumbbell.store.store import Store
from dumbbell.study.model import Study
from page_contents import Page


def copy_drawn(report: Path, folder: Path) -> None:
    """Copy what takes long to draw, and is the same in each report of the small study."""
    for drawn in ("figures", "series"):
        shutil.copytree(report / drawn, folder / drawn)


@pytest.fixture(scope="module")
def folder(
    first_small: Results, small_report: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Return a site about the small study and one that nobody has run."""
    place = tmp_path_factory.mktemp("site")
    copy_drawn(small_report, place / "site/studies/small")
    other = small_study.write(place / "other")
    text = (place / "other/study.toml").read_text().replace('name = "small"', 'name = "other"')
    (place / "other/study.toml").write_text(text)
    other = Study.load(place / "other")
    empty = Results(other, Store(place / "nothing"))
    page = site.write_all([first_small, empty], place / "site", unlisted=["strange"])
    assert page == place / "site/index.html"
    return place / "site"


@pytest.fixture(scope="module")
def pages(folder: Path) -> dict[Path, Page]:
    return {file: Page(file.read_text()) for file in sorted(folder.rglob("*.html"))}


def test_every_kind_of_page_is_there(folder: Path, pages: dict[Path, Page]) -> None:
    names = {file.relative_to(folder).as_posix() for file in pages}
    assert names == {
        "index.html",
        "claims.html",
        "algorithms.html",
        "algorithms/reno.html",
        "algorithms/highspeed.html",
        *(
            f"studies/{study}/{name}"
            for study in ("small", "other")
            for name in (
                *("index.html", "figures.html", "checks.html"),
                *("run.html", "runs/fairness.html", "runs/lossy.html"),
            )
        ),
    }
    titles = [re.search("<title>(.*?)</title>", file.read_text()) for file in pages]
    assert all(titles)
    assert len({title[1] for title in titles if title}) >= len(titles) - 1  # two of one title


def test_every_reference_leads_somewhere(pages: dict[Path, Page]) -> None:
    for file, page in pages.items():
        for reference in page.references:
            assert "//" not in reference
            path, _, fragment = reference.partition("#")
            target = Path(os.path.normpath(file.parent / unquote(path))) if path else file
            assert target.is_file(), f"{file}: {reference}"
            if not fragment:
                continue
            if target.name == "run.html" and fragment not in pages[target].anchors:
                test, key = fragment.split("/")
                assert (target.parent / f"runs/{test}.js").is_file()
                assert (target.parent / f"series/{key[:2]}/{key}.js").is_file()
            elif "=" in fragment:
                chosen = {part.partition("=")[0] for part in fragment.split("&")}
                known = pages[target].facets
                # An axis with one value is not to be chosen from.
                assert chosen <= known | {"rtt"}, f"{file}: {reference}"
            else:
                assert fragment in pages[target].anchors, f"{file}: {reference}"


def test_nothing_is_loaded_from_elsewhere(folder: Path) -> None:
    css = (folder / "assets/report.css").read_text()
    assert not re.search(r"url\(|@import", css)
    for script in (folder / "assets").glob("*.js"):
        if script.name != "vega.js":
            assert not re.search(r"\bfetch\(|XMLHttpRequest|import\(|https?://", script.read_text())


def test_the_page_of_a_study_is_the_same_alone_and_among_others(
    small_report: Path, folder: Path
) -> None:
    alone = (small_report / "index.html").read_text()
    among = (folder / "studies/small/index.html").read_text()
    among = re.sub(r'<nav class="trail".*?</nav>\n', "", among, flags=re.DOTALL)
    # The stamp differs, as it tells of the way back, too.
    among, alone = (re.sub('content="[0-9a-f]+"', "", page) for page in (among, alone))
    assert among.replace("../../", "") == alone
    for name in ("runs/fairness.js", "data/claims.csv", "data/fairness-runs.csv"):
        assert (folder / "studies/small" / name).read_bytes() == (small_report / name).read_bytes()


def reported(small: Results) -> list[Reported]:
    place = Place.at("small")
    return [Reported(small, account.of(small), place, Path("index.html"))] * 2


def test_counts_add_up(small: Results) -> None:
    for table in (overview.by_study(reported(small)), overview.by_statement(reported(small))):
        for row in (*table.rows, table.total):
            assert sum(count.number for count in row.counts) == row.total.number
        for position in range(len(Verdict)):
            column = [row.counts[position].number for row in table.rows]
            assert sum(column) == table.total.counts[position].number
        assert table.total.total.number == 2 * 3
    addresses = [count.address for row in table.rows for count in row.counts]
    assert addresses[1] == "claims.html#statement=number&verdict=contradicted"


def test_the_first_page_counts_claims_and_runs(pages: dict[Path, Page], folder: Path) -> None:
    text = " ".join(pages[folder / "index.html"].text.split())
    assert sentence(text, "16 finished").rpartition("again ")[2] == snapshot(
        "2 studies, 16 finished runs, 1 of 6 claims holds."
    )
    assert "none of 18 yet" in text
    assert "dumbbell run other" in text
    assert sentence(text, "strange, ") == snapshot(
        "The results folder also holds runs of strange, which is not among the studies here or in ./studies:"
    )
    assert "A. One and B. Two. Journal of Tests, 2024." in text


def logged(study: Study, store: Store, runs: int, wall_s: float, peak: int) -> None:
    """Leave what a command would of some runs."""
    folder = store.root / campaigns.FOLDER
    folder.mkdir(exist_ok=True)
    command = Command(
        study=study.name,
        engine=SimulatorEngine().identity,
        quick=False,
        jobs=2,
        started=datetime.now(UTC),
        wall_s=wall_s,
        runs=runs,
        simulated_s=12.0 * runs,
        packets=1_000_000 * runs,
        peak_memory_bytes=peak,
    )
    file = folder / f"{study.name}-{len(list(folder.iterdir()))}.json"
    file.write_text(command.model_dump_json())


def rows(file: Path) -> list[list[str]]:
    """Return the texts of the rows of the table of what campaigns took."""
    body = file.read_text().partition('class="costs"')[2].partition("</table>")[0]
    cells = [re.findall("<t[hd][^>]*>(.*?)</t[hd]>", row) for row in body.split("<tr>")[3:]]
    return [[re.sub("<.*?>", "", cell) for cell in row] for row in cells]


def test_a_study_says_what_it_took(small: Results, small_report: Path, tmp_path: Path) -> None:
    copy_drawn(small_report, tmp_path / "site")
    shutil.copytree(small.store.root, tmp_path / "results")
    store = Store(tmp_path / "results")
    logged(small.study, store, 12, 4.0, 200_000_000)
    logged(small.study, store, 6, 2.0, 300_000_000)
    site.write(Results(small.study, store), tmp_path / "site")
    (row,) = rows(tmp_path / "site/checks.html")
    held = Results(small.study, store).cost.held
    assert held.runs == 16
    size = sum(file.stat().st_size for file in store.root.glob("runs/*/*/*"))
    # 16 runs of 12 s are 192 s; the commands' 18 million packets took 6 s.
    left = ["16", "0.05 h", labels.amount(held.packets), labels.amount(size, "B")]
    assert row == ["small", *left, "2", "18", "6 s", "3.00 M", "300 MB"]


def test_the_first_page_says_what_each_study_took(small: Results, tmp_path: Path) -> None:
    shutil.copytree(small.store.root, tmp_path / "results")
    store = Store(tmp_path / "results")
    for folder in list(store.root.glob("runs/*/*"))[2:]:
        shutil.rmtree(folder)
    logged(small.study, store, 2, 1.0, 100_000_000)
    known, unknown = Results(small.study, store), small
    empty = Results(small.study, Store(tmp_path / "nothing"))
    nothing = Account([], [])
    reported = [
        Reported(results, nothing, Place.at("small"), Path()) for results in (known, unknown, empty)
    ]
    overview.write(reported, Pages(tmp_path), Place.at("All"), [], {})
    first, second, third, total = rows(tmp_path / "index.html")
    assert (first[:3], first[5:]) == (
        ["small", "2", "0.01 h"],
        ["1", "2", "1 s", "2.00 M", "100 MB"],
    )
    assert (second[1], second[5:]) == snapshot(("16", ["no campaign is recorded"]))
    assert third == snapshot(["small", "none", "", "", "", "not run yet"])
    assert (total[:3], total[5:]) == (
        ["All studies", "18", "0.06 h"],
        ["1", "2", "1 s", "2.00 M", "100 MB"],
    )


RUNS = pl.DataFrame(
    {
        "algorithm": ["a", "a", "a", "b", "b", "b", "c"],
        "rtt": ["1ms", "1ms", "2ms", "1ms", "2ms", "3ms", "1ms"],
        "jain": [0.9, 0.7, 0.5, 0.9, 0.4, 0.1, None],
    }
)


def test_algorithms_are_compared_where_all_have_a_value() -> None:
    """By hand: c has no value; 3 ms is b's alone; the medians of a are 0.8 and 0.5."""
    compared = comparison.compared(RUNS, "algorithm", ["rtt"], "jain", ["a", "b", "c"])
    assert compared is not None
    assert compared.shared == 2
    assert compared.cells["a"].median == pytest.approx(0.65)
    assert compared.cells["b"].median == pytest.approx(0.65)
    assert (compared.cells["a"].rank, compared.cells["b"].rank) == (1.5, 1.5)
    assert compared.cells["c"].median is None
    assert compared.best is None
    # One run at 2 ms tells nothing of chance; the mean is of the means 0.8 and 0.5.
    mean = compared.cells["a"].mean
    assert mean is not None
    assert mean.value == pytest.approx(0.65)
    assert not mean.has_interval


def test_means_have_the_interval_of_chance_within_grid_points() -> None:
    """By hand: runs 0.9 and 0.7 at 1 ms, 0.5 and 0.5 at 2 ms, so one part has no error."""
    runs = pl.DataFrame(
        {
            "algorithm": ["a"] * 4,
            "rtt": ["1ms", "1ms", "2ms", "2ms"],
            "jain": [0.9, 0.7, 0.5, 0.5],
        }
    )
    compared = comparison.compared(runs, "algorithm", ["rtt"], "jain", ["a"])
    assert compared is not None
    mean = compared.cells["a"].mean
    assert mean is not None
    assert mean.value == pytest.approx(0.65)
    reach = statistics.t_quantile(1) * 0.1 / 2
    assert mean.interval == pytest.approx((0.65 - reach, 0.65 + reach))
    # Fairness is never above 1, nor is the interval that is drawn.
    assert (mean.high > 1, compared.shown(mean.high)) == (True, 1)


def test_charts_show_each_algorithm_with_its_interval(small: Results) -> None:
    (compared,) = comparison.of_study(small)
    shown = comparison_charts.of_test(compared)
    assert shown is not None
    spec = shown.chart.to_dict()
    assert "utilisation (%): Standard TCP" in shown.description
    assert [plot["title"]["text"] for plot in spec["concat"]] == [
        f"{column.quantity.title} ({column.quantity.shown_unit})".removesuffix(" ()")
        for column in compared.columns
    ]
    marks = [pl.read_csv(io.StringIO(text)) for text in spec["datasets"].values()]
    for column, frame in zip(compared.columns, marks, strict=True):
        assert frame["row"].to_list() == ["Standard TCP", "HS-TCP"]
        for row, name in zip(frame.iter_rows(named=True), compared.algorithms, strict=True):
            mean = column.cells[name].mean
            assert mean is not None
            assert row["mean"] == pytest.approx(column.shown(mean.value), rel=1e-5)
            assert row["low"] == pytest.approx(column.shown(mean.low), rel=1e-5)


def test_the_chart_of_an_algorithm_has_a_row_for_each_test(small: Results) -> None:
    (compared,) = comparison.of_study(small)
    shown = comparison_charts.of_algorithm("reno", {"one": compared, "two": compared})
    assert shown is not None
    spec = shown.chart.to_dict()
    titles = [plot["title"]["text"] for plot in spec["concat"]]
    assert "utilisation (%)" in titles
    assert not any("goodput" in title for title in titles)  # links differ from test to test
    frames = [pl.read_csv(io.StringIO(text)) for text in spec["datasets"].values()]
    for frame in frames:
        assert frame["row"].to_list() == ["one", "two"]
        is_dots = "value" in frame.columns
        assert set(frame["label"]) == ({"HS-TCP"} if is_dots else {"Standard TCP"})
    assert comparison_charts.of_algorithm("cubic", {"one": compared}) is None


def test_ranks_follow_the_quantity_and_its_direction() -> None:
    runs = RUNS.filter(pl.col("rtt") == "2ms")
    high = comparison.compared(runs, "algorithm", ["rtt"], "jain", ["a", "b"])
    wrong = runs.rename({"jain": "share_max"})
    low = comparison.compared(wrong, "algorithm", ["rtt"], "share_max", ["a", "b"])
    alone = comparison.compared(runs.drop("rtt"), "algorithm", [], "jain", ["a", "b"])
    assert high is not None
    assert low is not None
    assert alone is not None
    assert [high.cells[name].rank for name in "ab"] == [1, 2]
    assert [low.cells[name].rank for name in "ab"] == [2, 1]
    assert (high.best, alone.shared) == (None, 1)


@pytest.mark.parametrize(("apart", "best"), [(0.2, "a"), (0.01, None)])
def test_only_an_interval_of_its_own_makes_the_best(apart: float, best: str | None) -> None:
    runs = pl.DataFrame(
        [
            {"algorithm": name, "rtt": "2ms", "jain": jain + 0.02 * run}
            for name, jain in (("a", 0.7), ("b", 0.7 - apart))
            for run in range(4)
        ]
    )
    compared = comparison.compared(runs, "algorithm", ["rtt"], "jain", ["a", "b"])
    assert compared is not None
    assert compared.best == best
    alone = comparison.compared(
        runs.filter(pl.col("algorithm") == "a"), "algorithm", ["rtt"], "jain", ["a"]
    )
    assert alone is not None
    assert alone.best is None


def test_without_a_shared_point_nothing_is_compared() -> None:
    runs = RUNS.filter(
        (pl.col("algorithm") == "a") & (pl.col("rtt") == "2ms")
        | (pl.col("algorithm") == "b") & (pl.col("rtt") == "3ms")
    )
    compared = comparison.compared(runs, "algorithm", ["rtt"], "jain", ["a", "b"])
    assert compared is not None
    assert compared.shared == 0
    assert compared.cells["a"].median is None


def test_comparisons_name_what_they_rest_on(small: Results) -> None:
    (compared,) = comparison.of_study(small)
    assert compared.axis == "algorithm"
    assert (compared.points, compared.algorithms) == (4, ("reno", "highspeed"))
    assert compared.conditions == {"rate": ["5mbit", "10mbit"], "rtt": ["20ms", "40ms"]}
    medians = (
        small.table("fairness", ["utilisation"])
        .filter(pl.col("algorithm") == "reno")
        .group_by("rate", "rtt")
        .agg(pl.col("utilisation").median())
    )
    column = next(column for column in compared.columns if column.quantity.name == "utilisation")
    assert column.cells["reno"].median == pytest.approx(medians["utilisation"].median())
    assert comparison.choices(small) == {"reno": {"reno": 8}, "highspeed": {"highspeed": 8}}


def test_a_flow_alone_is_not_fair(small: Results, tmp_path: Path) -> None:
    study = small_study.write(tmp_path / "study")
    store = Store(tmp_path / "results")
    planned = study.runs(where={"test": ["lossy"]})
    assert not execute(scenarios(planned), store, SimulatorEngine()).failed
    (compared,) = comparison.of_study(Results(study, store))
    assert [column.quantity.name for column in compared.columns] == [
        "goodput_mbit_per_s",
        "utilisation",
        "retransmitted_share",
        "rtt_inflation",
    ]
    (compared,) = comparison.of_study(small)
    assert "jain" in [column.quantity.name for column in compared.columns]


def test_a_site_without_studies_or_runs_says_so(tmp_path: Path) -> None:
    page = site.write_all([], tmp_path / "none")
    assert line(page.read_text(), "There are") == snapshot(
        '<p class="notice">There are no studies.</p>'
    )
    study = small_study.write(tmp_path / "study")
    page = site.write_all([], tmp_path / "unrun", not_run={"dumbbell run small": study})
    assert line(page.read_text(), "No study") == snapshot(
        '<p class="notice">No study has been run yet.</p>'
    )
    page = site.write_all([Results(study, Store(tmp_path / "results"))], tmp_path / "site")
    assert "no finished runs" in page.read_text()
    assert line((tmp_path / "site/algorithms.html").read_text(), "There are") == snapshot(
        '<p class="notice">There are no runs yet.</p>'
    )


# --- In a browser --------------------------------------------------------------------


def a_run(folder: Path) -> str:
    """Return the fragment that names a finished run."""
    return "#fairness/" + sorted((folder / "studies/small/series").glob("??/*.js"))[0].stem


KINDS_OF_PAGES = {
    "index.html": "Claims summary",
    "claims.html#study=small&verdict=contradicted": "1 of 6 claims shown.",
    "claims.html": "6 claims shown.",
    "algorithms.html": "rank 1.",
    "algorithms/highspeed.html": "Comparison with others",
    "studies/small/index.html": "3 statements that runs judge:",
    "studies/small/index.html#A02": "Cause unknown",
    "studies/small/figures.html#fig2": "16 runs, at 8 of the 8 points of its grid.",
    "studies/small/checks.html": "3 claims shown.",
    "studies/small/checks.html#A02": "3 claims shown.",
    "studies/small/runs/fairness.html#rate=10mbit": "8 of 16 runs shown.",
    "studies/small/runs/lossy.html": "2 runs shown.",
    "studies/small/run.html": "No run is selected",
    "studies/small/run.html#fairness/0123456789abcdef": "has no run 0123",
    "studies/other/index.html": "No claim is decided yet.",
    "studies/other/checks.html": "none of 18 yet",
    "studies/other/runs/fairness.html#run=not%20run%20yet": "16 runs shown.",
    "studies/other/run.html": "No run is selected",
}
"""Address of a page -> what is on it once its scripts have run."""


@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("address", KINDS_OF_PAGES)
def test_pages_open_from_disk_without_a_script_error(
    folder: Path, tab: Browser, address: str, width: int
) -> None:
    name, _, fragment = address.partition("#")
    tab.open(folder / name, f"#{fragment}" * bool(fragment), width)
    assert KINDS_OF_PAGES[address] in tab.text()
    assert tab.complaints == []
    # What is wider than the page scrolls inside it.
    assert tab.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [1280, 400])
def test_a_run_is_drawn_from_disk(folder: Path, tab: Browser, width: int) -> None:
    tab.open(folder / "studies/small/run.html", a_run(folder), width)
    tab.wait("document.querySelectorAll('.panel canvas').length === 6")
    text = tab.text()
    assert sentence(text, "120 samples").rpartition("time ")[2] == snapshot(
        "Each line shows all of its 120 samples."
    )
    assert "flow 2" in text
    assert re.search(r"dumbbell run \S*study --where test=fairness --where algorithm=", text)
    assert re.match(r"(Standard |HS-)TCP, \d+ Mbit/s", str(tab.evaluate("document.title")))
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    boxes = "[...document.querySelectorAll('#totals .scroll')]"
    tab.wait(f"{boxes}.length > 1 && {boxes}.every((box) => box.dataset.more !== undefined)")
    tab.evaluate("[...document.querySelectorAll('.steps a')].pop().click()")
    tab.wait(f"location.hash !== '{a_run(folder)}'")
    tab.wait("document.querySelectorAll('.panel canvas').length === 6")
    assert tab.complaints == []


def test_figures_become_interactive(folder: Path, tab: Browser) -> None:
    tab.open(folder / "studies/small/figures.html", "#fig3")
    tab.wait("document.querySelector('#fig3 .vega-embed svg') !== null")
    assert tab.complaints == []


@pytest.mark.parametrize("page", ["algorithms.html", "algorithms/reno.html"])
def test_algorithms_are_charted(folder: Path, tab: Browser, page: str) -> None:
    tab.open(folder / page, "", 390)
    tab.evaluate("document.querySelector('.chart').scrollIntoView()")
    tab.wait("document.querySelector('.chart .vega-embed svg') !== null")
    assert tab.evaluate("document.querySelector('.chart svg').getBoundingClientRect().width") <= 358
    assert tab.complaints == []


def test_a_choice_stands_in_the_address(folder: Path, tab: Browser) -> None:
    tab.open(folder / "studies/small/runs/fairness.html")
    tab.evaluate("document.querySelector('[data-value=\"40ms\"]').click()")
    assert tab.evaluate("location.hash") == "#rtt=40ms"
    assert "8 of 16 runs shown." in tab.text()
    tab.evaluate("document.querySelector('.runs thead th:last-child button').click()")
    assert tab.evaluate("document.querySelector('[aria-sort]').ariaSort") == "ascending"
    assert tab.evaluate("document.querySelectorAll('.runs tbody tr').length") == 8
    tab.evaluate("document.querySelector('[type=reset]').click()")
    assert "16 runs shown." in tab.text()
    assert tab.complaints == []


def test_a_script_error_would_be_seen(tab: Browser, tmp_path: Path) -> None:
    (tmp_path / "broken.html").write_text(
        "<script>nowhere();</script><script src='no.js'></script>"
    )
    tab.open(tmp_path / "broken.html")
    assert "nowhere is not defined" in str(tab.complaints)
    assert "no.js" in str(tab.complaints)
