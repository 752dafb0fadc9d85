"""Sets of paths that are fixed, drawn from a distribution over the keys of a scenario.

Path 7 of a set is the same on any machine and for ever: a function of the distribution's name and
version, of the set and of the number 7. A change of the draws raises the version.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final

from dumbbell.base.errors import unknown
from dumbbell.base.units import parse_time
from dumbbell.scenario import draws

SIZES: Final = {"train": 1000, "validation": 64, "test": 64}
"""The sets of a distribution, and their numbers of paths."""

PLACEHOLDER: Final = "cubic"
"""The algorithm that paths name for the flow of a learner, which is the baseline."""

_TICK_MS: Final = 100
_MS_PER_S: Final = 1000
_CHANGES: Final = 4
"""Changes of the rate of a path whose rate changes in steps, at most."""


def _weights(**weights: int) -> Mapping[str, int]:
    return {name.replace("_", "-"): weight for name, weight in weights.items()}


@dataclass(frozen=True)
class Distribution:
    """A distribution of paths; `dataclasses.replace` makes another one, which needs a new name.

    Values are drawn from ranges, uniformly in their logarithms. Weights determine how often a kind
    is drawn.

    Attributes
    ----------
    name, version
        Name and version, which decide the draws.
    duration
        Length of an episode.
    rate_mbit, rtt_ms, queue_bdp
        Rate of the bottleneck in Mbit/s, two-way propagation time in ms, and length of its queue
        in bandwidth-delay products.
    disciplines
        Weights of disciplines of that queue; "marking" is FQ-CoDel with ECN.
    lossy, loss
        The share of paths that lose packets at random, and the share of packets lost there.
    rates
        Weights of the course of the rate: "constant", "steps" (it is multiplied by 0.3 to 3) or
        "fading" (it wanders between 0 and the drawn rate, as a cell's in `_fading`).
    others
        Weights of the other traffic: "none", a flow of the algorithm of that name, "on-off"
        (a flow of CUBIC that comes and goes) or "udp" (a constant rate of 10 to 50 %).
    """

    name: str
    version: int = 1
    duration: str = "30s"
    rate_mbit: tuple[float, float] = (1, 100)
    rtt_ms: tuple[float, float] = (10, 200)
    queue_bdp: tuple[float, float] = (0.2, 5)
    disciplines: Mapping[str, int] = field(
        default_factory=lambda: _weights(fifo=7, codel=1, fq_codel=1, pie=1, marking=1)
    )
    lossy: float = 0.25
    loss: tuple[float, float] = (1e-5, 1e-2)
    rates: Mapping[str, int] = field(
        default_factory=lambda: _weights(constant=6, steps=2, fading=2)
    )
    others: Mapping[str, int] = field(
        default_factory=lambda: _weights(none=5, cubic=2, reno=1, bbr=1, on_off=1, udp=1)
    )

    def paths(self, split: str) -> PathSet:
        """Return one of its sets: "train", "validation" or "test"."""
        if split not in SIZES:
            raise unknown("set of paths", split, SIZES).at(key="paths")
        return PathSet(self, split, SIZES[split])

    def table(self, split: str, number: int, learners: int) -> dict[str, Any]:
        """Return a path as a scenario file would say it, with so many flows of learners."""
        draw = _Draw(self, split, number)
        rate_bps = draw.between("rate", self.rate_mbit) * 10**6
        discipline = draw.one_of("discipline", self.disciplines)
        network: dict[str, Any] = {
            "rate": self._rate(draw, rate_bps),
            "rtt": f"{round(draw.between('rtt', self.rtt_ms) * 1000)}us",
            "queue": _queue(discipline, draw.between("queue", self.queue_bdp)),
        }
        if draw.share("lossy") < self.lossy:
            probability = float(f"{draw.between('loss', self.loss):.3e}")
            network["loss"] = [{"place": "receiver", "probability": probability}]
        learner = {"algorithm": PLACEHOLDER, "label": "learner", "count": learners}
        if discipline == "marking":
            learner["switches"] = {"ecn": "classic"}
        return {
            "seed": draw.integer("seed", 2**32),
            "duration": self.duration,
            "network": network,
            "flow": [learner, *self._others(draw, rate_bps)],
        }

    def _rate(self, draw: _Draw, rate_bps: Decimal) -> Any:
        kind = draw.one_of("rates", self.rates)
        duration_ms = parse_time(self.duration) // 10**6
        if kind == "constant":
            return f"{round(rate_bps)}bit"
        if kind == "steps":
            steps = [{"at": "0s", "rate": f"{round(rate_bps)}bit"}]
            parts = 2 + draw.integer("steps", _CHANGES)
            for part in range(1, parts):
                factor = draw.between(f"factor {part}", (0.3, 3))
                at_ms = duration_ms * part // parts
                steps.append({"at": f"{at_ms}ms", "rate": f"{round(rate_bps * factor)}bit"})
            return steps
        return [
            {"at": f"{tick * _TICK_MS}ms", "rate": f"{round(rate_bps * Decimal(share))}bit"}
            for tick, share in enumerate(_fading(draw.integer("fading", 2**32), duration_ms))
        ]

    def _others(self, draw: _Draw, rate_bps: Decimal) -> list[dict[str, Any]]:
        kind = draw.one_of("others", self.others)
        duration_ms = parse_time(self.duration) // 10**6
        start = f"{draw.integer('start', max(1, duration_ms // 3))}ms"
        if kind == "none":
            return []
        if kind == "udp":
            part = draw.between("udp", (0.1, 0.5))
            rate = f"{round(rate_bps * part)}bit"
            return [{"transport": "udp", "rate": rate, "label": "other", "start": start}]
        if kind == "on-off":
            phases = {"kind": "on-off", "on": "2s", "off": "2s", "random": True}
            return [
                {"algorithm": PLACEHOLDER, "label": "other", "start": start, "workload": phases}
            ]
        return [{"algorithm": kind, "label": "other", "start": start}]


def _fading(seed: int, duration_ms: int) -> Iterator[float]:
    """Yield the rate of each tick as a share of the highest, as a fading cell's.

    The model is that of Sprout (Winstein et al., NSDI 2013, section 3.1) with longer ticks. The
    rate is in Brownian motion, of 200 of 1000 packets per second in a root of a second. An outage
    ends at a rate of 1 per second. `dumbbell trace lte` follows it packet by packet.
    """
    # Sums and products alone, so that any machine draws the same.
    source = random.Random(seed)
    share = source.random()
    tick_s = _TICK_MS / _MS_PER_S
    for _ in range(-(-duration_ms // _TICK_MS)):
        yield share
        moved = 0.2 * math.sqrt(tick_s) * (sum(source.random() for _ in range(12)) - 6)
        if share > 0:
            share = min(max(share + moved, 0.0), 1.0)
        elif source.random() < tick_s:
            share = abs(moved)


def _queue(discipline: str, bdp: Decimal) -> dict[str, Any]:
    """Return a queue of so many bandwidth-delay products; a discipline has its own limit."""
    limit = f"{float(bdp):.3g}bdp"
    if discipline == "marking":
        return {"discipline": "fq-codel", "ecn": True}
    if discipline == "fq-codel":
        return {"discipline": "fq-codel", "ecn": False}
    if discipline == "fifo":
        return {"discipline": "fifo", "limit": limit}
    return {"discipline": discipline}


class _Draw:
    """The draws for one path."""

    def __init__(self, distribution: Distribution, split: str, number: int) -> None:
        self._purpose = ("path", distribution.name, distribution.version, split, number)

    def share(self, what: str) -> float:
        return float(draws.share(*self._purpose, what))

    def integer(self, what: str, span: int) -> int:
        return draws.integer(span, *self._purpose, what)

    def between(self, what: str, bounds: tuple[float, float]) -> Decimal:
        low, high = (Decimal(str(bound)) for bound in bounds)
        way = draws.decimal(draws.share(*self._purpose, what))
        return low * draws.power(way * draws.logarithm(high / low))

    def one_of(self, what: str, weights: Mapping[str, int]) -> str:
        place = self.integer(what, sum(weights.values()))
        for name, weight in weights.items():
            if place < weight:
                return name
            place -= weight
        raise AssertionError("the weights add up")


@dataclass(frozen=True)
class PathSet:
    """A number of paths of a distribution, each identified by its number."""

    distribution: Distribution
    split: str
    size: int

    def __len__(self) -> int:
        return self.size

    def name(self, number: int) -> str:
        """Return the name of a path."""
        return f"{self.distribution.name}-{self.distribution.version}/{self.split}/{number}"

    def table(self, number: int, learners: int = 1) -> dict[str, Any]:
        """Return a path as a scenario file would say it; its first flows are the learners'."""
        return self.distribution.table(self.split, number, learners)


STANDARD: Final = Distribution("standard")
"""The distribution of the sets that are known by their names."""
