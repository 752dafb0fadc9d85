"""The space of a hunt: properties of a path and its traffic, each with a range and a neutral value.

A run has three thirds. The path is as it begins in the first one. Then rate and round-trip time may
change for good, and cross traffic and an outage are in the second third. So the last third shows
what an algorithm makes of a path on which all disturbances have ended.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from dumbbell.algorithms.labels import label_of
from dumbbell.base.errors import InputError, placed, unknown
from dumbbell.base.labels import number
from dumbbell.base.units import (
    format_rate,
    format_time,
    parse_fraction,
    parse_queue,
    parse_rate,
    parse_time,
)
from dumbbell.experiments.hunt.goals import BESIDE, HUNTED, Traffic
from dumbbell.plan.windows import Window

Point = tuple[float, ...]
"""A scenario: a value of each dimension, in their order; choices by their place."""

OFF: Final = 0.0
"""The value of what is not there."""

_NEEDED: Final = {"pulse": "cross", "duty": "pulse"}
"""Properties of the cross traffic, and the one without which they have no effect."""

_EXAMPLES: Final = {"cross": "0.5", "pulse": "500ms"}
"""A value of each of these."""

DISCIPLINES: Final = ("fifo", "codel", "fq-codel", "pie")
ORDERS: Final = ("together", "last", "first")
"""Start of the algorithm's flow, next to another one."""

SETTLING: Final = "20%"
"""The part of the main window that averages leave out."""

_OFF_SHARE: Final = 0.3
"""So much of the range of a proposal means that a disturbance is not there."""

_DIGITS: Final = 2
_LATE: Final = 5
"""A flow that starts late does so after this part of the run."""

_OUTAGE_PART: Final = 6
_SAMPLES: Final = 1200
"""Samples of a run, so that thirds, halves and fifths of it begin at one."""


@dataclass(frozen=True)
class Dimension:
    """A property of the scenario.

    Attributes
    ----------
    name, what
        Its name, and it in words, with a place for the value.
    low, high, neutral
        The ends of its range, and the value of an ordinary path.
    read, write
        From a text to a value and back.
    has_off
        True if it may be absent, whatever its range.
    choices
        Its values if it is no number.
    searched
        False if it stays at the neutral value.
    """

    name: str
    what: str
    low: float
    high: float
    neutral: float
    read: Callable[[str], float]
    write: Callable[[float], str]
    has_off: bool = False
    choices: tuple[str, ...] = ()
    searched: bool = True

    def value(self, share: float) -> float:
        """Return the value at a share of the range, 0 to 1: evenly in logarithms, two digits."""
        if self.choices:
            return float(min(int(share * len(self.choices)), len(self.choices) - 1))
        if self.has_off:
            if share < _OFF_SHARE:
                return OFF
            share = (share - _OFF_SHARE) / (1 - _OFF_SHARE)
        if self.low == self.high:
            return self.low
        return rounded(self.low * (self.high / self.low) ** share)

    def text(self, value: float) -> str:
        """Return a value as `space` takes it."""
        if self.choices:
            return self.choices[int(value)]
        return self.write(value)

    def words(self, value: float) -> str:
        """Return the property in words."""
        if self.has_off and value == OFF:
            return f"no {self.name}"
        text = self.text(value)
        return self.what.format(text if self.choices else label_of(text))

    @property
    def is_single(self) -> bool:
        """True if its range has one value."""
        if self.choices:
            return len(self.choices) == 1
        return self.low == self.high and not self.has_off

    @property
    def range(self) -> str:
        """The range in words."""
        if self.choices:
            return ", ".join(self.choices)
        off = "none, " if self.has_off else ""
        return f"{off}{self.write(self.low)} to {self.write(self.high)}"


def rounded(value: float, digits: int = _DIGITS) -> float:
    """Return a value with so many significant digits, as files show it."""
    return float(f"{value:.{digits}g}")


def _rate(text: str) -> float:
    return parse_rate(text) / 1e6


def _time(text: str) -> float:
    return parse_time(text) / 1e6


def _bdp(text: str) -> float:
    size = parse_queue(text)
    if size.unit != "bdp":
        raise InputError("no share of the BDP", value=text, valid="0.5bdp")
    return float(size.amount)


def _plain(text: str) -> float:
    return float(parse_fraction(text))


def _mbit(value: float) -> str:
    return format_rate(round(value * 1e6))


def _ms(value: float) -> str:
    return format_time(round(value * 1e6))


def _number(value: float) -> str:
    return number(value, _DIGITS)


def _named(name: str, what: str, choices: tuple[str, ...]) -> Dimension:
    return Dimension(name, what, 0, len(choices) - 1, 0, _plain, _number, choices=choices)


