"""Notebooks' views of runs, studies, results and figures."""

from __future__ import annotations

from html.parser import HTMLParser

import polars as pl
import pytest

from dumbbell.api import simulate
from dumbbell.api.bbr import BbrCases
from dumbbell.api.checklists import Checklist
from dumbbell.api.comparison import Comparison
from dumbbell.api.competing import Contest
from dumbbell.api.table import Table
from dumbbell.api.validating import Validation
from dumbbell.base import hypertext
from dumbbell.quantities import flow_totals
from dumbbell.results.results import Results
from dumbbell.study.model import Study
from sample_runs import scenario


class Cells(HTMLParser):
    """Reads the texts of a table's cells, and what elements there are."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.elements: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        assert not attrs
        self.elements.add(tag)
        if tag in ("td", "th"):
            self.texts.append("")

    def handle_data(self, data: str) -> None:
        if self.texts:
            self.texts[-1] += data


def test_a_run_says_what_its_flows_achieved() -> None:
    flows = [{"algorithm": "reno", "label": "<script>alert(1)</script>"}, {"algorithm": "cubic"}]
    run = simulate(scenario({"duration": "2s", "flow": flows}))
    cells = Cells(run._repr_html_())
    totals = flow_totals.flows(run)
    assert cells.texts == [*totals.heads, *(cell for row in totals.rows for cell in row)]
    assert flows[0]["label"] in cells.texts
    assert "script" not in cells.elements


def test_a_study_is_short_and_names_its_tests() -> None:
    study = Study.load("li2007")
    assert repr(study) == str(study)
    assert len(repr(study)) < 200
    cells = Cells(study._repr_html_())
    assert {test.name for test in study.tests} <= set(cells.texts)
    points = {test.name: sum(1 for _ in test.grid_points) for test in study.tests}
    at = cells.texts.index("fairness")
    assert cells.texts[at + 3] == str(points["fairness"])


def test_results_say_how_much_of_each_test_is_there(small: Results) -> None:
    cells = Cells(small._repr_html_())
    at = cells.texts.index("fairness")
    finished, planned = map(int, cells.texts[at + 2 : at + 4])
    assert finished == len(small.finished("fairness"))
    assert finished <= planned == len(small.runs("fairness"))
    assert "runs finished" in repr(small)
    assert "b" in cells.elements
    assert "<b>two</b>" not in small._repr_html_()


@pytest.mark.parametrize("kind", [BbrCases, Checklist, Comparison, Contest, Validation])
def test_what_has_data_and_a_table_prints_its_table(
    kind: type[Table], monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = pl.DataFrame({"algorithm": ["reno"]})
    monkeypatch.setattr(kind, "_heading", ("title", "about"))
    monkeypatch.setattr(kind, "to_frame", lambda _: frame)
    monkeypatch.setattr(kind, "summary", lambda _: frame, raising=False)
    assert repr(object.__new__(kind)) == f"<title: about>\n{frame}"


def test_a_figure_needs_no_network(small: Results) -> None:
    bundle = small.figure("fig1")._repr_mimebundle_()
    assert bundle["image/svg+xml"].startswith("<svg")
    assert "cdn" not in bundle["image/svg+xml"]


def test_nothing_in_a_summary_is_markup() -> None:
    html = hypertext.summary("<i>", "a & b", ["<th>"], [["\x1b[1m", 3]])
    assert Cells(html).elements == {"p", "b", "br", "table", "thead", "tbody", "tr", "th", "td"}
    assert "a &amp; b" in html
    assert "\x1b" not in html
