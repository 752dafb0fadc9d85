"""Actions: the meaning of their numbers, and the bounds of these."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from gymnasium.spaces import Box, Space

from dumbbell.base.arguments import wrong
from dumbbell.base.errors import InputError, listed, unknown

Actions = str | Iterable[str] | Mapping[str, tuple[float, float]]
"""Names of actions, or bounds by these names."""


@dataclass(frozen=True)
class Action:
    """The meaning of one number of an action.

    Attributes
    ----------
    sets
        "window" or "rate".
    is_factor
        True if it multiplies what is set rather than replacing it.
    low, high
        The bounds of the number: segments, Mbit/s or a factor.
    """

    sets: str
    is_factor: bool
    low: float
    high: float


ACTIONS: Final[Mapping[str, Action]] = {
    "window": Action("window", False, 2, 10_000),
    "rate": Action("rate", False, 0.1, 1_000),
    "window-factor": Action("window", True, 0.5, 2),
    "rate-factor": Action("rate", True, 0.5, 2),
}
"""The names of actions, with their default bounds: the congestion window in segments, the rate of
payload in Mbit/s, or a factor on either."""

_UNITS: Final = {"window": 1.0, "rate": 125_000.0}
"""Units of the engine: segments, and bytes per second."""


@dataclass(frozen=True)
class Dials:
    """The numbers of an action, in their order."""

    names: tuple[str, ...]
    actions: tuple[Action, ...]
    normalise: bool

    @property
    def space(self) -> Space[Any]:
        """The valid actions."""
        bounds = [
            (-1.0, 1.0) if self.normalise else (action.low, action.high) for action in self.actions
        ]
        low, high = np.array(bounds, np.float32).T
        return Box(low, high, dtype=np.float32)

    @property
    def units(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """The numbers of the engine for one unit of an action."""
        return np.array([
            1.0 if action.is_factor or self.normalise else _UNITS[action.sets]
            for action in self.actions
        ])  # fmt: skip

    def table(self) -> list[dict[str, Any]]:
        """Return them as the engine reads them."""
        rows = []
        for action in self.actions:
            unit = 1.0 if action.is_factor else _UNITS[action.sets]
            whole = ACTIONS[action.sets] if action.is_factor else action
            rows.append(
                {
                    "sets": action.sets,
                    "is_factor": action.is_factor,
                    "is_scaled": self.normalise,
                    "low": action.low * unit,
                    "high": action.high * unit,
                    "least": whole.low * _UNITS[action.sets],
                    "most": whole.high * _UNITS[action.sets],
                }
            )
        return rows

    def refused(self, dial: int, value: float, who: str) -> InputError:
        """Return the error for a number that is not valid."""
        name, action = self.names[dial], self.actions[dial]
        low, high = (-1, 1) if self.normalise else (action.low, action.high)
        problem = "not a number" if math.isnan(value) else "out of range"
        key = f"action{who}.{name}"
        return InputError(problem, key=key, value=value, valid=f"{low:g} to {high:g}")


def dials(choice: Actions, normalise: bool) -> Dials:
    """Return the meaning of the numbers of an action; InputError for an impossible one."""
    names = [choice] if isinstance(choice, str) else _listed(choice)
    given = choice if isinstance(choice, Mapping) else {}
    for name in names:
        if name not in ACTIONS:
            raise unknown("action", name, ACTIONS).at(key="actions")
    if not names:
        raise wrong("actions", names, "sets nothing", listed(ACTIONS))
    chosen = tuple(
        _bounded(name, given[name]) if name in given else ACTIONS[name] for name in names
    )
    for target in ("window", "rate"):
        if sum(action.sets == target for action in chosen) > 1:
            raise InputError(f"sets the {target} twice", key="actions", value=names)
    return Dials(tuple(names), chosen, normalise)


def _listed(choice: object) -> list[str]:
    if not isinstance(choice, Iterable):
        raise wrong("actions", choice, "not a name of an action", listed(ACTIONS))
    return [str(name) for name in choice]


def _bounded(name: str, bounds: Any) -> Action:
    whole = ACTIONS[name]
    valid = "(low, high) with 0 < low < high"
    try:
        low, high = (float(bound) for bound in bounds)
    except (TypeError, ValueError):
        raise wrong(f"actions.{name}", bounds, "not bounds", valid) from None
    if not 0 < low < high < math.inf:
        raise InputError("not bounds", key=f"actions.{name}", value=[low, high], valid=valid)
    largest = 2**20 if whole.sets == "window" else 1e6
    if not whole.is_factor and high > largest:
        raise InputError(
            "too high", key=f"actions.{name}", value=high, valid=f"at most {largest:g}"
        )
    return Action(whole.sets, whole.is_factor, low, high)
