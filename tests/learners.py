"""Policies that tests draw."""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from dumbbell.learning import Policy


def drawn(
    seed: int,
    observe: Sequence[str],
    history: int = 1,
    hidden: Sequence[int] = (16, 16),
    **others: Any,
) -> Policy:
    """Return a policy with random numbers."""
    random = np.random.default_rng(seed)
    widths = [history * len(observe), *hidden, 1]
    layers = tuple(
        (random.normal(0, rows**-0.5, (rows, columns)), random.normal(0, 0.1, columns))
        for rows, columns in itertools.pairwise(widths)
    )
    return Policy(layers, tuple(observe), history, **others)


def still(observe: Sequence[str]) -> Policy:
    """Return a policy that never changes its window."""
    return Policy(((np.zeros((len(observe), 1)), np.zeros(1)),), tuple(observe))
