"""Maps of one quantity and of the ratio of two series over two axes."""

from __future__ import annotations

import re
from typing import Any

import polars as pl
import pytest
from inline_snapshot import snapshot

from dumbbell.base.errors import InputError
from dumbbell.base.validation import validate
from dumbbell.figures.figure import Figure
from dumbbell.figures.kinds.heatmap import HeatmapFigure
from dumbbell.figures.kinds.ratios import RatiosFigure
from dumbbell.figures.looks import LOOKS
from dumbbell.inference import statistics
from dumbbell.quantities.names import What
from figure_tables import COMMON, Tables, data_with, datasets, drawn, svg, vega_lite


def heatmap(**keys: Any) -> HeatmapFigure:
    cells = {"x": "rtt", "y": "second", "quantity": "jain", "facet": "algorithm"}
    return validate(HeatmapFigure, {**COMMON, "kind": "heatmap", **cells, **keys})


def ratios(**keys: Any) -> RatiosFigure:
    cells = {"x": "rtt", "y": "second", "quantity": "jain", "first": "reno", "second": "cubic"}
    return validate(RatiosFigure, {**COMMON, "kind": "ratios", **cells, **keys})


TWO = {"algorithm": ["reno", "cubic"], "rtt": ["22ms", "42ms"], "second": ["same"]}


COMPETING = Tables(
    TWO,
    [
        {"algorithm": name, "rtt": rtt, "second": "same", "jain": mean + 0.01 * run}
        for name, rtt, mean in (
            ("reno", "22ms", 0.8),
            ("cubic", "22ms", 0.4),
            ("reno", "42ms", 0.5),
            ("cubic", "42ms", 0.505),
        )
        for run in range(5)
    ],
)
"""At 22 ms Reno is the better one; at 42 ms intervals overlap."""


def test_only_what_is_decided_is_the_best_of_a_map() -> None:
    figure = drawn(COMPETING, heatmap())
    cells = pl.concat(
        frame.with_columns(place=pl.lit(place))
        for place, frame in enumerate(
            frame for frame in datasets(figure) if "is_best" in frame.columns
        )
    )
    assert cells.filter("is_best").select("place", "x").rows() == [(0, "22ms")]
    note = "Outlined: the best at this point; its interval overlaps with no other's."
    assert note in figure.notes
    alone = drawn(COMPETING, heatmap(where={"algorithm": "reno"}))
    assert not any(frame["is_best"].any() for frame in datasets(alone) if "is_best" in frame)


SHARES = Tables(
    TWO,
    [
        {"algorithm": name, "rtt": rtt, "second": "same", "utilisation": value}
        for name, rtt, values in (
            ("reno", "22ms", (0.90, 0.96)),
            ("cubic", "22ms", (0.99, 0.992)),
            ("reno", "42ms", (0.70, 0.701)),
            ("cubic", "42ms", (0.99, 0.992)),
        )
        for value in values
    ],
)
"""At 22 ms the interval of Reno's two runs reaches beyond CUBIC's; at 42 ms CUBIC is better."""


def test_intervals_of_per_cents_are_cut_at_100_per_cent_on_a_map() -> None:
    figure = drawn(SHARES, heatmap(quantity="utilisation"))
    assert figure.frame is not None
    row = figure.frame.filter(algorithm="Standard TCP", rtt="42ms").row(0, named=True)
    assert (row["mean"], row["high"]) == (pytest.approx(0.7005), pytest.approx(0.7069, abs=1e-4))
    assert figure.tables[0].rows[0].cells[1] == snapshot("70.05 ± 0.64 %")
    cells = pl.concat(frame for frame in datasets(figure) if "is_best" in frame.columns)
    assert cells["mean"].max() == pytest.approx(99.1)
    assert cells.filter("is_best").select("x", "mean").rows() == [("42ms", pytest.approx(99.1))]


