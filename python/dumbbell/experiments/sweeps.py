"""Sweeps: algorithms over all combinations of several values of a path, as an experiment."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from dumbbell.algorithms import catalogue
from dumbbell.algorithms.labels import labels_of
from dumbbell.base.errors import InputError, placed
from dumbbell.base.labels import listing
from dumbbell.base.units import (
    format_bytes,
    format_rate,
    format_time,
    parse_bytes,
    parse_integer,
    parse_rate,
    parse_time,
)
from dumbbell.experiments.mixes import Mix
from dumbbell.experiments.setting import OWN_START, SETTLING, Setting, option, scenario_table
from dumbbell.plan import grid
from dumbbell.plan.tests import check_count
from dumbbell.results import experiments

VALUES_MAX: Final = 1000
"""Of an axis."""

SHOWN: Final[dict[str, str]] = {
    "goodput_mbit_per_s": "Goodput",
    "rtt_inflation@run": "RTT inflation",
    "retransmitted_share@late": "Retransmitted",
    "jain": "Fairness",
}
"""Quantities that the table of a sweep shows."""

_RANGE: Final = re.compile(r"(?P<low>.+?)\.\.(?P<high>[^*+]+)(?P<sign>[*+])(?P<step>.+)")


@dataclass(frozen=True)
class Axis:
    """A key of the path with the values that a sweep gives it."""

    name: str
    values: tuple[str, ...]

    @property
    def slug(self) -> str:
        """Its name in the names of figures."""
        return self.name.replace("_", "-")

    @property
    def word(self) -> str:
        """Its name in text."""
        return self.name.replace("_", " ")


RANGES: Final[Mapping[str, str]] = {
    "rate": "10mbit..1gbit*10 or 10mbit..50mbit+10mbit",
    "rtt": "10ms..160ms*2 or 10ms..50ms+10ms",
    "buffer": "0.25bdp..4bdp*2 or 0.5bdp..2bdp+0.5bdp",
    "loss": "1e-6..1e-3*10 or 0.01..0.05+0.01",
    "flows": "1..64*2 or 2..10+2",
    "slow_start": "own,search,hystart++",
}
"""Examples of ranges, or of several values."""


def axis(name: str, text: str) -> Axis:
    """Read ``10ms,40ms``, ``10ms..160ms*2`` (each twice the one before), ``10ms..50ms+10ms``."""
    values = [value for part in text.split(",") for value in _values(name, part.strip())]
    if not values:
        raise InputError("no value", key=name, value=text, valid=RANGES[name])
    if len(values) == 1 and is_sweep(text):
        raise InputError("one value only", key=name, value=text, valid=values[0])
    if (again := grid.twice(values)) is not None:
        raise InputError(f"the same value twice: {again}", key=name, value=text, valid="each once")
    return Axis(name, tuple(values))


def is_sweep(text: str) -> bool:
    """Return True if an option has more than one value."""
    return "," in text or ".." in text


def _values(name: str, part: str) -> list[str]:
    match = _RANGE.fullmatch(part)
    if match is None:
        if ".." in part:
            raise InputError("not a range", key=name, value=part, valid=RANGES[name])
        return [part] if part else []
    if name not in _READERS:
        raise InputError("not a range", key=name, value=part, valid=RANGES[name])
    read, show = _READERS[name]
    grows = match["sign"] == "*"
    with placed(key=name):
        # Exact, so that steps of 0.1 end at the last value rather than just beyond it.
        low, high = Fraction(read(match["low"])), Fraction(read(match["high"]))
        step = _exact(match["step"]) if grows else Fraction(read(match["step"]))
    if low > high:
        raise InputError("ends before it begins", key=name, value=part, valid=RANGES[name])
    # A factor of 1, like a step of 0, never reaches the end.
    if step <= int(grows) or (grows and low <= 0):
        raise InputError("a range without an end", key=name, value=part, valid=RANGES[name])
    values = []
    while low <= high:
        values.append(show(low))
        low = low * step if grows else low + step
        # Counted while they are made: a small step would fill the memory first.
        if len(values) > VALUES_MAX:
            raise InputError(
                f"more than {VALUES_MAX} values",
                key=name,
                value=part,
                valid="a larger step",
            )
    return values


def _bdp(text: str) -> Fraction:
    if not text.endswith("bdp"):
        raise InputError("not a share of the BDP", value=text, valid="0.5bdp")
    return _exact(text.removesuffix("bdp"))


def _exact(text: str) -> Fraction:
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise InputError("not a number", value=text, valid="2, or 1e-3") from None


def _number(value: Fraction) -> str:
    return f"{float(value):.6g}"


_READERS: Final[Mapping[str, tuple[Callable[[str], Any], Callable[[Fraction], str]]]] = {
    "rate": (parse_rate, lambda value: format_rate(round(value))),
    "rtt": (parse_time, lambda value: format_time(round(value))),
    "buffer": (_bdp, lambda value: f"{_number(value)}bdp"),
    "loss": (_exact, _number),
    "flows": (parse_integer, lambda value: str(round(value))),
    "requests": (parse_bytes, lambda value: format_bytes(round(value))),
}


def sweep(
    algorithms: Sequence[str],
    axes: Sequence[Axis],
    *,
    duration: str,
    stack: str,
    runs: int,
) -> dict[str, Any]:
    """Return the study of algorithms over all combinations of the axes' values."""
    check_count(
        len(algorithms) * math.prod(len(axis_of_path.values) for axis_of_path in axes) * runs
    )
    known = {axis_of_path.name: axis_of_path.values for axis_of_path in axes}
    swept = [axis_of_path for axis_of_path in axes if len(axis_of_path.values) > 1]
    first = {axis_of_path.name: axis_of_path.values[0] for axis_of_path in axes}
    setting = Setting(
        first["rate"],
        first["rtt"],
        first["buffer"],
        first["loss"],
        duration,
        stack,
        first.get("slow_start", OWN_START),
    )
    setting.check()
    for axis_of_path in axes:
        for value in axis_of_path.values:
            try:
                _check(setting, axis_of_path.name, value)
            except InputError as error:
                raise replace(error, key=axis_of_path.name) from None
    for rtt in known["rtt"]:
        replace(setting, rtt=rtt).check_duration()
    with placed(key="algorithm"):
        for name in algorithms:
            catalogue.split_preset(name)
    table = _templated(setting, int(first["flows"]))
    if "slow_start" in known:
        table["stack"] = {"profile": stack, "switches": {"slow_start": "{slow_start}"}}
    who = listing([*labels_of(map(catalogue.called, algorithms)).values()])
    over = listing([axis_of_path.word for axis_of_path in swept]) or "one path"
    test = {
        "name": "sweep",
        "title": "All combinations",
        "runs": runs,
        "folder": str(Path.cwd()),
        "axes": {"algorithm": list(algorithms), **{k: list(v) for k, v in known.items()}},
        "measure": {"settle": SETTLING},
        "scenario": table,
    }
    command = ["compare", *algorithms]
    for axis_of_path in axes:
        command += [option(axis_of_path.name), ",".join(axis_of_path.values)]
    command += ["--duration", duration, "--stack", stack, "--runs", str(runs)]
    return {
        **experiments.head(
            "sweep",
            [test],
            command=command,
            title=f"{who} over {over}",
            summary=", ".join([*map(_in_words, axes), duration, stack]),
        ),
        "figure": list(_figures(algorithms, swept, several=known["flows"] != ("1",))),
    }


