"""A policy in integers, as a C file calculates it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dumbbell.base.errors import InputError
from dumbbell.learning.policy import Numbers, Policy

Integers = NDArray[np.int64]

SHIFT: Final = 16
ONE: Final = 1 << SHIFT
"""Numbers count in 1/65536."""

LARGEST: Final = 1024
"""Weights and biases are less: then no sum of products exceeds 64 bits."""

_HIDDEN_MAX: Final = 2**31 / ONE
"""Hidden numbers are less, so that they fit into 32 bits."""

PART_SHIFT: Final = 11
INTERVALS: Final = 2 * ONE >> PART_SHIFT
"""Factors are in a table with so many intervals, and between them on straight lines."""


@dataclass(frozen=True)
class FixedPolicy:
    """The integers of a policy, and its decisions by these alone.

    Attributes
    ----------
    policy
        The policy.
    layers
        Weights of shape (inputs, outputs) and biases.
    factors
        Factors on the window for actions from -1 to 1, in equal steps.
    """

    policy: Policy
    layers: tuple[tuple[Integers, Integers], ...]
    factors: Integers

    @classmethod
    def of(cls, policy: Policy) -> FixedPolicy:
        """Round a policy; raise InputError for a number that is too large."""
        layers = []
        for number, layer in enumerate(policy.layers):
            for what, numbers in zip(("weights", "biases"), layer, strict=True):
                largest = float(np.abs(numbers).max())
                if largest >= LARGEST:
                    raise InputError(
                        "too large for the integers of a C file",
                        key=f"layers.{number}.{what}", value=largest, valid=f"below {LARGEST}",
                    )  # fmt: skip
            weights, biases = (np.rint(numbers * ONE).astype(np.int64) for numbers in layer)
            layers.append((weights, biases))
        _check_hidden(policy)
        low, high = policy.factor
        shares = np.arange(INTERVALS + 1) / INTERVALS
        factors = np.rint(ONE * low * (high / low) ** shares).astype(np.int64)
        return cls(policy, tuple(layers), factors)

    def act(self, observations: ArrayLike) -> Numbers:
        """Return actions as `Policy.act` does."""
        inputs = np.floor(self.policy.inputs(observations) * ONE).astype(np.int64)
        return self.actions(inputs)[..., np.newaxis] / ONE

    def actions(self, inputs: Integers) -> Integers:
        """Return actions in 1/65536 for rows of inputs in 1/65536."""
        values = np.minimum(inputs, int(self.policy.ceiling * ONE))
        for weights, biases in self.layers[:-1]:
            values = np.maximum((values @ weights + biases * ONE) >> SHIFT, 0)
        weights, biases = self.layers[-1]
        sums = (values @ weights + biases * ONE) >> SHIFT
        return np.asarray(np.clip(sums[..., 0], -ONE, ONE))

    def factors_of(self, actions: Integers) -> Integers:
        """Return factors on the window in 1/65536 for actions in 1/65536."""
        place = actions + ONE
        at, part = place >> PART_SHIFT, place & ((1 << PART_SHIFT) - 1)
        low, high = self.factors[at], self.factors[np.minimum(at + 1, INTERVALS)]
        return np.asarray(low + ((high - low) * part >> PART_SHIFT))


def _check_hidden(policy: Policy) -> None:
    """Refuse a network whose hidden numbers some inputs could make too large."""
    most: Numbers = np.full(policy.layers[0][0].shape[0], policy.ceiling)
    for number, (weights, biases) in enumerate(policy.layers[:-1]):
        most = np.maximum(most @ np.maximum(weights, 0) + biases, 0)
        if most.max() >= _HIDDEN_MAX - 1:
            raise InputError(
                "makes numbers too large for the integers of a C file",
                key=f"layers.{number}", value=float(most.max()), valid=f"below {_HIDDEN_MAX:g}",
            )  # fmt: skip
