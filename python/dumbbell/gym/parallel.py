"""PettingZoo's parallel API: several learners on one path, next to any other flows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from gymnasium.spaces import Space
from gymnasium.utils import seeding
from numpy.typing import NDArray

from dumbbell.base import extras
from dumbbell.base.arguments import wrong
from dumbbell.base.errors import BroughtDown, InputError
from dumbbell.gym.actions import Actions
from dumbbell.gym.episodes import ALL_IS_SENT, OVER, TIME_IS_OVER, Episodes, checked
from dumbbell.gym.measured import Measured
from dumbbell.gym.rewards import Reward
from dumbbell.gym.settings import Settings
from dumbbell.gym.sources import Paths, Source

if TYPE_CHECKING:
    from pettingzoo import ParallelEnv
else:
    try:
        from pettingzoo import ParallelEnv
    except ModuleNotFoundError:
        raise InputError(
            "needs the package pettingzoo", key="dumbbell.gym", valid=extras.install("gym")
        ) from None

_Numbers = NDArray[np.float32]


class SharedPathEnv(ParallelEnv[str, _Numbers, _Numbers]):  # type: ignore[misc]
    """Several learners each set the window or the rate of one TCP flow of the same path.

    Agents have the labels of their flows. Other flows have the algorithms that the scenario names.
    All learners take their steps at the same moment.

    Parameters
    ----------
    paths
        As of `PathEnv`.
    learners
        Number of the first TCP flows that learners steer, or labels of flows. A path of a set has
        this number of flows of learners.

    Notes
    -----
    The other parameters are those of `PathEnv`. If a step is given in round trips, the round trips
    are those of the first learner whose connection exists.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "dumbbell/SharedPath-v0",
        "render_modes": [],
    }
    render_mode = None

    def __init__(
        self,
        paths: Paths = "train",
        *,
        learners: int | Sequence[str] = 2,
        step: str = "1rtt",
        actions: Actions = "window-factor",
        observe: Iterable[str] | None = None,
        history: int = 10,
        normalise: bool = True,
        reward: str | Reward = "throughput-delay-loss",
    ) -> None:
        settings = Settings.of(
            step=step,
            actions=actions,
            observe=observe,
            history=history,
            normalise=normalise,
            reward=reward,
        )
        source = Source(paths, [learners] if isinstance(learners, str) else learners)
        self._episodes = Episodes(source, settings, 1)
        self._random: np.random.Generator | None = None
        self.possible_agents = source.labels()
        self.agents: list[str] = []
        self.action_spaces = dict.fromkeys(self.possible_agents, settings.dials.space)
        self.observation_spaces = dict.fromkeys(self.possible_agents, settings.observation_space)

    def observation_space(self, agent: str) -> Space[_Numbers]:
        """Return the space of observations, which is equal for all agents."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Space[_Numbers]:
        """Return the space of actions, which is equal for all agents."""
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, _Numbers], dict[str, dict[str, Any]]]:
        """Begin an episode on the next path; the option "path" names its number instead."""
        if seed is not None or self._random is None:
            self._random, _ = seeding.np_random(seed)
        self.agents = []
        # PettingZoo's own test names options that no environment has.
        given = checked(options).items()
        known = {name: value for name, value in given if name == "path"}
        info = self._episodes.begin(0, self._random, known)
        self.agents = list(self.possible_agents)
        return self._observations(), {agent: dict(info) for agent in self.agents}

    def step(
        self, actions: dict[str, Any]
    ) -> tuple[
        dict[str, _Numbers],
        dict[str, float],
        dict[str, bool],
        dict[str, bool],
        dict[str, dict[str, Any]],
    ]:
        """Apply the action of every learner, and run the path until the next step."""
        agents = self.agents
        if not agents:
            raise InputError(OVER, key="step", valid="reset() first")
        if not isinstance(actions, Mapping):
            valid = f"a dictionary: an action for each of {', '.join(agents)}"
            raise wrong("actions", actions, "not actions by agents", valid)
        if set(actions) != set(agents):
            valid = ", ".join(agents)
            raise InputError("not an action each", key="actions", value=list(actions), valid=valid)
        shape = self.action_space(agents[0]).shape
        given = [np.asarray(actions[agent]) for agent in agents]
        for agent, action in zip(agents, given, strict=True):
            if action.shape != shape:
                raise InputError(
                    "not an action", key=f"actions.{agent}.shape", value=list(action.shape),
                    valid=f"an array of shape {shape}",
                )  # fmt: skip
        episodes = self._episodes
        try:
            episodes.step(np.stack(given)[np.newaxis])
        except BroughtDown:
            self.agents = []
            raise
        worth = episodes.rewards()[0]
        progress = episodes.progress[0]
        observations = self._observations()
        if progress:
            self.agents = []
        return (
            observations,
            {agent: float(reward) for agent, reward in zip(agents, worth, strict=True)},
            dict.fromkeys(agents, bool(progress == ALL_IS_SENT)),
            dict.fromkeys(agents, bool(progress == TIME_IS_OVER)),
            {agent: {} for agent in agents},
        )

    def close(self) -> None:
        """End the episode and free its memory; `reset` begins another one."""
        self.agents = []
        self._episodes.clear()

    @property
    def measured(self) -> dict[str, Measured]:
        """The measurements of the last step, by agent."""
        return {
            agent: self._episodes.copied(0, place)
            for place, agent in enumerate(self.possible_agents)
        }

    def _observations(self) -> dict[str, _Numbers]:
        all_seen = self._episodes.observations[0].copy()
        return dict(zip(self.possible_agents, all_seen, strict=True))


def parallel_env(paths: Paths = "train", **settings: Any) -> SharedPathEnv:
    """Return PettingZoo's environment; arguments are those of `SharedPathEnv`."""
    return SharedPathEnv(paths, **settings)
