"""Achievements of each side of a contest, and the harm that the other did to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import polars as pl

from dumbbell.base.labels import HARM, PART, POSITIVE, Bounds
from dumbbell.engines.engine import Engine
from dumbbell.experiments.compete import content
from dumbbell.experiments.compete.content import TEST, TOGETHER, start
from dumbbell.experiments.compete.sides import Side
from dumbbell.inference import known, statistics
from dumbbell.inference.estimates import Estimate
from dumbbell.quantities import taking
from dumbbell.results.results import Results

GOODPUT: Final = "goodput_mbit_per_s"
GOODPUT_MEAN: Final = "goodput_mean_mbit_per_s"
RTT: Final = "rtt_mean_ms"
AGAIN: Final = "retransmitted_share"
STARVED: Final = "starved_longest_s"
_OF_GROUP: Final = (GOODPUT, GOODPUT_MEAN, RTT, AGAIN, STARVED)
_WINDOW: Final = ("window_from_s", "window_to_s")

Point = tuple[tuple[str, str], ...]
"""Axes of the path that have several values, each with the value of a point."""


@dataclass(frozen=True)
class Outcome:
    """A side in one order of start, on one path; an estimate is None where no run has a value.

    Attributes
    ----------
    point
        The path, by its axes that have several values.
    side
        The side.
    first
        True if its flows start first.
    fair_share
        Its share of all flows.
    share
        Its share of the goodput of both sides.
    goodput
        Of each of its flows, in Mbit/s.
    rtt
        Mean round-trip time in ms.
    retransmitted
        Share of its segments that are sent again.
    starved
        Longest time in s in which one of its flows had next to nothing of a fair share.
    harm, delay_harm, loss_harm
        Harm that the other side does to its goodput, round-trip time and retransmissions:
        `statistics.harm`, compared with the same flows among their own.
    """

    point: Point
    side: Side
    first: bool
    fair_share: float
    share: Estimate | None
    goodput: Estimate | None
    rtt: Estimate | None
    retransmitted: Estimate | None
    starved: Estimate | None
    harm: Estimate | None
    delay_harm: Estimate | None
    loss_harm: Estimate | None

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "path": dict(self.point),
            "algorithm": self.side.name,
            "flows": self.side.flows,
            "starts": "first" if self.first else "last",
            "fair_share": self.fair_share,
            **{name: self.ends(name) for name in ESTIMATES},
        }

    def ends(self, name: str) -> dict[str, float | None] | None:
        """Return ``value``, ``low`` and ``high`` of an estimate, cut at its bounds.

        None where nothing was measured; an end is None where the runs do not bound it.
        """
        estimate: Estimate | None = getattr(self, name)
        return None if estimate is None else estimate.as_dict(ESTIMATES[name])


ESTIMATES: Final[Mapping[str, Bounds]] = {
    "share": PART,
    "goodput": POSITIVE,
    "rtt": POSITIVE,
    "retransmitted": PART,
    "starved": POSITIVE,
    "harm": HARM,
    "delay_harm": HARM,
    "loss_harm": HARM,
}
"""Estimates of an outcome, and what they cannot exceed."""


@dataclass(frozen=True)
class Contest:
    """Two algorithms on one path at the same time.

    Attributes
    ----------
    results
        The study that it is, and its runs.
    sides
        Both sides.
    outcomes
        Each side in each order of start, on each path.
    window
        From when to when in a run quantities are taken, in seconds, of all runs together.
    """

    results: Results
    sides: tuple[Side, Side]
    outcomes: tuple[Outcome, ...]
    window: tuple[float, float] | None

    @classmethod
    def of(cls, results: Results) -> Contest:
        """Take what is compared of the finished runs of a contest."""
        sides = content.sides_of(results.study)
        test = results.study.test(TEST)
        references = [GOODPUT, *_WINDOW]
        references += [f"{name}[{side.place}]" for side in sides for name in _OF_GROUP]
        taken = list(taking.of_runs(results.finished(TEST), references, results.store))
        others = [axis for axis in test.axes if axis not in ("flows", "start")]
        runs: dict[tuple[str, str, Point], dict[int, Mapping[str, float | None]]] = {}
        for run, values in taken:
            point = tuple((axis, run.axes[axis]) for axis in others)
            where = (run.axes["flows"], run.axes["start"], point)
            runs.setdefault(where, {})[run.repetition] = values
        points = dict.fromkeys(point for _, _, point in runs)
        outcomes = [
            _outcome(runs, point, sides, side, first)
            for point in points
            for first in sides
            for side in sides
        ]
        ends = [[values[end] for _, values in taken] for end in _WINDOW]
        begins, stops = ([end for end in side if end is not None] for side in ends)
        window = (min(begins), max(stops)) if begins and stops else None
        return cls(results, sides, tuple(outcomes), window)

    @property
    def engine(self) -> Engine:
        """The engine that ran it."""
        return self.results.engine

    @property
    def path(self) -> str:
        """The path, in words."""
        return self.results.study.header.summary

    @property
    def points(self) -> tuple[Point, ...]:
        """The paths of which there are runs."""
        return tuple(dict.fromkeys(outcome.point for outcome in self.outcomes))

    def of_point(self, point: Point) -> tuple[Outcome, ...]:
        """Return the outcomes on a path: both sides if the first starts first, then if last."""
        return tuple(outcome for outcome in self.outcomes if outcome.point == point)

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "study": self.results.study.name,
            "path": self.path,
            "engine": self.engine.identity,
            "window_s": self.window,
            "outcomes": [outcome.as_dict() for outcome in self.outcomes],
            "invalid": list(self.results.invalid.values()),
            "doubtful": list(self.results.doubtful),
        }

    def frame(self) -> pl.DataFrame:
        """Return a row for each path, order of start and side, with the ends of intervals."""
        rows = []
        for outcome in self.outcomes:
            row: dict[str, Any] = {
                **dict(outcome.point),
                "algorithm": outcome.side.name,
                "flows": outcome.side.flows,
                "starts": "first" if outcome.first else "last",
                "fair_share": outcome.fair_share,
            }
            for name in ESTIMATES:
                ends = outcome.ends(name) or {}
                row[name] = ends.get("value")
                row |= {f"{name}_{end}": ends.get(end) for end in ("low", "high")}
            rows.append(row)
        texts = [name for name, _ in self.points[0]] if self.points else []
        schema: dict[str, Any] = {
            **dict.fromkeys([*texts, "algorithm"], pl.String),
            "flows": pl.Int64,
            "starts": pl.String,
            "fair_share": pl.Float64,
        }
        for name in ESTIMATES:
            schema |= dict.fromkeys([name, f"{name}_low", f"{name}_high"], pl.Float64)
        return pl.DataFrame(rows, schema=schema)


_Runs = Mapping[tuple[str, str, Point], Mapping[int, Mapping[str, float | None]]]


def _outcome(
    runs: _Runs, point: Point, sides: tuple[Side, Side], side: Side, first: Side
) -> Outcome:
    there = runs.get((TOGETHER, start(first), point), {})
    among_own_kind = runs.get((side.axis_value, start(first), point), {})

    def values(name: str) -> list[float | None]:
        return [run[f"{name}[{side.place}]"] for run in there.values()]

    def harm(name: str, *, more_is_better: bool) -> Estimate | None:
        # Repetitions share their seeds, so they are pairs; an invalid run drops its pair.
        both = [number for number in there if number in among_own_kind]
        one, other = (
            [runs[n][f"{name}[{side.place}]"] for n in both] for runs in (there, among_own_kind)
        )
        return known.of_pairs(partial(statistics.harm, more_is_better=more_is_better), one, other)

    of_all = [run[GOODPUT] for run in there.values()]
    shares = [a / b for a, b in zip(values(GOODPUT), of_all, strict=True) if a is not None and b]
    return Outcome(
        point,
        side,
        first=side is first,
        fair_share=side.flows / sum(any_side.flows for any_side in sides),
        share=known.mean(shares),
        goodput=known.mean(values(GOODPUT_MEAN)),
        rtt=known.mean(values(RTT)),
        retransmitted=known.mean(values(AGAIN)),
        starved=known.mean(values(STARVED)),
        harm=harm(GOODPUT_MEAN, more_is_better=True),
        delay_harm=harm(RTT, more_is_better=False),
        loss_harm=harm(AGAIN, more_is_better=False),
    )
