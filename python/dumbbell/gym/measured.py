"""The measurements of each step, by name."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dumbbell import _core


class Field(NamedTuple):
    """One number of a step: its name, its unit (empty for a share) and its meaning."""

    name: str
    unit: str
    meaning: str


FIELDS: Final = tuple(Field(*field) for field in json.loads(_core.Environments.fields()))
"""The measurements of each step, in this order."""

_PLACES: Final = {field.name: place for place, field in enumerate(FIELDS)}

OBSERVED: Final = (
    "send_mbit_per_s",
    "delivery_mbit_per_s",
    "loss_share",
    "mark_share",
    "rtt_min_ms",
    "rtt_mean_ms",
    "rtt_ms",
    "in_flight_segs",
    "cwnd_segs",
    "pacing_mbit_per_s",
)
"""The default of `observe`."""


class Measured:
    """The numbers of the last step of one learner, or of many: attributes are named as `FIELDS`.

    Each is a number, or an array with an entry for each path of a vector environment. A reward that
    only adds, multiplies and calls functions of NumPy serves both.

    Parameters
    ----------
    numbers
        Numbers in the order of `FIELDS`, along the last axis.
    baseline
        Returns `baseline_mbit_per_s`.
    """

    def __init__(self, numbers: NDArray[np.float64], baseline: Callable[[], Any]) -> None:
        self._numbers = numbers
        self._baseline = baseline

    @property
    def baseline_mbit_per_s(self) -> Any:
        """Mean goodput of all other flows if learners' flows have the algorithms named for them.

        One number, or one for each path: the engine runs each path once for it.
        """
        return self._baseline()

    def __getattr__(self, name: str) -> Any:
        place = _PLACES.get(name)
        if place is None:
            raise AttributeError(f"{name!r} is not measured, but {', '.join(_PLACES)}")
        # An index with an ellipsis would make an array of a single number.
        return self._numbers[place] if self._numbers.ndim == 1 else self._numbers[..., place]

    def __dir__(self) -> list[str]:
        return [*_PLACES, "baseline_mbit_per_s", "to_dict"]

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers by their names."""
        return {name: getattr(self, name) for name in _PLACES}


@functools.cache
def names() -> tuple[str, ...]:
    """Return the names of the measurements."""
    return tuple(_PLACES)
