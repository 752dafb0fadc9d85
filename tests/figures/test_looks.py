"""Every algorithm has a look that differs from all others, in colour and in print."""

from __future__ import annotations

import itertools
import json
import math
import re

import altair as alt
import vl_convert

from dumbbell.algorithms import catalogue
from dumbbell.algorithms.labels import algorithm_label
from dumbbell.figures import style
from dumbbell.figures.looks import LOOKS
from dumbbell.reports.pages import asset

Colour = tuple[float, float, float]

# Machado, Oliveira and Fernandes 2009: what is left of linear red, green and blue for people
# without one kind of cones.
VISION: dict[str, tuple[Colour, Colour, Colour]] = {
    "all cones": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "no long ones": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "no medium ones": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
}

TOLD_APART = 20
"""Distance in CIELAB at which two lines are clearly of different colours; 2 can just be seen."""


def lab(colour: str, vision: str) -> Colour:
    """Return CIELAB coordinates of an sRGB colour (D65), as somebody sees it."""
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    seen = [sum(w * c for w, c in zip(row, linear, strict=True)) for row in VISION[vision]]
    red, green, blue = (min(max(value, 0.0), 1.0) for value in seen)
    x = (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.9505
    y = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    z = (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.0890
    fx, fy, fz = (
        value ** (1 / 3) if value > 0.008856 else 7.787 * value + 16 / 116 for value in (x, y, z)
    )
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def distance(one: str, other: str) -> float:
    """Return the smallest distance that two colours have for anybody."""
    return min(math.dist(lab(one, vision), lab(other, vision)) for vision in VISION)


def test_every_algorithm_has_a_look_of_its_own() -> None:
    assert set(LOOKS) == set(catalogue.algorithms())
    assert len({look.label for look in LOOKS.values()}) == len(LOOKS)
    assert len({look.colour for look in LOOKS.values()}) == len(LOOKS)
    assert list(style.looks(LOOKS).values()) == list(LOOKS.values())


def test_those_of_one_shape_have_colours_that_anybody_tells_apart() -> None:
    for one, other in itertools.combinations(LOOKS.values(), 2):
        if one.shape == other.shape:
            assert distance(one.colour, other.colour) >= TOLD_APART, f"{one.label}, {other.label}"


def test_those_of_one_study_have_colours_that_anybody_tells_apart() -> None:
    """Lines are followed by colour alone; half the distance is enough with shapes."""
    mani = ("reno", "scalable", "highspeed", "htcp", "bic", "cubic", "illinois", "yeah")
    brakmo = ("cubic", "dctcp", "nv", "bbr")
    for names in ((*mani, "relentless"), brakmo):
        for one, other in itertools.combinations(names, 2):
            apart = distance(LOOKS[one].colour, LOOKS[other].colour)
            assert apart >= TOLD_APART / 2, f"{one}, {other}: {apart:.0f}"


def test_lines_stand_out_from_paper_by_day_and_by_night() -> None:
    """WCAG 2.2 (1.4.11) asks for a contrast of 3:1 for graphics."""
    night = luminance(by_night("#ffffff"))
    drawn = [look.colour for look in LOOKS.values()]
    for colour in (
        *drawn,
        *style.SPARE_COLOURS,
        style.CHOSEN,
        style.OTHERS,
        style.FAINT,
        style.INK,
    ):
        assert 1.05 / (luminance(colour) + 0.05) >= 3, colour
        assert (luminance(by_night(colour)) + 0.05) / (night + 0.05) >= 3, colour


def test_flows_have_the_colours_of_their_algorithms() -> None:
    colours = style.flow_colours(["cubic", "cubic", "bbr3@fast", None, "mine"])
    assert colours[0] == LOOKS["cubic"].colour
    assert colours[2] == LOOKS["bbr3"].colour
    others = {colours[place] for place in (1, 3, 4)}
    assert len(others) == 3
    assert not others & {look.colour for look in LOOKS.values()}


def test_the_order_of_series_changes_no_look() -> None:
    names = ["htcp@li2007", "htcp", "mine", "cubic@linux-6"]
    assert style.looks(names) == style.looks(reversed(names))
    assert style.looks(names)["htcp"] == LOOKS["htcp"]


def test_what_has_no_look_takes_nobodys() -> None:
    values = ["mine", "yeah", "other", "yeah@mani2012", "htcp"]
    looks = style.looks(values)
    assert looks["yeah"] == LOOKS["yeah"]
    assert looks["htcp"] == LOOKS["htcp"]
    assert looks["yeah@mani2012"].label == "YeAH (yeah@mani2012)"
    assert len({look.colour for look in looks.values()}) == len(values)
    many = style.looks([f"own{number}" for number in range(20)])
    assert len({(look.colour, look.shape) for look in many.values()}) == 20
    assert not {look.colour for look in many.values()} & {look.colour for look in LOOKS.values()}


def test_names_are_those_of_the_literature() -> None:
    assert algorithm_label("illinois@mani2012") == "Illinois"
    assert algorithm_label("my_cc") == "my_cc"


def test_gains_of_a_preset_belong_to_the_name() -> None:
    assert algorithm_label("ccp@kumazoe2012-kp4") == "CCP(4)"
    assert algorithm_label("ccpd@kumazoe2012-kp4-kd2000") == "CCPD(4,2000)"
    assert algorithm_label("ccpd@kumazoe2012") == "CCPD"
    assert algorithm_label("cubic@linux-2.6.26") == "CUBIC"
    names = ["ccp@kumazoe2012-kp1", "ccp@kumazoe2012-kp4", "ccpd@kumazoe2012-kp2-kd1000"]
    labels = [look.label for look in style.looks(names).values()]
    assert labels == ["CCP(1)", "CCP(4)", "CCPD(2,1000)"]


def test_shapes_are_drawn() -> None:
    """Vega draws nothing, without an error, where it cannot read a path."""
    looks = list(LOOKS.values())
    chart = (
        alt.Chart(alt.InlineData(values=[{"label": look.label} for look in looks]))
        .mark_point(filled=True)
        .encode(
            x="label:N",
            shape=alt.Shape(
                "label:N",
                legend=None,
                scale=alt.Scale(
                    domain=[look.label for look in looks], range=[look.shape for look in looks]
                ),
            ),
        )
    )
    svg = vl_convert.vegalite_to_svg(json.loads(chart.to_json()))
    marks = svg[svg.index("mark-symbol") :].split("<path ")[1:]
    drawn = {mark.split(' d="')[1].split('"')[0] for mark in marks[: len(looks)]}
    assert len(drawn) == len({look.shape for look in looks})


def by_night(colour: str) -> str:
    """Return a colour as pages that are dark show it: inverted, and its hue turned back."""
    match = re.search(
        r"invert\(([\d.]+)\) hue-rotate\(180deg\) brightness\(([\d.]+)\);", asset("report.css")
    )
    assert match is not None
    share, brightness = float(match[1]), float(match[2])
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    inverted = [share * (1 - channel) + (1 - share) * channel for channel in channels]
    # The matrix of filter effects (W3C, 2018) for half a turn: twice the luminance, less itself.
    grey = sum(w * c for w, c in zip((0.213, 0.715, 0.072), inverted, strict=True))
    turned = (min(max(2 * grey - channel, 0.0), 1.0) for channel in inverted)
    return "#" + "".join(f"{round(255 * min(brightness * channel, 1)):02x}" for channel in turned)


def luminance(colour: str) -> float:
    """Return the relative luminance of an sRGB colour."""
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_white_becomes_the_paper_of_dark_pages() -> None:
    paper = re.search(r"--paper: (#1[0-9a-f]{5});", asset("report.css"))
    assert paper is not None
    assert by_night("#ffffff") == paper[1]


def test_colours_are_told_apart_on_dark_pages() -> None:
    for one, other in itertools.combinations(LOOKS.values(), 2):
        if one.shape == other.shape:
            apart = distance(by_night(one.colour), by_night(other.colour))
            assert apart >= TOLD_APART / 2, f"{one.label}, {other.label}: {apart}"
