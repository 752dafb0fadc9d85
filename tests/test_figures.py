"""Figures: what they draw from real runs, what they say about runs that are missing."""

from __future__ import annotations

import io
import itertools
import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import vl_convert
from hypothesis import given
from hypothesis import strategies as st

import small_study
from dumbbell.analysis import metrics
from dumbbell.errors import InputError
from dumbbell.figures import chart_axes, chart_points, chart_style, drawing, history
from dumbbell.figures.chart_data import thin
from dumbbell.figures.chart_points import Pane
from dumbbell.figures.drawing import Figure
from dumbbell.results import Results
from dumbbell.running.store import Store
from dumbbell.study.figure_spec import Coordinate, PointsFigure
from dumbbell.study.model import Study


def drawn(results: Results, name: str) -> Figure:
    return drawing.render(results, drawing.find(results.study, name))


def datasets(chart: dict[str, Any]) -> list[pl.DataFrame]:
    """Return the data inside a Vega-Lite specification."""
    return [pl.read_csv(io.StringIO(text)) for text in chart["datasets"].values()]


def svg(figure: Figure) -> str:
    return drawing.rendered(figure.chart.to_dict(), ".svg").decode()


def test_points_show_mean_and_standard_error_of_the_runs(small: Results) -> None:
    figure = drawn(small, "fig1")
    runs = small.table("fairness").filter(pl.col("rate") == "10mbit")
    expected = metrics.aggregate(runs, ["algorithm", "rtt_ms"], "ratio_min_max")
    pane = figure.panes[1]
    assert pane.title == "10 Mbit/s"
    assert pane.marks["mean"].to_list() == expected["mean"].to_list()
    assert pane.marks["se"].to_list() == expected["se"].to_list()
    marks = next(frame for frame in datasets(figure.chart.to_dict()) if "hollow" in frame.columns)
    assert ((marks["high"] + marks["low"]) / 2).to_list() == pytest.approx(marks["y"].to_list())


def test_titles_axes_and_legend_are_drawn(small: Results) -> None:
    text = svg(drawn(small, "fig1"))
    for words in ("Fig. 1. Ratio of throughputs", "RTT (ms)", "ratio", "Standard TCP", "HS-TCP"):
        assert words in text
    assert "5 Mbit/s" in text
    assert "equation 4" in text
    assert "Mean and standard error of 2 runs per point." in text


@pytest.mark.parametrize("name", ["fig1", "fig2"])
def test_a_click_on_the_legend_picks_a_series(small: Results, name: str) -> None:
    vega = json.dumps(vl_convert.vegalite_to_vega(drawn(small, name).chart.to_dict()))
    assert "picked_label_legend" in vega


def test_theory_is_drawn_only_for_its_series(small: Results) -> None:
    curves = drawn(small, "fig1").panes[0].curves
    assert curves["series"].unique().to_list() == ["reno"]
    assert curves["x"].to_list() == [20, 40]
    assert (curves["y"] > 0).all()


def test_an_algorithm_looks_the_same_in_all_figures() -> None:
    few = chart_style.looks(["htcp@li2007"])["htcp@li2007"]
    many = chart_style.looks(["reno", "cubic", "htcp", "bic"])["htcp"]
    assert (few.colour, few.shape, few.label) == (many.colour, many.shape, many.label)


def test_series_of_one_algorithm_can_be_told_apart() -> None:
    looks = chart_style.looks(["htcp", "htcp@li2007", "mine", "other"]).values()
    assert len({look.label for look in looks}) == 4
    assert len({look.colour for look in looks}) == 4


def test_colours_stand_out_from_white_paper() -> None:
    """WCAG 2.2 asks for a contrast of 3:1 for graphics; sky blue and orange fall short alone.

    Shapes carry the distinction there.
    """
    for colour in (chart_style.INK, chart_style.FAINT, "#0072b2", "#d55e00", "#009e73"):
        assert contrast_with_white(colour) >= 3


def contrast_with_white(colour: str) -> float:
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    luminance = sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
    return 1.05 / (luminance + 0.05)


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    study = small_study.write(tmp_path / "study")
    store = small_study.run(study, tmp_path / "results", where={"rtt": "20ms"})
    results = Results(study, store)
    assert "Not run yet: rtt 40 ms." in drawn(results, "fig1").notes
    history_figure = drawn(results, "fig3")
    assert history_figure.notes == ("Not run yet: 40 ms.",)
    assert "not run yet" in svg(history_figure)


def test_single_missing_points_are_counted(tmp_path: Path) -> None:
    study = small_study.write(tmp_path / "study")
    store = small_study.run(study, tmp_path / "results", where={"rtt": "20ms"})
    small_study.run(study, tmp_path / "results", where={"algorithm": "reno"})
    assert "Not run yet: 2 of 8 points." in drawn(Results(study, store), "fig1").notes


@pytest.mark.parametrize("name", ["fig1", "fig2", "fig3"])
def test_without_runs_only_axes_are_drawn(tmp_path: Path, name: str) -> None:
    study = small_study.write(tmp_path / "study")
    figure = drawn(Results(study, Store(tmp_path / "results")), name)
    assert figure.notes[0].startswith("Not run yet:")
    assert figure.spec.title in svg(figure)


def test_every_figure_of_the_study_can_be_drawn_without_runs(tmp_path: Path) -> None:
    results = Results(Study.load("li2007"), Store(tmp_path))
    for spec in results.study.figures:
        assert "Fig. " in svg(drawing.render(results, spec))