def _check(setting: Setting, name: str, value: str) -> None:
    """Raise InputError for a value of an axis that cannot be on the path."""
    if name != "flows":
        replace(setting, **{name: value}).check()
    elif parse_integer(value) < 1:
        raise InputError("no flows", value=value, valid=RANGES["flows"])


def _in_words(axis: Axis) -> str:
    if len(axis.values) == 1:
        return f"{axis.word} {axis.values[0]}"
    return f"{axis.word} {axis.values[0]} to {axis.values[-1]} ({len(axis.values)} values)"


def _templated(setting: Setting, flows: int) -> dict[str, Any]:
    """Return the scenario of `compare` with its axes left open."""
    table = scenario_table(setting, Mix((("reno", flows),)))
    table["network"] |= {"rate": "{rate}", "rtt": "{rtt}", "queue": "{buffer}"}
    table["network"]["loss"] = [{"place": "receiver", "probability": "{loss}"}]
    (flow,) = table["flow"]
    flow |= {"algorithm": "{algorithm}", "count": "{flows}", "label": "flow"}
    return table


def _figures(algorithms: Sequence[str], swept: Sequence[Axis], *, several: bool) -> Any:
    """Yield lines against an axis, maps over pairs of axes: of two algorithms also of the ratio."""
    pairs = list(itertools.combinations(swept, 2))
    for number, (quantity, title) in enumerate(_shown(swept).items(), start=1):
        if quantity == "jain" and not several:
            continue
        common = {"section": "sweep", "test": "sweep"}
        for x, y in pairs:
            over = {"x": x.name, "y": y.name, "quantity": quantity, **common}
            where = f"over {x.word} and {y.word}"
            if len(algorithms) == 2:
                first, second = algorithms
                yield {
                    "name": f"ratio{number}-{x.slug}-{y.slug}",
                    "title": f"{title} {where}, one algorithm / the other",
                    "kind": "ratios",
                    "first": first,
                    "second": second,
                    **over,
                }
            yield {
                "name": f"map{number}-{x.slug}-{y.slug}",
                "title": f"{title} {where}",
                "kind": "heatmap",
                "facet": "algorithm",
                **over,
            }
        if len(swept) == 1:
            (x,) = swept
            column = grid.numeric_column(x.name, x.values)
            shape = _map(x.name, quantity) if column is None else _line(x.name, column, quantity)
            yield {
                "name": f"line{number}-{x.slug}",
                "title": f"{title} against {x.word}",
                **shape,
                **common,
            }


def _shown(swept: Sequence[Axis]) -> dict[str, str]:
    """Return the quantities of the figures: over rates, goodput hardly shows more than the rate."""
    shown = {"utilisation": "Utilisation", **SHOWN}
    if any(axis_of_path.name == "rate" for axis_of_path in swept):
        del shown["goodput_mbit_per_s"]
    return shown


def _line(axis_name: str, column: str, quantity: str) -> dict[str, Any]:
    return {
        "kind": "points",
        "x": {"field": column, "title": f"{axis_name} ({column.rpartition('_')[2]})"},
        "y": {"field": quantity},
    }


def _map(axis_name: str, quantity: str) -> dict[str, Any]:
    return {"kind": "heatmap", "x": axis_name, "y": "algorithm", "quantity": quantity}
