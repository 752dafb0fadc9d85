"""The arguments that all environments share, checked."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from gymnasium.spaces import Box, Space

from dumbbell.base.arguments import names as names_of
from dumbbell.base.arguments import number, switch
from dumbbell.base.errors import InputError, unknown
from dumbbell.base.units import parse_time
from dumbbell.gym import rewards
from dumbbell.gym.actions import Actions, Dials, dials
from dumbbell.gym.measured import OBSERVED, names
from dumbbell.gym.rewards import Reward

_HISTORY_MAX: Final = 10_000

NORMALISED_MAX: Final = 100.0
"""No number in units of the path is larger (`view.rs`)."""


@dataclass(frozen=True)
class Settings:
    """The terms of all paths of an environment.

    Attributes
    ----------
    step
        Length of a step as the engine reads it.
    dials
        The meaning of an action.
    observe
        Names of the observed fields.
    history
        Number of observed steps.
    normalise
        True if numbers have no units but those of the path.
    reward
        The worth of a step.
    """

    step: dict[str, Any]
    dials: Dials
    observe: tuple[str, ...]
    history: int
    normalise: bool
    reward: Reward

    @classmethod
    def of(
        cls,
        *,
        step: str,
        actions: Actions,
        observe: Iterable[str] | None,
        history: int,
        normalise: bool,
        reward: str | Reward,
    ) -> Settings:
        """Check the arguments of an environment, which `PathEnv` explains."""
        number(history, "history", 1)
        if history > _HISTORY_MAX:
            raise InputError("too long", key="history", value=history, valid=f"1 to {_HISTORY_MAX}")
        switch(normalise, "normalise")
        observed = OBSERVED if observe is None else names_of(observe, "observe", "rtt_ms")
        for name in observed:
            if name not in names():
                raise unknown("field", name, names()).at(key="observe")
        if not observed:
            raise InputError("nothing", key="observe", valid=", ".join(names()))
        return cls(
            step=_step(step),
            dials=dials(actions, normalise),
            observe=tuple(observed),
            history=history,
            normalise=normalise,
            reward=rewards.reward(reward),
        )

    @property
    def observation_space(self) -> Space[Any]:
        """Arrays of shape (history, fields), of which the last row is the latest."""
        high = NORMALISED_MAX if self.normalise else np.inf
        return Box(0.0, high, (self.history, len(self.observe)), np.float32)

    def terms(self, learners: Sequence[int]) -> str:
        """Return all of it as JSON for the engine; `learners` are numbers of flows."""
        return json.dumps(
            {
                "learners": list(learners),
                "step": self.step,
                "dials": self.dials.table(),
                "observes": list(self.observe),
                "history": self.history,
                "scaled": self.normalise,
            }
        )


def _step(text: object) -> dict[str, Any]:
    """Return the length of a step: a time, or a number of round trips."""
    valid = 'a time such as "10ms", or round trips such as "1rtt"'
    if not isinstance(text, str):
        raise InputError("not the length of a step", key="step", value=str(text), valid=valid)
    if text.endswith("rtt"):
        try:
            count = float(text.removesuffix("rtt") or "1")
        except ValueError:
            count = 0.0
        if not 0 < count <= 1000:
            raise InputError("not the length of a step", key="step", value=text, valid=valid)
        return {"round_trips": count}
    try:
        interval_ns = parse_time(text)
    except InputError as error:
        raise error.at(key="step") from None
    if interval_ns <= 0:
        raise InputError("no time", key="step", value=text, valid=valid)
    return {"interval_ns": interval_ns}