def test_equal_numbers_do_not_span_all_colours_of_a_map() -> None:
    runs = [
        {"algorithm": "reno", "rtt": rtt, "second": "same", "jain": value}
        for rtt, value in (("22ms", 0.994), ("42ms", 0.9999))
    ]
    text = str(vega_lite(drawn(Tables(TWO, runs), heatmap())))
    low, high = map(float, re.findall(r"'domain': \[([\d.]+), ([\d.]+)\], 'scheme'", text)[0])
    assert high - low == pytest.approx(0.05, rel=1e-3)


def test_a_map_of_ratios_has_a_diagonal_where_nothing_is_decided() -> None:
    figure = drawn(COMPETING, ratios())
    cells = data_with(figure, "decided").sort("x")
    assert cells["decided"].to_list() == [True, False]
    assert cells["text"].to_list() == [1.952, 0.9905]
    assert figure.notes == snapshot(
        (
            "Ratios of means, Standard TCP / CUBIC, of 5 runs per point.",
            "Colours: Standard TCP is better above 1, CUBIC below.",
            "White with a diagonal: not decided (1 of 2), as the 95 % intervals of the two means overlap.",
        )
    )
    one, other = ([mean + 0.01 * run for run in range(5)] for mean in (0.8, 0.4))
    ratio = statistics.ratio(one, other)
    assert figure.frame is not None
    row = figure.frame.filter(pl.col("rtt") == "22ms").row(0, named=True)
    assert (row["low"], row["high"]) == (ratio.low, ratio.high)
    # The better one has its colour. No cell that is not decided has a colour of the scale.
    assert LOOKS["reno"].colour in svg(figure)
    layers = vega_lite(figure)["concat"][0]["layer"]
    still_open = [
        layer["mark"]
        for layer in layers
        if {"filter": "!datum.decided"} in layer.get("transform", [])
    ]
    assert [(mark["type"], mark.get("color")) for mark in still_open] == [
        ("rect", "white"),
        ("point", None),
    ]


@pytest.mark.parametrize(
    ("quantity", "words"),
    [
        ("jain", ("CUBIC better", "Standard TCP better")),
        ("rtt_inflation", ("Standard TCP better", "CUBIC better")),
        ("cwnd_mean_segs", ("CUBIC larger", "Standard TCP larger")),
    ],
)
def test_a_map_of_ratios_names_whom_its_colours_mean(quantity: str, words: tuple[str, str]) -> None:
    rows = COMPETING.table("t", ["jain"]).rename({"jain": quantity})
    source = Tables(TWO, rows.select(*TWO, quantity).to_dicts())
    figure = drawn(source, ratios(quantity=quantity))
    below, above = words
    assert re.findall(r'"([^"]*)"', labels_of_legend(figure)) == [f" {below}", f" {above}"]
    winner, word = above.rsplit(" ", 1)
    (note,) = (note for note in figure.notes if note.startswith("Colours"))
    assert f"{winner} is {word} above 1" in note
    assert all(text in svg(figure).replace("&nbsp;", " ") for text in words)


def labels_of_legend(figure: Figure) -> str:
    layers = vega_lite(figure)["concat"][0]["layer"]
    (legend,) = (
        layer["encoding"]["color"]["legend"]
        for layer in layers
        if "legend" in layer["encoding"].get("color", {})
    )
    label: str = legend["labelExpr"]
    return label


def test_a_map_of_ratios_decides_as_a_heat_map_does() -> None:
    samples = {
        name: [least + 0.01 * run for run in range(4)]
        for name, least in (("reno", 0.94), ("cubic", 0.97))
    }
    source = Tables(
        TWO,
        [
            {"algorithm": name, "rtt": "22ms", "second": "same", "jain": value}
            for name, values in samples.items()
            for value in values
        ],
    )
    # The interval of the ratio excludes 1, but those of the means overlap.
    assert statistics.ratio(samples["reno"], samples["cubic"]).high < 1
    assert data_with(drawn(source, ratios()), "decided")["decided"].to_list() == [False]
    best = [frame["is_best"] for frame in datasets(drawn(source, heatmap())) if "is_best" in frame]
    assert not any(column.any() for column in best)


