"""Duration of runs, learned from those that are finished."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dumbbell.base.units import NS_PER_S
from dumbbell.engines.sizes import expected_work
from dumbbell.plan.places import Place, Places
from dumbbell.scenario.resolve import ResolvedScenario

_BLOCK: Final = 4_000_000
"""Pairs of grid points that are compared at a time."""


class Estimate:
    """Predicts the time of each run as its expected size times what finished ones took for theirs.

    The finished ones that count are the nearest: of the same grid point, else those that share most
    axes with it (the test is one of them). So effects that no formula has are known once a few
    similar runs are done: how an algorithm behaves on a lossy path, say, or how fast the engine
    simulates it.

    Parameters
    ----------
    runs
        All that is to be run.
    places
        Their places, as far as they have any.
    stored
        The keys of those that are there already, which take no time.
    real_time
        True if runs take as long as their scenarios last; their duration is then known beforehand.
    """

    def __init__(
        self,
        runs: Sequence[ResolvedScenario],
        places: Places,
        stored: Collection[str] = (),
        *,
        real_time: bool = False,
    ) -> None:
        size = _length_s if real_time else _work
        self._size = {run.key: size(run) for run in runs}
        known_places = [places.get(run.key) for run in runs]
        names = [_axes(place) for place in known_places]
        points = {name: number for number, name in enumerate(dict.fromkeys(names))}
        self._point = {run.key: points[name] for run, name in zip(runs, names, strict=True)}
        self._codes = _codes(list(points))
        self._left = {run.key for run in runs} - set(stored)
        self._left_size = np.zeros(len(points))
        for key in self._left:
            self._left_size[self._point[key]] += self._size[key]
        self._log_pace = np.zeros(len(points))
        self._count = np.zeros(len(points), dtype=np.int64)
        self._pace: npt.NDArray[np.float64] | None = np.ones(len(points)) if real_time else None
        self._news = False

    def finish(self, key: str, seconds: float | None) -> None:
        """Take note that a run has ended after so many `seconds`; None if that teaches nothing."""
        point = self._point[key]
        if key in self._left:
            self._left.remove(key)
            self._left_size[point] = max(0.0, self._left_size[point] - self._size[key])
        if seconds is not None and seconds > 0:
            # Paces differ by factors, so the geometric mean is the better guess.
            self._log_pace[point] += math.log(seconds / self._size[key])
            self._count[point] += 1
            self._news = True

    def expected_s(self, key: str) -> float | None:
        """Return how long a run takes; None: nothing is known yet."""
        pace = self._paces()
        return None if pace is None else float(pace[self._point[key]]) * self._size[key]

    def left_s(self, jobs: int, running: Mapping[str, float]) -> float | None:
        """Return how long it will take until all is done; None: nothing is known yet.

        Parameters
        ----------
        jobs
            Number of runs at the same time.
        running
            The runs in progress, with the seconds since they began.
        """
        pace = self._paces()
        if pace is None:
            return None
        all_s = float(pace @ self._left_size)
        done_s, longest_s = 0.0, 0.0
        for key in running.keys() & self._left:
            whole_s = float(pace[self._point[key]]) * self._size[key]
            # A run that takes longer than expected is not more than done.
            done_s += min(running[key], whole_s)
            longest_s = max(longest_s, whole_s - running[key])
        at_once = min(jobs, max(1, len(self._left)))
        # However many workers there are, the longest run in progress has to end.
        return max((all_s - done_s) / at_once, longest_s)

    def _paces(self) -> npt.NDArray[np.float64] | None:
        """Return the seconds per unit of size at each grid point."""
        if self._news:
            self._news = False
            self._pace = self._learned()
        return self._pace

    def _learned(self) -> npt.NDArray[np.float64]:
        known = np.flatnonzero(self._count)
        log_pace, count = self._log_pace[known], self._count[known]
        pace = np.empty(len(self._count))
        # In blocks: a study of 10,000 grid points would need a matrix of 10^8 pairs at once.
        rows = max(1, _BLOCK // len(known))
        for start in range(0, len(pace), rows):
            shared = _shared(self._codes[start : start + rows], self._codes[known])
            nearest = shared == shared.max(axis=1, keepdims=True)
            pace[start : start + rows] = np.exp((nearest @ log_pace) / (nearest @ count))
        return pace


def _shared(some: npt.NDArray[Any], others: npt.NDArray[Any]) -> npt.NDArray[np.int16]:
    """Count the axes on which each of some points has the value of each of the others."""
    count = np.zeros((len(some), len(others)), dtype=np.int16)
    for column in range(some.shape[1]):
        mine = some[:, column, None]
        count += (mine == others[None, :, column]) & (mine > 0)
    return count


def _axes(place: Place | None) -> tuple[tuple[str, str], ...]:
    return () if place is None else (("test", place.test), *place.axes.items())


def _codes(points: Sequence[Iterable[tuple[str, str]]]) -> npt.NDArray[np.int32]:
    """Return the values of each axis as numbers; a point without an axis has 0 there."""
    columns: dict[str, int] = {}
    values: dict[tuple[str, str], int] = {}
    for point in points:
        for axis, value in point:
            columns.setdefault(axis, len(columns))
            values.setdefault((axis, value), len(values) + 1)
    codes = np.zeros((len(points), len(columns)), dtype=np.int32)
    for row, point in enumerate(points):
        for axis, value in point:
            codes[row, columns[axis]] = values[axis, value]
    return codes


def _work(run: ResolvedScenario) -> float:
    return expected_work(run.scenario)


def _length_s(run: ResolvedScenario) -> float:
    return run.scenario.duration_ns / NS_PER_S
