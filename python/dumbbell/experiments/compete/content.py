"""The study of a contest: both sides together, and each among as many flows of its own.

The flows of one side start first, those of the other after a fifth to a quarter of the run, and
then the other way round. Among its own kind an algorithm has the flows of both sides, with the same
starts. So each flow of a contest has its equal there.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from dumbbell.base.errors import InputError
from dumbbell.base.units import parse_probability, parse_time
from dumbbell.experiments.compete.sides import Side, pair
from dumbbell.experiments.mixes import Mix
from dumbbell.experiments.setting import SETTLING, Setting, scenario_table
from dumbbell.experiments.sweeps import Axis
from dumbbell.experiments.tune.paths import LATE
from dumbbell.plan import grid
from dumbbell.results import experiments
from dumbbell.study.model import Study

TEST: Final = "compete"
"""The name of the test."""

TOGETHER: Final = "both"
"""The value of the axis `flows` for both sides together; the others are algorithms."""

_KEYS: Final[Mapping[str, str]] = {"rate": "rate", "rtt": "rtt", "buffer": "queue"}


def content(
    sides: tuple[Side, Side], setting: Setting, axes: Sequence[Axis], *, flags: Sequence[str]
) -> dict[str, Any]:
    """Return the study; `axes` are those of the path that have several values.

    `flags` are the options of the command that makes it again.
    """
    check(setting, axes)
    mix = Mix(tuple((side.name, side.flows) for side in sides))
    scenario = scenario_table(setting, mix)
    # Flows differ from point to point, so `vary` sets them.
    del scenario["flow"]
    swept = [axis.name for axis in axes]
    network = scenario["network"]
    network |= {_KEYS[name]: f"{{{name}}}" for name in swept if name in _KEYS}
    if "loss" in swept:
        network["loss"] = [{"place": "receiver", "probability": "{loss}"}]
    test = {
        "name": TEST,
        "title": "Both sides together, and each among its own",
        "seeds": "shared",
        "folder": str(Path.cwd()),
        "measure": {"settle": SETTLING},
        "axes": {
            "flows": [TOGETHER, *(side.axis_value for side in sides)],
            "start": [start(side) for side in sides],
            **{axis.name: list(axis.values) for axis in axes},
        },
        "scenario": scenario,
        "vary": list(_varied(sides, setting)),
    }
    command = [TEST, *(f"{side.typed}:{side.flows}" for side in sides), *flags]
    return {
        **experiments.head(
            TEST,
            [test],
            command=command,
            title=f"{_who(sides[0])} against {_who(sides[1])}",
            summary=_path(setting, axes),
        ),
        "quantity": [
            {
                "name": "share_one",
                "title": f"share of the goodput: {sides[0].label}",
                "ratio": ["goodput_mbit_per_s[one]", "goodput_mbit_per_s"],
            }
        ],
        "figure": list(_figures(sides, axes)),
    }


def sides_of(study: Study) -> tuple[Side, Side]:
    """Return the sides of the study of a contest."""
    (test,) = study.tests
    together = next(vary for vary in test.vary if TOGETHER in vary.where["flows"])
    return pair(
        [(flow["label"], flow["algorithm"], flow["count"]) for flow in together.set["flow"]]
    )


def check(setting: Setting, axes: Sequence[Axis]) -> None:
    """Raise InputError for a path that cannot be."""
    setting.check()
    for axis in axes:
        for value in axis.values:
            try:
                replace(setting, **{axis.name: value}).check()
            except InputError as error:
                raise replace(error, key=axis.name) from None
            if axis.name == "rtt":
                replace(setting, rtt=value).check_duration()
    setting.check_duration()


def start(side: Side) -> str:
    """Return the value of the axis `start` in which a side starts first."""
    return f"{side.axis_value} first"


def _who(side: Side) -> str:
    return f"{side.flows} {side.label}" if side.flows > 1 else side.label


def _path(setting: Setting, axes: Sequence[Axis]) -> str:
    """Return the path in words."""
    swept = {axis.name: axis for axis in axes}

    def value(name: str) -> str:
        axis = swept.get(name)
        if axis is None:
            return str(getattr(setting, name))
        return f"{axis.values[0]} to {axis.values[-1]}"

    has_loss = "loss" in swept or parse_probability(setting.loss) > 0
    loss = f", random loss {value('loss')}" if has_loss else ""
    return (
        f"{value('rate')}, RTT {value('rtt')}, buffer {value('buffer')}{loss}, {setting.duration}"
    )


def _varied(sides: tuple[Side, Side], setting: Setting) -> Iterator[dict[str, Any]]:
    """Yield the flows of each value of `flows` in each order of start."""
    pairs = [(TOGETHER, sides), *((side.axis_value, (side, side)) for side in sides)]
    # What is said of an algorithm holds with any preset, unless that is said later.
    pairs.sort(key=lambda pair: "/" in pair[0])
    for (value, algorithms), first in itertools.product(pairs, sides):
        flows = [
            _flows(place, algorithm, setting, is_late=place is not first)
            for place, algorithm in zip(sides, algorithms, strict=True)
        ]
        yield {"where": {"flows": value, "start": start(first)}, "set": {"flow": flows}}


def _flows(place: Side, algorithm: Side, setting: Setting, *, is_late: bool) -> dict[str, Any]:
    """Return the flows in the place of a side."""
    duration_ns = parse_time(setting.duration)
    if is_late:
        earliest, latest = (f"{duration_ns // part}ns" for part in LATE)
    else:
        (flow,) = scenario_table(setting, Mix((("reno", 1),)))["flow"]
        earliest, latest = flow["start"]["from"], flow["start"]["to"]
    return {
        "algorithm": algorithm.typed,
        "count": place.flows,
        "start": {"from": earliest, "to": latest},
        "label": algorithm.name if place == algorithm else f"{algorithm.name} for {place.name}",
        "group": place.place.value,
    }


def _figures(sides: tuple[Side, Side], axes: Sequence[Axis]) -> Iterator[dict[str, Any]]:
    """Yield both sides over time, or on a sweep the share of the first one."""
    common = {"section": TEST, "test": TEST}
    together = {"flows": TOGETHER}
    title = f"Share of the goodput that {sides[0].label} has"
    for x, y in itertools.combinations(axes, 2):
        yield {
            "name": f"share-{x.name}-{y.name}",
            "title": f"{title} over {x.name} and {y.name}",
            "kind": "heatmap",
            "x": x.name,
            "y": y.name,
            "quantity": "share_one",
            "ends": [0, 1],
            "facet": "start",
            "where": together,
            **common,
        }
    if len(axes) == 1:
        yield {
            "name": f"share-{axes[0].name}",
            "title": f"{title} against {axes[0].name}",
            "where": together,
            **_against(axes[0]),
            **common,
        }
    for number, side in enumerate(sides if not axes else (), start=1):
        yield {
            "name": f"over-time-{number}",
            "title": f"Over time: {side.label} starts first",
            "kind": "overlay",
            "quantities": list(experiments.OVER_TIME),
            "colours": "algorithms",
            "where": {**together, "start": start(side)},
            **common,
        }


def _against(axis: Axis) -> dict[str, Any]:
    """Return lines against an axis of numbers, or cells for another."""
    column = grid.numeric_column(axis.name, axis.values)
    if column is None:
        cells = {"x": axis.name, "y": "start", "quantity": "share_one", "ends": [0, 1]}
        return {"kind": "heatmap", **cells}
    return {
        "kind": "points",
        "series": "start",
        "x": {"field": column, "title": f"{axis.name} ({column.rpartition('_')[2]})"},
        "y": {"field": "share_one"},
    }
