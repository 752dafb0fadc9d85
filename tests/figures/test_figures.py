"""Figures: what they draw from real runs, what they say about runs that are missing."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import vl_convert
from inline_snapshot import snapshot

import small_study
from dumbbell.base.errors import InputError
from dumbbell.base.labels import number
from dumbbell.base.validation import validate
from dumbbell.figures import drawing, style
from dumbbell.figures.figure import Figure
from dumbbell.figures.kinds.boxes import BoxesFigure
from dumbbell.figures.kinds.histories import HistoriesFigure
from dumbbell.quantities.goodput_samples import samples_mbit_per_s
from dumbbell.quantities.tables import aggregate
from dumbbell.results.results import Results
from dumbbell.store.store import Store
from dumbbell.study.model import Study
from figure_tables import data_with, datasets, svg, vega_lite


def test_points_show_mean_and_interval_of_the_runs(small: Results) -> None:
    figure = small.figure("fig1")
    runs = small.table("fairness", ["ratio_min_max"]).filter(pl.col("rate") == "10mbit")
    expected = aggregate(runs, ["algorithm", "rtt_ms"], "ratio_min_max", share=True)
    marks = next(
        frame
        for frame in datasets(figure)
        if "hollow" in frame.columns
        and set(frame["mean"].round(4)) == set(expected["mean"].round(4))
    )
    assert set(marks["measured_x"]) == {20, 40}
    # Of two runs the dots are shown, and the interval is in the table.
    assert marks["high"].null_count() == marks.height
    assert figure.frame is not None
    shown = figure.frame.filter(pl.col("rate") == "10 Mbit/s")
    assert sorted(shown["high"]) == sorted(expected["high"])
    assert shown["mean"].to_list() == expected["mean"].to_list()


def test_titles_axes_and_legend_are_drawn(small: Results) -> None:
    text = svg(small.figure("fig1"))
    for words in ("Fig. 1. Ratio of throughputs", "RTT (ms)", "ratio", "Standard TCP", "HS-TCP"):
        assert words in text
    assert "5 Mbit/s" in text
    assert "equation 4" in text
    assert "Mean of 2 runs per point." in text


@pytest.mark.parametrize("name", ["fig1", "fig2"])
def test_a_click_on_the_legend_picks_a_series(small: Results, name: str) -> None:
    vega = json.dumps(vl_convert.vegalite_to_vega(vega_lite(small.figure(name))))
    assert "picked_label_legend" in vega


def test_theory_is_drawn_only_for_its_series(small: Results) -> None:
    curves = data_with(small.figure("fig1"), "theory")
    assert curves["series"].unique().to_list() == ["reno"]
    assert curves["x"].to_list() == [20, 40]
    assert (curves["y"] > 0).all()


def test_an_algorithm_looks_the_same_in_all_figures() -> None:
    few = style.looks(["htcp@li2007"])["htcp@li2007"]
    many = style.looks(["reno", "cubic", "htcp", "bic"])["htcp"]
    assert (few.colour, few.shape, few.label) == (many.colour, many.shape, many.label)


def test_series_of_one_algorithm_can_be_told_apart() -> None:
    looks = style.looks(["htcp", "htcp@li2007", "mine", "other"]).values()
    assert len({look.label for look in looks}) == 4
    assert len({look.colour for look in looks}) == 4


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    study = small_study.write(tmp_path / "study")
    store = small_study.run(study, tmp_path / "results", where={"rtt": "20ms"})
    results = Results(study, store)
    assert results.figure("fig1").notes == snapshot(
        (
            "Mean of 2 runs per point.",
            "Not run yet: rtt 40 ms.",
            "Small dots are single runs.",
        )
    )
    history_figure = results.figure("fig3")
    assert history_figure.notes == snapshot(("Not run yet: 40 ms.",))
    assert "not run yet" in svg(history_figure)


def test_single_missing_points_are_counted(tmp_path: Path) -> None:
    study = small_study.write(tmp_path / "study")
    store = small_study.run(study, tmp_path / "results", where={"rtt": "20ms"})
    small_study.run(study, tmp_path / "results", where={"algorithm": "reno"})
    assert Results(study, store).figure("fig1").notes == snapshot(
        (
            "Mean of 2 runs per point.",
            "Not run yet: 2 of 8 points.",
            "Small dots are single runs.",
        )
    )


@pytest.mark.parametrize("name", ["fig1", "fig2", "fig3"])
def test_without_runs_only_axes_are_drawn(tmp_path: Path, name: str) -> None:
    study = small_study.write(tmp_path / "study")
    figure = Results(study, Store(tmp_path / "results")).figure(name)
    assert figure.notes[0].startswith("Not run yet:")
    assert figure.spec.title in svg(figure)


def test_every_figure_of_the_study_can_be_drawn_without_runs(tmp_path: Path) -> None:
    results = Results(Study.load("li2007"), Store(tmp_path))
    for spec in results.study.figures:
        assert "Fig. " in str(vega_lite(spec.draw(results)))


def test_quick_runs_are_called_so_and_give_way_to_full_ones(tmp_path: Path) -> None:
    study = small_study.write(tmp_path / "study")
    store = small_study.run(study, tmp_path / "results", quick=True)
    assert Results(study, store).figure("fig2").notes[0] == snapshot("One quick run per point.")
    small_study.run(study, tmp_path / "results", where={"rtt": "20ms"})
    results = Results(study, store)
    assert results.figure("fig2").notes[0] == snapshot("Mean of 2 runs per point.")
    assert results.table("fairness").height == 8


def test_boxes_pool_the_samples_of_all_runs(small: Results) -> None:
    where = {"algorithm": "reno", "rtt": "20ms", "rate": "10mbit"}
    table = {"name": "f", "title": "F", "section": "fairness", "test": "fairness", "where": where}
    y = {"field": "goodput_mbit_per_s"}
    spec = validate(BoxesFigure, {**table, "kind": "boxes", "y": y})
    views = [view.of_flows(None, None) for _, view in small.views("fairness", where)]
    pooled = np.concatenate([samples_mbit_per_s(view) for view in views if view is not None])
    figure = spec.draw(small)
    box = data_with(figure, "q50").to_dicts()[0]
    assert box["runs"] == 2
    assert box["samples"] == pooled.size > 10
    for name, share in (("min", 0), ("q25", 0.25), ("q50", 0.5), ("q75", 0.75), ("max", 1)):
        assert box[name] == pytest.approx(np.quantile(pooled, share), rel=1e-5)
    assert f"{pooled.size} samples of 2 runs" in svg(figure)
    assert figure.notes == snapshot(("Samples of 2 runs per point.",))
    assert figure.tables[0].rows[0].x == "Standard TCP"


def test_a_red_line_stands_wherever_something_was_sent_again(small: Results) -> None:
    where = {"algorithm": "highspeed", "rate": "10mbit", "rtt": "20ms"}
    panel = [{"title": "p", "test": "fairness", "where": where}]
    table = {"name": "f", "title": "F", "section": "fairness", "kind": "histories"}
    plain, marked = (
        validate(HistoriesFigure, {**table, "panel": panel, **keys}).draw(small)
        for keys in ({}, {"marks": "retransmissions"})
    )
    assert not any("segs" in frame.columns for frame in datasets(plain))
    lines = data_with(marked, "segs")
    run = small.stored_run("fairness", where)
    assert run is not None
    resent = {flow.label: flow.retransmitted_segs for flow in run.summary.flows}
    assert dict(lines.group_by("label").agg(pl.col("segs").sum()).iter_rows()) == resent
    assert marked.notes == snapshot(("Red lines: something was sent again.",))
    assert "#c01015" in svg(marked)


def test_a_panel_shows_the_run_that_has_most_of_something(small: Results) -> None:
    where = {"algorithm": "reno", "rate": "10mbit", "rtt": "40ms"}
    table = {"name": "f", "title": "F", "section": "fairness", "kind": "histories"}
    quantity = "goodput_mbit_per_s[2]@run"
    runs = small.table("fairness", [quantity]).filter(
        (pl.col("algorithm") == "reno") & (pl.col("rate") == "10mbit") & (pl.col("rtt") == "40ms")
    )
    amounts = dict(runs.select("repetition", quantity).iter_rows())
    most = max(amounts, key=lambda repetition: amounts[repetition])
    assert len(set(amounts.values())) == len(amounts) == 2

    def panels(**keys: Any) -> Figure:
        panel = [{"title": "p", "test": "fairness", "where": where, **keys}]
        return validate(HistoriesFigure, {**table, "panel": panel}).draw(small)

    picked, first, second = panels(most=quantity), panels(), panels(repetition=2)
    shown = [datasets(figure)[0].to_dicts() for figure in (picked, first, second)]
    assert shown[1] != shown[2]
    assert shown[0] == shown[most]
    title = small.title("fairness", quantity)
    assert picked.notes == (
        f"p: of 2 runs the one whose {title} is highest, {number(amounts[most])}.",
    )
    assert panels(most="collapsed[1]").notes[0].endswith(", 0.")
    with pytest.raises(InputError) as refused:
        small.stored_run("fairness", where, repetition=0)
    assert str(refused.value) == snapshot(
        "repetition = 0: repetitions count from 1; valid: 1 for the first"
    )


def test_a_panel_without_runs_picks_none(small: Results, tmp_path: Path) -> None:
    results = Results(small.study, Store(tmp_path / "none"))
    panel = [{"title": "p", "test": "lossy", "most": "retransmitted_segs@run"}]
    table = {"name": "f", "title": "F", "section": "lossy", "kind": "histories"}
    figure = validate(HistoriesFigure, {**table, "panel": panel}).draw(results)
    assert figure.notes == snapshot(("Not run yet: p.",))


def test_an_export_that_no_flow_has_is_said_to_be_missing(small: Results) -> None:
    where = {"algorithm": "reno", "rate": "10mbit", "rtt": "20ms"}
    panel = [{"title": "p", "test": "fairness", "where": where}]
    table = {"name": "f", "title": "F", "section": "fairness", "kind": "histories"}
    shown = {"quantities": ["cwnd_segs", "state:alpha"], "panel": panel}
    figure = validate(HistoriesFigure, {**table, **shown}).draw(small)
    assert figure.notes == snapshot(("Not recorded, or not exported: alpha.",))
    svg(figure)


@pytest.mark.parametrize("suffix", [".svg", ".png", ".html", ".json"])
def test_figures_are_saved_as_their_suffix_says(
    small: Results, tmp_path: Path, suffix: str
) -> None:
    drawing.save(small.figure("fig1"), tmp_path / f"f{suffix}")
    content = (tmp_path / f"f{suffix}").read_bytes()
    beginnings = {".svg": b"<svg", ".png": b"\x89PNG", ".html": b"<!DOCTYPE", ".json": b"{"}
    assert content.startswith(beginnings[suffix])
    if suffix == ".html":
        assert not re.search(rb'src="https?:', content)
        assert b"University of Washington Interactive Data Lab" in content


def test_unknown_names_have_a_near_one(small: Results, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="fig1"):
        small.figure("fig11")
    with pytest.raises(InputError, match=r"\.svg"):
        drawing.save(small.figure("fig1"), tmp_path / "figure.gif")
