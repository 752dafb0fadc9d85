"""Judge the policy that ships: on the test set, next to other flows, on other paths."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from dumbbell.gym import STANDARD, PathEnv, PathSet
from dumbbell.learning import FixedPolicy, Policy, Worth, worths
from dumbbell.learning.policy import Numbers

REFERENCE: Final = "cubic"
OTHERS: Final = ("bbr", "reno")

_RESAMPLINGS: Final = 5000
_FEW: Final = 24
"""Paths of a set that is drawn for one question."""

_STARVED: Final = 0.2

_PLAIN: Final[Mapping[str, Any]] = {
    "disciplines": {"fifo": 1},
    "rates": {"constant": 1},
    "lossy": 0,
}

ELSEWHERE: Final[Mapping[str, Mapping[str, Any]]] = {
    "100 to 400 Mbit/s": {"rate_mbit": (100, 400)},
    "0.2 to 1 Mbit/s": {"rate_mbit": (0.2, 1)},
    "1 to 10 ms": {"rtt_ms": (1, 10)},
    "200 to 600 ms": {"rtt_ms": (200, 600)},
    "drop-tail of 5 to 20 BDP": {"queue_bdp": (5, 20), "disciplines": {"fifo": 1}},
    "1 to 5 % random loss": {"lossy": 1, "loss": (0.01, 0.05)},
}
"""Paths outside the distribution, by what differs."""


@dataclass(frozen=True)
class Between:
    """A mean with the 95 % interval of a bootstrap over paths."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float] | Numbers) -> Between:
        """Resample paths (Efron 1979): the percentiles of means, by a fixed seed."""
        numbers = np.asarray(values, float)
        random = np.random.default_rng(1)
        drawn = random.integers(len(numbers), size=(_RESAMPLINGS, len(numbers)))
        low, high = np.percentile(numbers[drawn].mean(axis=1), (2.5, 97.5))
        return cls(float(numbers.mean()), float(low), float(high))


def on_test_set(file: Path) -> dict[str, list[Worth]]:
    """Return what the policy and three algorithms get on each path of the test set."""
    return {name: worths(name, "test") for name in (str(file), REFERENCE, *OTHERS)}


def shares(worths: Sequence[Worth]) -> Numbers:
    """Return rewards over the rates of the bottlenecks."""
    return np.array([worth.share for worth in worths])


def kinds(worths: Sequence[Worth]) -> NDArray[np.bool_]:
    """Return True for each path without another TCP flow."""
    return np.array([worth.others_mbit_per_s is None for worth in worths])


@dataclass(frozen=True)
class Beside:
    """Parts of the goodput of two flows.

    Attributes
    ----------
    mine, reference
        The part of the policy next to the other flow, and that of CUBIC in its place.
    starved, starved_reference
        Numbers of paths on which it has less than a fifth.
    """

    mine: Between
    reference: Between
    starved: int
    starved_reference: int


def beside(file: Path) -> dict[str, Beside]:
    """Return the parts next to each of four algorithms."""
    rivals = {"CUBIC": "cubic", "Reno": "reno", "BBR": "bbr", "itself": str(file)}
    answers = {}
    for label, rival in rivals.items():
        paths = _drawn(f"beside-{label}", {**_PLAIN, "others": {rival: 1}})
        mine, reference = (
            np.array([_part(worth) for worth in worths(name, paths)])
            for name in (str(file), REFERENCE)
        )
        starved = int((mine < _STARVED).sum()), int((reference < _STARVED).sum())
        answers[label] = Beside(Between.of(mine), Between.of(reference), *starved)
    return answers


def elsewhere(file: Path) -> dict[str, tuple[Between, Between, Between]]:
    """Return shares on other paths: the policy's, CUBIC's, and the difference path by path."""
    answers = {}
    for label, differs in ELSEWHERE.items():
        paths = _drawn(f"elsewhere-{label}", differs)
        mine, reference = (shares(worths(name, paths)) for name in (str(file), REFERENCE))
        answers[label] = Between.of(mine), Between.of(reference), Between.of(mine - reference)
    return answers


def _drawn(name: str, differs: Mapping[str, Any]) -> PathSet:
    return PathSet(replace(STANDARD, name=name, **differs), "test", _FEW)


def _part(worth: Worth) -> float:
    others = worth.others_mbit_per_s or 0.0
    return worth.goodput_mbit_per_s / (worth.goodput_mbit_per_s + others)


@dataclass(frozen=True)
class Exported:
    """How far the C file is from the policy.

    Attributes
    ----------
    decisions
        Number of observations that both decided on.
    median, most
        By how much their factors differ, as a share: in the median and at most.
    goodput
        Goodput of the C file over that of the policy in the environment, in the mean over paths.
    stretch
        Likewise their mean RTTs.
    """

    decisions: int
    median: float
    most: float
    goodput: Between
    stretch: Between


def exported(policy: Policy, file: Path, count: int = _FEW) -> Exported:
    """Compare decisions and outcomes on paths of the validation set."""
    paths = replace(STANDARD.paths("validation"), size=count)
    fixed = FixedPolicy.of(policy)
    low, high = policy.factor
    differ: list[float] = []
    ratios: list[tuple[float, float]] = []
    for number, worth in enumerate(worths(str(file), paths)):
        seen, rate, stretch = _episode(policy, paths, number)
        apart = np.abs(fixed.act(seen) - policy.act(seen))[:, 0] / 2
        differ += ((high / low) ** apart - 1).tolist()
        ratios.append((worth.goodput_mbit_per_s / rate, worth.rtt_stretch / stretch))
    goodput, stretches = (Between.of(column) for column in np.array(ratios).T)
    return Exported(
        len(differ), float(np.median(differ)), float(np.max(differ)), goodput, stretches
    )


def _episode(policy: Policy, paths: PathSet, number: int) -> tuple[Numbers, float, float]:
    """Return the observations of an episode, its rate in Mbit/s and its mean RTT / the smallest."""
    env = PathEnv(paths, **policy.settings)
    observation, _ = env.reset(seed=1, options={"path": number})
    act: Callable[[Any], Any] = policy.act
    seen, over = [observation], False
    while not over:
        observation, _, _, over, _ = env.step(act(observation))
        seen.append(observation)
    summary = env.summary()
    flow = summary.flows[0]
    rate = flow.acked_bytes * 8e3 / summary.duration_ns
    return np.array(seen), rate, (flow.rtt_mean_us or 0) / (flow.rtt_min_us or 1)
