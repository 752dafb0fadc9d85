"""The reward that an algorithm gets where a learner would be, of the same paths and seeds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from dumbbell.algorithms import catalogue
from dumbbell.base.arguments import wrong
from dumbbell.base.errors import InputError, listed, placed
from dumbbell.base.units import NS_PER_S
from dumbbell.contract.summary import FlowSummary
from dumbbell.engines.engine import SimulatorEngine
from dumbbell.engines.result import Run
from dumbbell.gym.measured import FIELDS, Measured
from dumbbell.gym.rewards import Reward
from dumbbell.gym.rewards import reward as named_reward
from dumbbell.gym.sources import Source
from dumbbell.learning.paths import rate_mbit_per_s
from dumbbell.learning.policy import Numbers
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.path_sets import SIZES, STANDARD, PathSet

_SAMPLED: Final = "10ms"
_SAMPLES: Final = 10
"""Samples in a step of a reward, which so lasts 100 ms."""

MS_PER_S: Final = 1000.0
US_PER_MS: Final = 1000.0
_MBIT: Final = 8e-6
"""Mbit in a byte."""


@dataclass(frozen=True)
class Worth:
    """The reward of an algorithm on a path, and its parts.

    Attributes
    ----------
    path
        Name of the path.
    reward
        Mean reward over time.
    share
        That reward divided by the mean rate of the bottleneck, in Mbit/s.
    goodput_mbit_per_s
        Payload acknowledged per second.
    rtt_stretch
        Mean RTT divided by the smallest one.
    loss_share
        Retransmitted segments, as a share of all segments sent.
    others_mbit_per_s
        Payload acknowledged per second of all other TCP flows; None: there are none.
    """

    path: str
    reward: float
    share: float
    goodput_mbit_per_s: float
    rtt_stretch: float
    loss_share: float
    others_mbit_per_s: float | None


def worths(
    algorithm: str, paths: str | PathSet = "validation", *, reward: str | Reward = "power-loss"
) -> list[Worth]:
    """Return what an algorithm gets on each path of a set, by the reward of a learner.

    Each path is a run of the simulator with its own seed. Rewards are computed over steps of 100 ms
    for every algorithm, so that all are comparable. In these steps `rtt_mean_ms` is the mean of ten
    samples, a segment counts as lost when it is retransmitted, and marks are not measured.

    Parameters
    ----------
    algorithm
        Name of an algorithm, or the path of a C file: "cubic", "./learnt.c".
    paths
        "train", "validation" or "test", or a `PathSet`.
    reward
        Name of a reward, of `dumbbell.gym.REWARDS`, or a function of `Measured`.
    """
    if not isinstance(algorithm, str):
        raise wrong("algorithm", algorithm, "not an algorithm", 'a name or a C file: "./learnt.c"')
    if isinstance(paths, str):
        paths = STANDARD.paths(paths)
    if not isinstance(paths, PathSet):
        raise wrong("paths", paths, "not a set of paths", f"{listed(SIZES)}, or a PathSet")
    function, source = named_reward(reward), Source(paths, 1)
    return [_worth(algorithm, paths, number, function, source) for number in range(len(paths))]


def _worth(algorithm: str, paths: PathSet, number: int, function: Reward, source: Source) -> Worth:
    table = paths.table(number)
    learner, *rest = table["flow"]
    steered = {
        **table,
        "flow": [{**learner, "algorithm": algorithm}, *rest],
        "record": {"interval": _SAMPLED, "events": []},
    }
    with placed(key="algorithm"):
        catalogue.split_preset(algorithm)
    resolved = Scenario.parse(steered).resolve()
    run = Run.of(resolved, SimulatorEngine().run(resolved))
    numbers = _steps(run)
    measured = Measured(numbers, lambda: source.baseline_mbit_per_s(number))
    rewards = np.asarray(function(measured))
    if rewards.shape != numbers.shape[:1] or not np.isfinite(rewards).all():
        raise InputError(
            "does not return a finite number for each step", key="reward",
            valid="a function that takes and returns arrays entry by entry",
        )  # fmt: skip
    flow, *others = run.summary.flows
    acked = [_mbit_per_s(other, run) for other in others if other.acked_bytes]
    mean = float(rewards.mean())
    return Worth(
        path=paths.name(number),
        reward=mean,
        share=mean / rate_mbit_per_s(resolved),
        goodput_mbit_per_s=_mbit_per_s(flow, run),
        rtt_stretch=float((flow.rtt_mean_us or 0) / (flow.rtt_min_us or 1)),
        loss_share=flow.retransmitted_segs / max(1, flow.sent_segs),
        others_mbit_per_s=sum(acked) if acked else None,
    )


def _mbit_per_s(flow: FlowSummary, run: Run) -> float:
    return flow.acked_bytes * _MBIT * NS_PER_S / run.summary.duration_ns


def _steps(run: Run) -> Numbers:
    """Return what a learner would have measured in each step, in the order of `FIELDS`."""
    samples = run.scan("flows", named=False).collect()
    mine = samples.filter(pl.col("flow") == 0)
    others = (
        samples.filter(pl.col("flow") != 0).group_by("time_ns").agg(pl.col("acked_bytes").sum())
    )
    mine = mine.join(others, on="time_ns", how="left", suffix="_others").sort("time_ns")
    steps = len(mine) // _SAMPLES
    column = {
        name: mine[name].cast(pl.Float64).fill_null(strategy="backward").fill_null(0).to_numpy()
        for name in mine.columns
        if mine[name].dtype.is_numeric()
    }

    def last(name: str) -> Numbers:
        return column[name][_SAMPLES - 1 :: _SAMPLES][:steps]

    def mean(name: str) -> Numbers:
        return np.asarray(column[name][: steps * _SAMPLES].reshape(steps, _SAMPLES).mean(axis=1))

    def least(name: str) -> Numbers:
        return np.asarray(column[name][: steps * _SAMPLES].reshape(steps, _SAMPLES).min(axis=1))

    def grown(name: str) -> Numbers:
        return np.diff(last(name), prepend=0)

    step_s = np.diff(last("time_ns"), prepend=0) / NS_PER_S
    mss_bytes = last("sent_bytes")[-1] / max(1, last("sent_segs")[-1])
    delivered_bytes, lost_segs = grown("acked_bytes"), grown("retransmitted_segs")
    handled_segs = np.maximum(lost_segs + delivered_bytes / max(1, mss_bytes), 1e-9)
    # The smallest so far may be the handshake's, whose packets are smaller than those of data.
    least_us = run.summary.flows[0].rtt_min_us or 0
    path_us = np.maximum(np.minimum.accumulate(last("min_rtt_us")), least_us)
    fields = {
        "interval_ms": step_s * MS_PER_S,
        "delivered_bytes": delivered_bytes,
        "send_mbit_per_s": grown("sent_bytes") * _MBIT / step_s,
        "delivery_mbit_per_s": delivered_bytes * _MBIT / step_s,
        "loss_share": lost_segs / handled_segs,
        "mark_share": np.zeros(steps),
        "rtt_min_ms": least("rtt_us") / US_PER_MS,
        "rtt_mean_ms": mean("rtt_us") / US_PER_MS,
        "rtt_ms": last("rtt_us") / US_PER_MS,
        "path_rtt_min_ms": path_us / US_PER_MS,
        "in_flight_segs": last("in_flight_segs"),
        "cwnd_segs": last("cwnd_segs"),
        "pacing_mbit_per_s": last("pacing_rate_bytes_per_s") * _MBIT,
        "others_mbit_per_s": grown("acked_bytes_others") * _MBIT / step_s,
    }
    return np.stack([fields[field.name] for field in FIELDS], axis=1)