def _all() -> tuple[Dimension, ...]:
    times = (_time, _ms)
    plain = (_plain, _number)
    return (
        Dimension("rate", "{}", 1, 200, 20, _rate, _mbit),
        Dimension("rtt", "RTT {}", 5, 300, 40, *times),
        Dimension("queue", "queue {}", 0.05, 8, 1, _bdp, lambda value: f"{_number(value)}bdp"),
        _named("discipline", "{}", DISCIPLINES),
        Dimension("loss", "random loss {}", 1e-5, 0.03, OFF, *plain, has_off=True),
        Dimension("jitter", "jitter {}", 0.5, 50, OFF, *times, has_off=True),
        Dimension("cross", "datagrams at {} of the rate", 0.05, 3, OFF, *plain, has_off=True),
        Dimension("pulse", "in pulses every {}", 50, 3000, OFF, *times, has_off=True),
        Dimension("duty", "which last {} of that", 0.03, 0.5, 0.25, *plain),
        Dimension("rate_change", "rate times {}", 0.1, 4, 1, *plain),
        Dimension("rtt_change", "RTT times {}", 0.5, 4, 1, *plain),
        Dimension("outage", "outage of {}", 50, 5000, OFF, *times, has_off=True),
        _named("order", "starts {}", ORDERS),
    )


DIMENSIONS: Final = _all()