def test_quick_runs_are_called_so_and_give_way_to_full_ones(tmp_path: Path) -> None:
    study = small_study.write(tmp_path / "study")
    store = small_study.run(study, tmp_path / "results", quick=True)
    assert drawn(Results(study, store), "fig2").notes[0] == "One quick run per point."
    small_study.run(study, tmp_path / "results", where={"rtt": "20ms"})
    results = Results(study, store)
    assert drawn(results, "fig2").notes[0] == "Mean and standard error of 2 runs per point."
    assert results.table("fairness").height == 8


def points(y: Coordinate, marks: pl.DataFrame, missing: str | None = None) -> list[pl.DataFrame]:
    spec = PointsFigure(
        name="f",
        title="F",
        section="t",
        kind="points",
        test="t",
        x=Coordinate(field="x", title="x"),
        y=y,
        missing=missing,
    )
    chart = chart_points.draw(spec, [Pane("", marks)], chart_style.looks(marks["series"]))
    drawing.rendered(chart.to_dict(), ".svg")
    return [frame for frame in datasets(chart.to_dict()) if "hollow" in frame.columns]


def marks(*rows: tuple[str, float, float | None, float | None, int, int]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["series", "x", "mean", "se", "n", "runs"], orient="row")


def test_zero_on_a_log_axis_stands_hollow_on_its_edge() -> None:
    data = marks(("reno", 1, 0.0, 0.0, 3, 3), ("reno", 2, 2e-4, 3e-4, 3, 3))
    found = points(Coordinate(field="y", title="y", scale="log"), data)[0]
    assert found["hollow"].to_list() == [True, False]
    assert found["y"].to_list() == [1e-4, 2e-4]
    assert found["low"].to_list() == [None, 1e-4]


def test_means_of_some_runs_are_hollow_and_of_none_absent() -> None:
    data = marks(
        ("reno", 1, 9.0, 1.0, 3, 3), ("reno", 2, 9.0, None, 1, 3), ("reno", 3, None, None, 0, 3)
    )
    found = points(Coordinate(field="y", title="y"), data, missing="did not converge")[0]
    assert found["hollow"].to_list() == [False, True, True]
    assert found["runs"].to_list() == ["3", "1 of 3", "0 of 3"]
    assert found["y"].to_list() == [9, 9, None]


def test_axes_hold_every_value() -> None:
    data = marks(("reno", 1, 1.7, 0.4, 3, 3), ("reno", 2, 0.5, 0.1, 3, 3))
    spec = Coordinate(field="y", title="y", low=0, high=1)
    from_data = chart_axes.extent(spec, [data["mean"] + data["se"]])
    assert from_data.low == 0
    assert from_data.high >= 2.1


def test_histories_keep_every_byte(small: Results) -> None:
    run = small.run("fairness", {"algorithm": "reno", "rate": "10mbit", "rtt": "20ms"})
    assert run is not None
    for flow, told in zip(run.scenario["flows"], run.summary["flows"], strict=True):
        rates = history.series(run, "goodput_mbit").filter(pl.col("label") == flow["label"])
        ends = [flow["start_ns"] / 1e9, *rates["time_s"]]
        spans = [after - before for before, after in itertools.pairwise(ends)]
        bits = sum(rate * span * 1e6 for rate, span in zip(rates["value"], spans, strict=True))
        assert bits / 8 == pytest.approx(told["received_bytes"], rel=1e-3)


def test_histories_show_what_an_algorithm_reports(small: Results) -> None:
    run = small.run("fairness", {"algorithm": "highspeed", "rate": "10mbit", "rtt": "20ms"})
    assert run is not None
    assert history.series(run, "alpha")["value"].min() == 1
    kept = history.series(run, "beta")["value"]
    assert kept.min() == pytest.approx(0.5, abs=0.01)
    reno = small.run("fairness", {"algorithm": "reno", "rate": "10mbit", "rtt": "20ms"})
    assert reno is not None
    with pytest.raises(InputError, match="does not report"):
        history.series(reno, "alpha")


@given(st.lists(st.integers(0, 1000), min_size=2, max_size=400), st.integers(1, 20))
def test_thinning_keeps_ends_and_extremes(values: list[int], buckets: int) -> None:
    frame = pl.DataFrame({"x": [float(x) for x in range(len(values))], "y": values})
    kept = thin(frame, "x", "y", buckets)
    assert kept["x"].is_sorted()
    assert kept["y"].min() == min(values)
    assert kept["y"].max() == max(values)
    assert (kept["x"][0], kept["x"][-1]) == (frame["x"][0], frame["x"][-1])
    assert kept.height <= max(len(values) if len(values) <= 3 * buckets else 0, 3 * buckets + 1)


@pytest.mark.parametrize("suffix", [".svg", ".png", ".html", ".json"])
def test_figures_are_saved_as_their_suffix_says(
    small: Results, tmp_path: Path, suffix: str
) -> None:
    drawing.save(drawn(small, "fig1"), tmp_path / f"f{suffix}")
    content = (tmp_path / f"f{suffix}").read_bytes()
    beginnings = {".svg": b"<svg", ".png": b"\x89PNG", ".html": b"<!DOCTYPE", ".json": b"{"}
    assert content.startswith(beginnings[suffix])
    if suffix == ".html":
        assert not re.search(rb'src="https?:', content)


def test_unknown_names_have_a_near_one(small: Results, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="fig1"):
        drawing.find(small.study, "fig11")
    with pytest.raises(InputError, match=r"\.svg"):
        drawing.save(drawn(small, "fig1"), tmp_path / "figure.gif")


def test_a_figure_in_one_line(small_folder: Path) -> None:
    chart = drawing.draw(small_folder / "study", "fig1", small_folder / "results")
    assert "Fig. 1" in str(chart.to_dict()["title"])
