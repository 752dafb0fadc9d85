"""Facts of paths that a trainer knows and no sender does."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import ClassVar, Final

import numpy as np

from dumbbell.base.errors import InputError
from dumbbell.base.units import NS_PER_S
from dumbbell.gym import PathVectorEnv
from dumbbell.learning.policy import Numbers
from dumbbell.scenario import facts
from dumbbell.scenario.resolve import ResolvedScenario

_BPS_PER_MBIT: Final = 1e6
_USUAL: Final = (1.0, -1.3, 0.5)
"""Logarithms of a usual rate in Mbit/s and of a usual RTT in s, and a usual share of others."""


class Known:
    """Facts of the path of each environment."""

    WIDTH: ClassVar[int] = len(_USUAL)

    def __init__(self, env: PathVectorEnv) -> None:
        self._env = env
        self._by_path: dict[str, tuple[float, tuple[float, ...]]] = {}

    def rates(self) -> Numbers:
        """Return the mean rate of each bottleneck in Mbit/s."""
        return np.array([rate for rate, _ in self._facts()])

    def paths(self) -> Numbers:
        """Return numbers around zero for the rate, the RTT and other flows of each path."""
        return np.array([numbers for _, numbers in self._facts()])

    def _facts(self) -> Iterator[tuple[float, tuple[float, ...]]]:
        for path in self._env.scenarios:
            if path.key not in self._by_path:
                self._by_path[path.key] = _facts(path)
            yield self._by_path[path.key]


def rate_mbit_per_s(path: ResolvedScenario) -> float:
    """Return the mean rate of the bottleneck; InputError if there is none."""
    rate_bps = facts.bottleneck_rate_bps(path.scenario)
    if not rate_bps:
        raise InputError("has a path without a bottleneck of a known rate", key="paths")
    return rate_bps / _BPS_PER_MBIT


def _facts(path: ResolvedScenario) -> tuple[float, tuple[float, ...]]:
    scenario, rate = path.scenario, rate_mbit_per_s(path)
    rtt_s = facts.base_rtt_ns(scenario, scenario.flows[0]) / NS_PER_S
    numbers = math.log10(rate), math.log10(max(rtt_s, 1e-6)), float(len(scenario.flows) > 1)
    return rate, tuple(number - usual for number, usual in zip(numbers, _USUAL, strict=True))
