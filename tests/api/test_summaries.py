"""Notebooks' views of runs, studies, results and figures."""

from __future__ import annotations

from html.parser import HTMLParser

from dumbbell.api import simulate
from dumbbell.base import hypertext
from dumbbell.quantities import flow_totals
from dumbbell.results.results import Results
from dumbbell.study.model import Study
from sample_runs import scenario


class Cells(HTMLParser):
    """Reads the texts of a table's cells, and what elements there are."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.elements: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        assert not attrs
        self.elements.add(tag)
        if tag in ("td", "th"):
            self.found.append("")

    def handle_data(self, data: str) -> None:
        if self.found:
            self.found[-1] += data


def test_a_run_says_what_its_flows_achieved() -> None:
    flows = [{"algorithm": "reno", "label": "<script>alert(1)</script>"}, {"algorithm": "cubic"}]
    run = simulate(scenario({"duration": "2s", "flow": flows}))
    cells = Cells(run._repr_html_())
    told = flow_totals.flows(run)
    assert cells.found == [*told.heads, *(cell for row in told.rows for cell in row)]
    assert flows[0]["label"] in cells.found
    assert "script" not in cells.elements


def test_a_study_is_short_and_names_its_tests() -> None:
    study = Study.load("li2007")
    assert repr(study) == str(study)
    assert len(repr(study)) < 200
    cells = Cells(study._repr_html_())
    assert {test.name for test in study.tests} <= set(cells.found)
    points = {test.name: sum(1 for _ in test.grid_points) for test in study.tests}
    at = cells.found.index("fairness")
    assert cells.found[at + 3] == str(points["fairness"])


def test_results_say_how_much_of_each_test_is_there(small: Results) -> None:
    cells = Cells(small._repr_html_())
    at = cells.found.index("fairness")
    finished, asked = map(int, cells.found[at + 2 : at + 4])
    assert finished == len(small.finished("fairness"))
    assert finished <= asked == len(small.runs("fairness"))
    assert "runs finished" in repr(small)
    assert "b" in cells.elements
    assert "<b>two</b>" not in small._repr_html_()


def test_a_figure_needs_no_network(small: Results) -> None:
    bundle = small.figure("fig1")._repr_mimebundle_()
    assert bundle["image/svg+xml"].startswith("<svg")
    assert "cdn" not in bundle["image/svg+xml"]


def test_nothing_in_a_summary_is_markup() -> None:
    said = hypertext.summary("<i>", "a & b", ["<th>"], [["\x1b[1m", 3]])
    assert Cells(said).elements == {"p", "b", "br", "table", "thead", "tbody", "tr", "th", "td"}
    assert "a &amp; b" in said
    assert "\x1b" not in said
