"""Bars: stacked, side by side, with a second quantity, and the names of their groups."""

from __future__ import annotations

import json
import re
from typing import Any

import polars as pl
import pytest
from inline_snapshot import snapshot

from dumbbell.base.errors import InputError
from figure_specs import (
    AXES,
    PART,
    TIMES,
    bars,
    labels,
)
from figure_tables import Tables, data_with, drawn, svg, vega_lite

PARTS = [
    {
        "algorithm": "reno",
        "rtt": rtt,
        "goodput_mbit_per_s[1]": 3.0,
        "goodput_mbit_per_s[2]": 4.0 + n,
    }
    for rtt in ("22ms", "42ms")
    for n in (0, 1, 0, 1)
]

PART_FIELDS = [part["field"] for part in PART]


def test_parts_are_stacked_on_each_other_with_their_intervals() -> None:
    y = {"field": "goodput_mbit_per_s"}
    figure = drawn(Tables(AXES, PARTS), bars(y=y, part=PART))
    shown = data_with(figure, "bottom").filter(pl.col("group") == "22 ms").sort("bottom")
    assert shown["part"].to_list() == ["flow 1", "flow 2"]
    assert shown["bottom"].to_list() == [0, 3]
    assert shown["top"].to_list() == [3, 7.5]
    assert (shown["low"][1] + shown["high"][1]) / 2 == pytest.approx(7.5)
    assert figure.frame is not None
    assert set(figure.frame["quantity"]) == {part["field"] for part in PART}
    assert figure.notes == snapshot(
        (
            "Mean and 95 % interval of 4 runs per point.",
            "Not run yet: algorithm CUBIC, H-TCP, BIC-TCP, Scalable-TCP, HS-TCP, FAST-TCP and YeAH; rtt 16 ms.",
            "Bars, from the bottom: flow 1; flow 2.",
        )
    )
    assert [table.title for table in figure.tables] == ["flow 1", "flow 2"]
    texts = labels(svg(figure), "bar")
    where = "Standard TCP, rtt 22 ms, flow 2"
    text = f"{where}: goodput (Mbit/s) 4.5 (95 % interval 3.58 to 5.42), 4 runs"
    assert text in texts


def test_parts_of_one_quantity_have_its_title_and_a_shade_each() -> None:
    quantities = [f"goodput_mbit_per_s[1]@{window}" for window in ("late", "final", "run")]
    row = {"algorithm": "reno", "rtt": "22ms", **dict.fromkeys(quantities, 3.0)}
    part = [{"field": name, "label": name[-5:]} for name in quantities]
    y = {"field": quantities[0]}
    alone = Tables({**AXES, "algorithm": ["reno"]}, [row])
    text = svg(drawn(alone, bars(y=y, part=part, beside=True)))
    assert ">goodput (Mbit/s)<" in text
    assert ">Standard TCP<" not in text, "one series needs no legend"
    shades = re.findall(r'aria-roledescription="bar"[^>]* fill-opacity="([\d.]+)"', text)
    assert [float(shade) for shade in (shades if len(shades) == 3 else ["1", *shades])] == (
        pytest.approx([1, 0.675, 0.35])
    )


@pytest.mark.parametrize(("groups", "angle"), [(3, 0), (20, -40)])
def test_names_of_groups_are_aslant_where_a_word_is_too_long(groups: int, angle: int) -> None:
    names = [f"CCPD(4,{number})" for number in range(4000, 4000 + groups)]
    chart = drawn(Tables({"algorithm": ["reno"], "rtt": names}), bars()).chart
    assert f'"labelAngle": {angle}' in json.dumps(chart.to_dict())


@pytest.mark.parametrize(("packets", "split"), [("100p", False), ("2340000p", True)])
def test_names_of_groups_have_lines_where_they_would_not_fit(packets: str, split: bool) -> None:
    queues = [packets, *(f"{packets[:-1]}{n}p" for n in range(1, 8))]
    figure = drawn(Tables({"algorithm": ["reno"], "queue": queues}), bars(groups="queue"))
    axis = str(vega_lite(figure))
    assert ("labelExpr" in axis) == split


def test_parts_stand_beside_each_other_on_a_log_axis() -> None:
    tail = ("latency_p99_ms[rpc]", "latency_p999_ms[rpc]")
    table = Tables(AXES, [{"algorithm": "reno", "rtt": "22ms", tail[0]: 3.0, tail[1]: 500.0}])
    part = [{"field": tail[0], "label": "p99"}, {"field": tail[1], "label": "p99.9"}]
    y = {"field": tail[0], "scale": "log", "title": "latency (ms)"}
    figure = drawn(table, bars(y=y, part=part, beside=True))
    shown = data_with(figure, "bottom").sort("top")
    assert shown["bottom"].to_list() == [1, 1]
    assert shown["top"].to_list() == [3, 500]
    assert shown["slot"].n_unique() == 2
    assert figure.notes == snapshot(
        (
            "One run per point.",
            "Not run yet: algorithm CUBIC, H-TCP, BIC-TCP, Scalable-TCP, HS-TCP, FAST-TCP and YeAH; rtt 16 ms and 42 ms.",
            "Bars, from the left: p99; p99.9.",
        )
    )
    places = re.findall(r'aria-roledescription="bar" d="M([\d.]+),[\d.]+h([\d.]+)', svg(figure))
    assert len(places) == 2
    (left, width), (right, _) = sorted((float(x), float(w)) for x, w in places)
    assert left + width <= right


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ({"part": PART, "y": {"field": "jain", "scale": "log"}}, r"y\.scale.*log scale"),
        ({"beside": True}, "beside.*no parts"),
        ({"part": [PART[0], PART[0]]}, "part.*labels that differ"),
        ({"marks": {"field": "jain"}}, r"marks\.field.*the bars show it"),
    ],
)
def test_bars_that_cannot_be_drawn_are_refused(keys: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        bars(**keys)


def test_a_second_quantity_has_an_axis_of_its_own() -> None:
    figure = drawn(TIMES, bars(marks={"field": "share", "title": "a share"}))
    assert figure.notes == snapshot(
        (
            "Mean and 95 % interval of 4 runs per point.",
            "Not run yet: rtt 16 ms.",
            "Bars: fairness (Jain); points: a share.",
        )
    )
    assert "a share" in svg(figure)
    layers = vega_lite(figure)["hconcat"][0]
    assert layers["resolve"]["scale"]["y"] == "independent"
    assert [table.caption for table in figure.tables] == snapshot(
        [
            "fairness (Jain), mean and 95 % interval",
            "a share, mean and 95 % interval",
        ]
    )


def test_bars_of_few_runs_have_their_dots_on_the_stack() -> None:
    runs = [
        {"algorithm": "reno", "rtt": "22ms", **dict(zip(PART_FIELDS, pair, strict=True))}
        for pair in ((3.0, 4.0), (3.0, 5.0))
    ]
    figure = drawn(Tables(AXES, runs), bars(y={"field": "goodput_mbit_per_s"}, part=PART))
    dots = data_with(figure, "value").sort("part", "value")
    assert dots.select("part", "value").rows() == [
        ("flow 1", 3),
        ("flow 1", 3),
        ("flow 2", 7),
        ("flow 2", 8),
    ]