THREE = {"algorithm": ["reno", "cubic"], "rtt": ["22ms"], "second": ["same"], "buffer": ["1", "2"]}
POOLED = Tables(
    THREE,
    [
        {"algorithm": name, "rtt": "22ms", "second": "same", "buffer": buffer, "jain": mean + shift}
        for name, buffer, mean in (
            ("reno", "1", 0.3),
            ("reno", "2", 0.9),
            ("cubic", "1", 0.2),
            ("cubic", "2", 0.8),
        )
        for shift in (0, 0.01)
    ],
)
"""Reno is the better one with either buffer, and buffers differ by more than the two do."""


def test_other_values_of_an_axis_are_no_repetitions_on_a_map() -> None:
    figure = drawn(POOLED, heatmap())
    assert figure.notes == snapshot(
        (
            "Cells are means of fairness (Jain) of 2 runs per point.",
            "Averages over buffer = 1, 2. Intervals show chance between runs, not the differences between these points.",
            "Outlined: the best at this point; its interval overlaps with no other's.",
        )
    )
    expected = statistics.average([[0.3, 0.31], [0.9, 0.91]])
    assert figure.frame is not None
    row = figure.frame.row(0, named=True)
    assert (row["mean"], row["low"], row["high"], row["runs"]) == (
        *map(pytest.approx, (expected.value, *expected.interval)),
        4,
    )
    shown = drawn(POOLED, heatmap(where={"buffer": "1"}))
    assert not any("verages" in note for note in shown.notes)


def test_a_map_of_ratios_does_not_take_other_values_of_an_axis_for_repetitions() -> None:
    figure = drawn(POOLED, ratios())
    assert figure.notes == snapshot(
        (
            "Ratios of means, Standard TCP / CUBIC, of 2 runs per point.",
            "Averages over buffer = 1, 2. Intervals show chance between runs, not the differences between these points.",
            "Colours: Standard TCP is better above 1, CUBIC below.",
        )
    )
    assert figure.frame is not None
    row = figure.frame.row(0, named=True)
    assert row["decided"]
    assert row["ratio"] == pytest.approx(0.605 / 0.505)
    assert 1 < row["low"] < row["high"]


def test_averages_over_other_values_have_no_winner_while_values_are_missing() -> None:
    part = POOLED.table("t", ["jain"]).filter(
        (pl.col("algorithm") == "reno") | (pl.col("buffer") == "1")
    )
    source = Tables(THREE, part.select(*THREE, "jain").to_dicts())
    best = [frame["is_best"] for frame in datasets(drawn(source, heatmap())) if "is_best" in frame]
    assert not any(column.any() for column in best)
    figure = drawn(source, ratios())
    assert figure.frame is not None
    # The ratio is that of the points that both have.
    assert figure.frame["ratio"].to_list() == [pytest.approx(0.305 / 0.205)]
    assert figure.frame["decided"].to_list() == [False]


def test_an_axis_of_a_map_may_have_the_name_of_a_column() -> None:
    rows = POOLED.table("t", ["jain"]).select(*THREE, "jain").rename({"buffer": "value"})
    axes = {name.replace("buffer", "value"): values for name, values in THREE.items()}
    figure = drawn(Tables(axes, rows.to_dicts()), ratios())
    assert figure.frame is not None
    assert figure.frame["decided"].to_list() == [True]


def test_a_ratio_needs_two_series_of_the_axis() -> None:
    with pytest.raises(InputError) as refused:
        ratios(second="reno")
    assert str(refused.value) == snapshot('second = "reno": is the first one, too')
    named = {use.key: use.name for use in ratios().uses() if use.what is What.VALUE}
    assert named == {"first": ("algorithm", "reno"), "second": ("algorithm", "cubic")}


def test_a_map_of_ratios_says_what_is_seen() -> None:
    assert drawn(COMPETING, ratios()).alternative_text == snapshot(
        "Fig. 9. F. fairness (Jain): Standard TCP / CUBIC, with 95 % interval, by second. 22 ms: 1.952 at same; 42 ms: 0.9905 at same. Ratios of means, Standard TCP / CUBIC, of 5 runs per point. Colours: Standard TCP is better above 1, CUBIC below. White with a diagonal: not decided (1 of 2), as the 95 % intervals of the two means overlap."
    )
