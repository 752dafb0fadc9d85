"""The networks of a learner as one array of numbers, and how a gradient changes these."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from dumbbell.learning.policy import Layer, Numbers

_CENTRES: Final = {"loss_share": (0.02, 20.0), "mark_share": (0.05, 5.0)}
_CENTRE: Final = (1.0, 1.5)
"""A usual number of a field, and the factor on its distance from that before the first layer."""

_CRITIC: Final = (32, 32)
_FIRST_DEVIATION: Final = 0.35
_FIRST_ACTION: Final = -0.2
"""The window falls at first, because a learner that floods queues costs many more packets."""
_LONGEST: Final = 0.5
"""Longer gradients are cut to this."""


@dataclass(frozen=True)
class Sizes:
    """The sizes of policy and critic, whose numbers lie one after the other.

    Attributes
    ----------
    fields
        The field of each observed number.
    known
        Number of facts of the path, for the critic alone.
    hidden
        Widths of the hidden layers of the policy.
    """

    fields: tuple[str, ...]
    known: int
    hidden: tuple[int, ...]

    @property
    def _shapes(self) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        policy = [len(self.fields), *self.hidden, 1]
        critic = [len(self.fields) + self.known, *_CRITIC, 1]
        pairs = [list(itertools.pairwise(widths)) for widths in (policy, critic)]
        return pairs[0], pairs[1]

    @property
    def _usual(self) -> tuple[Numbers, Numbers]:
        centres, gains = np.array([_CENTRES.get(name, _CENTRE) for name in self.fields]).T
        return centres, gains

    def first(self, random: np.random.Generator) -> Numbers:
        """Return random numbers to begin with (He et al. 2015); the last layers are small."""
        parts: list[Numbers] = []
        for role, shapes in enumerate(self._shapes):
            for place, (rows, columns) in enumerate(shapes):
                scale = 0.01 if place == len(shapes) - 1 else math.sqrt(2 / rows)
                parts += [scale * random.standard_normal(rows * columns), np.zeros(columns)]
            if role == 0:
                parts[-1] += _FIRST_ACTION
        return np.concatenate([*parts, [math.log(_FIRST_DEVIATION)]])

    def policy(self, numbers: Numbers) -> list[Layer]:
        """Return the layers of the policy, for inputs as they are observed."""
        (weights, biases), *others = self._layers(numbers)[0]
        centres, gains = self._usual
        weights = weights * gains[:, np.newaxis]
        return [(weights, biases - centres @ weights), *others]

    def log_deviation(self, numbers: Any) -> Any:
        """Return the logarithm of the deviation of the actions that are tried."""
        return numbers[-1]

    def all(self, np_: Any, numbers: Any, inputs: Any, known: Any) -> tuple[Any, Any, Any]:
        """Return mean action, log deviation and value; `np_` is NumPy or autograd's."""
        policy, critic = self._layers(numbers)
        centres, gains = self._usual
        seen = (inputs - centres) * gains
        mean = _through(policy, seen, lambda sums: np_.maximum(sums, 0))
        value = _through(critic, np_.concatenate([seen, known], axis=1), np_.tanh)
        return mean[:, 0], self.log_deviation(numbers), value[:, 0]

    def _layers(self, numbers: Any) -> tuple[list[Any], list[Any]]:
        at, both = 0, []
        for shapes in self._shapes:
            layers = []
            for rows, columns in shapes:
                end = at + rows * columns
                weights = numbers[at:end].reshape((rows, columns))
                layers.append((weights, numbers[end : end + columns]))
                at = end + columns
            both.append(layers)
        return both[0], both[1]


def _through(layers: Sequence[Any], values: Any, bend: Any) -> Any:
    for weights, biases in layers[:-1]:
        values = bend(values @ weights + biases)
    weights, biases = layers[-1]
    return values @ weights + biases


def gaussian(np_: Any, actions: Any, mean: Any, log_deviation: Any) -> Any:
    """Return the logarithm of the density of actions, up to a constant."""
    return -0.5 * ((actions - mean) / np_.exp(log_deviation)) ** 2 - log_deviation


class Adam:
    """Adam (Kingma and Ba 2015, arXiv:1412.6980, algorithm 1) with gradients of bounded length."""

    def __init__(self, size: int) -> None:
        self._mean, self._square = np.zeros(size), np.zeros(size)
        self._steps = 0

    def step(self, numbers: Numbers, gradient: Numbers, rate: float) -> Numbers:
        """Return the numbers after a step down the gradient."""
        self._steps += 1
        gradient = gradient * min(1.0, _LONGEST / (float(np.linalg.norm(gradient)) + 1e-12))
        self._mean = 0.9 * self._mean + 0.1 * gradient
        self._square = 0.999 * self._square + 0.001 * gradient**2
        mean = self._mean / (1 - 0.9**self._steps)
        square = self._square / (1 - 0.999**self._steps)
        return numbers - rate * mean / (np.sqrt(square) + 1e-8)