@dataclass(frozen=True)
class Space:
    """The scenarios of a hunt.

    Attributes
    ----------
    traffic
        The flows.
    duration_ns
        Length of a run.
    stack
        TCP stack of the hosts.
    beside
        The algorithm of the flow next to the hunted one; empty: there is none.
    dimensions
        The dimensions, in order.
    """

    traffic: Traffic
    duration_ns: int
    stack: str = "linux-6"
    beside: str = ""
    dimensions: tuple[Dimension, ...] = DIMENSIONS
    _places: Mapping[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        places = {dimension.name: place for place, dimension in enumerate(self.dimensions)}
        object.__setattr__(self, "_places", places)

    @property
    def searched(self) -> list[Dimension]:
        """The dimensions that are searched."""
        return [dimension for dimension in self.dimensions if dimension.searched]

    @property
    def neutral(self) -> Point:
        """The ordinary path."""
        return tuple(dimension.neutral for dimension in self.dimensions)

    def point(self, shares: Sequence[float]) -> Point:
        """Return the point of a proposal: a share of each dimension that is searched."""
        given = iter(shares)
        point = tuple(
            dimension.value(next(given)) if dimension.searched else dimension.neutral
            for dimension in self.dimensions
        )
        return self.settled(point)

    def calm(self, point: Point) -> Point:
        """Return a point without its cross traffic."""
        return self.settled(self.moved(point, "cross", OFF))

    def has(self, name: str) -> bool:
        """Return True if some points have a property that is off by default."""
        dimension = self.dimension(name)
        return dimension.searched or dimension.neutral != OFF

    def settled(self, point: Point) -> Point:
        """Return a point in which what has no effect is neutral."""
        for name in self._idle(point):
            point = self.moved(point, name, self.dimension(name).neutral)
        return point

    def of(self, point: Point, name: str) -> float:
        """Return a number of a point by the name of its dimension."""
        return point[self._places[name]]

    def choice(self, point: Point, name: str) -> str:
        """Return a choice of a point by the name of its dimension."""
        place = self._places[name]
        return self.dimensions[place].choices[int(point[place])]

    def dimension(self, name: str) -> Dimension:
        """Return a dimension by its name."""
        return self.dimensions[self._places[name]]

    def moved(self, point: Point, name: str, value: float) -> Point:
        """Return a point with another value of one dimension."""
        place = self._places[name]
        return (*point[:place], value, *point[place + 1 :])

    def slowest_mbit(self, point: Point) -> float:
        """Return the lowest rate of the link apart from outages."""
        return self.of(point, "rate") * min(1.0, self.of(point, "rate_change"))

    def fastest_mbit(self, point: Point) -> float:
        """Return the highest rate of the link."""
        return self.of(point, "rate") * max(1.0, self.of(point, "rate_change"))

    def moves(self, point: Point) -> list[Dimension]:
        """Return the dimensions in which a point is not neutral."""
        pairs = zip(self.dimensions, point, strict=True)
        return [dimension for dimension, value in pairs if value != dimension.neutral]

    def words(self, point: Point) -> str:
        """Return a point in words: rate, round-trip time, queue, and what is not neutral."""
        shown = {"rate", "rtt", "queue", "duty"} - self._idle(point)
        shown |= {dimension.name for dimension in self.moves(point)}
        pairs = zip(self.dimensions, point, strict=True)
        return ", ".join(
            dimension.words(value) for dimension, value in pairs if dimension.name in shown
        )

    def values(self, point: Point) -> dict[str, str]:
        """Return the values of what has an effect by names, as `space` takes them."""
        pairs = zip(self.dimensions, point, strict=True)
        idle = self._idle(point)
        return {
            dimension.name: "none" if dimension.has_off and value == OFF else dimension.text(value)
            for dimension, value in pairs
            if dimension.name not in idle
        }

    def _idle(self, point: Point) -> set[str]:
        """Return the dimensions that have no effect at a point."""
        idle = set() if self.traffic is Traffic.BESIDE else {"order"}
        for name, needed in _NEEDED.items():
            if needed in idle or self.of(point, needed) == OFF:
                idle.add(name)
        if self.choice(point, "discipline") != "fifo":
            idle.add("queue")
        return idle

    @property
    def thirds_ns(self) -> tuple[int, int]:
        """Beginning of the second and of the last third of a run."""
        return self.duration_ns // 3, 2 * self.duration_ns // 3

    @property
    def windows(self) -> dict[str, dict[str, str]]:
        """The windows of a run besides the main one, as a study has them."""
        one, two = (f"{time}ns" for time in self.thirds_ns)
        return {"during": {"from": one, "to": two}, "after": {"from": two}}

    @property
    def measured(self) -> dict[str, Window]:
        """The windows of a run."""
        main = Window.model_validate({"settle": SETTLING})
        windows = {name: Window.model_validate(ends) for name, ends in self.windows.items()}
        return {"main": main, **windows}

    def table(self, point: Point) -> dict[str, Any]:
        """Return a point as a scenario file says it; the flows of the algorithm name none."""
        interval_ns = max(10**6, self.duration_ns // _SAMPLES)
        return {
            "duration": format_time(self.duration_ns),
            "stack": self.stack,
            "network": self._network(point),
            "flow": self._flows(point),
            "record": {"interval": format_time(interval_ns), "events": ["congestion"]},
        }

    def _network(self, point: Point) -> dict[str, Any]:
        rtt_ns = round(self.of(point, "rtt") * 1e6)
        network: dict[str, Any] = {"rate": self._rate(point), "rtt": format_time(rtt_ns)}
        change = self.of(point, "rtt_change")
        if change != 1:
            half, at = rtt_ns // 2, format_time(self.thirds_ns[0])
            later = half + round(rtt_ns * (change - 1))
            network["delay"] = [
                {"at": "0s", "delay": format_time(half)},
                {"at": at, "delay": format_time(later)},
            ]
        discipline = self.choice(point, "discipline")
        limit = f"{_number(self.of(point, 'queue'))}bdp"
        network["queue"] = limit if discipline == "fifo" else {"discipline": discipline}
        if discipline == "fq-codel":
            network["queue"]["ecn"] = False
        if (jitter := self.of(point, "jitter")) != OFF:
            network["jitter"] = _ms(jitter)
        if (loss := self.of(point, "loss")) != OFF:
            network["loss"] = [{"place": "receiver", "probability": loss}]
        return network

    def _rate(self, point: Point) -> Any:
        rate, change = self.of(point, "rate"), self.of(point, "rate_change")
        outage_ns = min(round(self.of(point, "outage") * 1e6), self.duration_ns // _OUTAGE_PART)
        steps = [("0s", _mbit(rate))]
        if change != 1:
            steps.append((format_time(self.thirds_ns[0]), _mbit(rate * change)))
        if outage_ns:
            begin_ns = self.duration_ns // 2
            steps += [
                (format_time(begin_ns), "0bit"),
                (format_time(begin_ns + outage_ns), _mbit(rate * change)),
            ]
        if len(steps) == 1:
            return _mbit(rate)
        return [{"at": at, "rate": text} for at, text in steps]

    def _flows(self, point: Point) -> list[dict[str, Any]]:
        late = format_time(self.duration_ns // _LATE)
        hunted: dict[str, Any] = {"label": HUNTED, "group": HUNTED}
        flows = [hunted]
        if self.traffic is Traffic.TWO:
            flows.append({"label": "late", "group": HUNTED, "start": late})
        if self.traffic is Traffic.BESIDE:
            beside: dict[str, Any] = {"algorithm": self.beside, "label": BESIDE, "group": BESIDE}
            flows.append(beside)
            order = self.choice(point, "order")
            if order != "together":
                (hunted if order == "last" else beside)["start"] = late
        if (cross := self.of(point, "cross")) != OFF:
            flows.append(self._cross(point, cross))
        return flows

    def _cross(self, point: Point, cross: float) -> dict[str, Any]:
        start, stop = (format_time(time) for time in self.thirds_ns)
        flow: dict[str, Any] = {
            "transport": "udp",
            "label": "cross",
            "rate": _mbit(cross * self.of(point, "rate")),
            "start": start,
            "stop": stop,
        }
        if (pulse := self.of(point, "pulse")) != OFF:
            on_ns = round(pulse * self.of(point, "duty") * 1e6)
            off_ns = round(pulse * 1e6) - on_ns
            flow["workload"] = {
                "kind": "on-off",
                "on": format_time(on_ns),
                "off": format_time(off_ns),
            }
        return flow


def _named_so(name: str) -> Dimension:
    """Return a dimension by its name."""
    for dimension in DIMENSIONS:
        if dimension.name == name:
            return dimension
    raise unknown("dimension", name, [dimension.name for dimension in DIMENSIONS])


def space(plain: Space, over: Sequence[str] = (), where: Mapping[str, str] | None = None) -> Space:
    """Return the space of a hunt.

    Parameters
    ----------
    plain
        The space in which all is searched.
    over
        The dimensions that are searched; none: all that have an effect.
    where
        Other ranges by names: ``10mbit..1gbit``, ``fifo,codel``, or one value, which stays.
    """
    chosen = {name: _chosen(name, text) for name, text in (where or {}).items()}
    for name in over:
        with placed(key="over"):
            _named_so(name)
    dimensions = []
    for whole_range in plain.dimensions:
        dimension = chosen.get(whole_range.name, whole_range)
        wanted = dimension.name in over if over else _has_effect(plain, dimension.name)
        dimensions.append(replace(dimension, searched=wanted and not dimension.is_single))
    whole = replace(plain, dimensions=tuple(dimensions))
    for key, name in [*(("over", name) for name in over), *(("where", name) for name in chosen)]:
        with placed(key=key):
            _check_effect(whole, name)
    if not whole.searched:
        raise InputError(
            "leaves nothing to search", key="where", valid="a range: rate=1mbit..9mbit"
        )
    return whole


def check_cross_traffic(space: Space) -> None:
    """Refuse a hunt without cross traffic whose goal is what that costs."""
    if not space.has("cross"):
        raise InputError(
            "the goal is what cross traffic costs, and there is none",
            key="over",
            valid=_way_to("cross"),
        )


def _check_effect(space: Space, name: str) -> None:
    """Refuse a dimension that has no effect at any point."""
    if not _has_effect(space, name):
        lacks, valid = "a flow next to the hunted one", "with the goal share or harm"
    elif (needed := _NEEDED.get(name)) and not space.has(needed):
        lacks, valid = needed, _way_to(needed)
    else:
        return
    raise InputError(f"has no effect without {lacks}", value=name, valid=valid)


def _way_to(name: str) -> str:
    """Say how a hunt gets a property that is off by default."""
    return f"{name} among them, or a value: --where {name}={_EXAMPLES[name]}"


def _has_effect(space: Space, name: str) -> bool:
    return name != "order" or space.traffic is Traffic.BESIDE


def _chosen(name: str, text: str) -> Dimension:
    """Read another range of a dimension."""
    with placed(key="where"):
        dimension = _named_so(name)
    with placed(key=f"where.{name}"):
        if dimension.choices:
            return _of_choices(dimension, text)
        return _of_numbers(dimension, text)


def _of_choices(dimension: Dimension, text: str) -> Dimension:
    names = tuple(dict.fromkeys(part.strip() for part in text.split(",")))
    for name in names:
        if name not in dimension.choices:
            raise unknown(dimension.name, name, dimension.choices)
    return replace(dimension, choices=names, high=float(len(names) - 1))


def _of_numbers(dimension: Dimension, text: str) -> Dimension:
    if dimension.has_off and text == "none":
        return replace(dimension, low=OFF, high=OFF, neutral=OFF, has_off=False)
    first, dots, last = text.partition("..")
    low = dimension.read(first)
    high = dimension.read(last) if dots else low
    least, most = _LIMITS[dimension.name]
    if low > high:
        raise InputError("an empty range", value=text, valid="the smaller value first")
    if low < least or high > most:
        valid = f"{dimension.write(least)} to {dimension.write(most)}"
        raise InputError("outside the limits", value=text, valid=valid)
    if not dots:
        return replace(dimension, low=low, high=low, neutral=low, has_off=False)
    if dimension.has_off:
        return replace(dimension, low=low, high=high)
    neutral = min(max(dimension.neutral, low), high)
    return replace(dimension, low=low, high=high, neutral=neutral)


_LIMITS: Final[Mapping[str, tuple[float, float]]] = {
    "rate": (0.01, 10_000),
    "rtt": (0.01, 5000),
    "queue": (0.001, 100),
    "loss": (1e-9, 1),
    "jitter": (0.001, 5000),
    "cross": (0.001, 10),
    "pulse": (1, 60_000),
    "duty": (0.001, 0.999),
    "rate_change": (0.01, 100),
    "rtt_change": (0.5, 100),
    "outage": (1, 60_000),
}
"""Values that make sense, of those dimensions that are numbers."""
