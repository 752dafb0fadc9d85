"""Distance of the windows of two runs from each other.

The distance of two traces is the L1 distance between the distributions of their samples, as a share
of the mean of both. It is the area between the two distribution functions (the first Wasserstein
distance). Windows that are the same but for their order in time have distance 0, so that a sawtooth
does not differ from itself half a cycle later. Windows that are c larger throughout have distance c
/ mean.

A distance alone shows little: two runs of one engine with different seeds have one, too. So the
verdict is on the *excess*: the mean distance between runs of the two engines, minus the mean
distance between runs of the same engine, averaged over both engines. It is 0 for engines that draw
their runs from the same distribution, whatever that is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt
import polars as pl
import scipy  # type: ignore[import-untyped]

from dumbbell.engines.result import Run
from dumbbell.inference.statistics import Estimate, jackknifed
from fidelity.agreement.measures import CONFIDENCE

Trace = npt.NDArray[np.float64]
Traces = tuple[Trace, ...]
"""The windows of the flows of one run."""


def traces(run: Run) -> Traces:
    """Return the sampled windows of each flow."""
    frame = run.scan("flows").select("flow", "cwnd_segs").drop_nulls().collect()
    windows = frame.partition_by("flow", as_dict=True)
    return tuple(
        windows[index,]["cwnd_segs"].cast(pl.Float64).to_numpy()
        if (index,) in windows
        else np.empty(0)
        for index in range(len(run.scenario.flows))
    )


def between(one: Trace, other: Trace) -> float:
    """Return the distance of two traces as a share of their mean; 1 if only one has samples."""
    if not one.size or not other.size:
        return float(one.size != other.size)
    scale = (one.mean() + other.mean()) / 2
    # An attribute, as the import of `scipy.stats` takes a second.
    return float(scipy.stats.wasserstein_distance(one, other) / scale) if scale else 0.0


def of_runs(one: Traces, other: Traces) -> float:
    """Return the mean distance of the flows of two runs of a scenario."""
    return float(np.mean([between(a, b) for a, b in zip(one, other, strict=True)]))


@dataclass(frozen=True)
class WindowDistance:
    """Mean distances between runs.

    Attributes
    ----------
    across
        Between runs of the two engines.
    within
        Between runs of the same engine, of one and of the other: the yardstick.
    excess
        Difference of the first and the mean of the second.
    """

    across: float
    within: tuple[float, float]
    excess: Estimate


def compare(one: Sequence[Traces], other: Sequence[Traces]) -> WindowDistance | None:
    """Compare the runs of two engines; None with fewer than two of either."""
    if min(len(one), len(other)) < 2:
        return None
    across = np.array([[of_runs(a, b) for b in other] for a in one])
    inside_one, inside_other = _pairwise(one), _pairwise(other)

    def excess(ones: Sequence[int], others: Sequence[int]) -> float:
        yardstick = (inside_one(ones) + inside_other(others)) / 2
        return float(across[np.ix_(ones, others)].mean()) - yardstick

    return WindowDistance(
        across=float(across.mean()),
        within=(inside_one(range(len(one))), inside_other(range(len(other)))),
        excess=jackknifed(excess, len(one), len(other), CONFIDENCE),
    )


def _pairwise(runs: Sequence[Traces]) -> Callable[[Sequence[int]], float]:
    """Return what gives the mean distance between some of the runs."""
    distances = {(a, b): of_runs(runs[a], runs[b]) for a, b in combinations(range(len(runs)), 2)}

    def mean(members: Sequence[int]) -> float:
        return float(np.mean([distances[pair] for pair in combinations(members, 2)]))

    return mean
