"""Gymnasium's vector environment: many paths in one process, over several cores if wanted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from dumbbell.base.arguments import number
from dumbbell.base.errors import BroughtDown, InputError
from dumbbell.gym.actions import Actions
from dumbbell.gym.episodes import ALL_IS_SENT, NO_ARRAY, TIME_IS_OVER, Episodes
from dumbbell.gym.measured import Measured
from dumbbell.gym.rewards import Reward
from dumbbell.gym.settings import Settings
from dumbbell.gym.sources import Paths, Source, label_or_first
from dumbbell.scenario.resolve import ResolvedScenario

_Numbers = NDArray[np.float32]


class PathVectorEnv(VectorEnv[_Numbers, _Numbers, NDArray[Any]]):
    """Many environments of `dumbbell/Path-v0`, which step together.

    Environment i does the same as a single one with the seed `seed + i`. After the end of its
    episode, the next step resets it and ignores the action (`AutoresetMode.NEXT_STEP`).

    Parameters
    ----------
    num_envs
        Number of environments.
    cores
        Number of threads for their steps; results do not depend on it.

    Notes
    -----
    The other parameters are those of `PathEnv`. A reward gets arrays of shape (num_envs, 1).
    """

    metadata: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "render_modes": [],
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        num_envs: int = 1,
        paths: Paths = "train",
        *,
        cores: int = 1,
        step: str = "1rtt",
        actions: Actions = "window-factor",
        observe: Iterable[str] | None = None,
        history: int = 10,
        normalise: bool = True,
        reward: str | Reward = "throughput-delay-loss",
        learner: str | None = None,
    ) -> None:
        settings = Settings.of(
            step=step,
            actions=actions,
            observe=observe,
            history=history,
            normalise=normalise,
            reward=reward,
        )
        source = Source(paths, label_or_first(learner))
        self.num_envs = number(num_envs, "num_envs", 1)
        self._episodes = Episodes(source, settings, num_envs, number(cores, "cores", 1))
        self._random: list[np.random.Generator] = []
        self.single_action_space = settings.dials.space
        self.single_observation_space = settings.observation_space
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[_Numbers, dict[str, Any]]:
        """Begin an episode in every environment; the option "path" names the path of all."""
        if isinstance(seed, list):
            if len(seed) != self.num_envs:
                valid = f"{self.num_envs} seeds"
                raise InputError("not one for each", key="seed", value=seed, valid=valid)
            seeds = seed
        elif seed is not None:
            super().reset(seed=seed)
            seeds = [seed + place for place in range(self.num_envs)]
        else:
            seeds = [None] * self.num_envs
        if not self._random:
            self._random = [seeding.np_random(env_seed)[0] for env_seed in seeds]
        for place, env_seed in enumerate(seeds):
            if env_seed is not None:
                self._random[place], _ = seeding.np_random(env_seed)
        names = [self._begin(place, options) for place in range(self.num_envs)]
        self._episodes.skip[:] = 0
        info = {"path": np.array(names, object), "_path": np.ones(self.num_envs, bool)}
        return self._episodes.observations[:, 0].copy(), info

    def step(
        self, actions: Any
    ) -> tuple[_Numbers, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Let every environment take a step; if its episode has ended, begin a new one instead."""
        if not self._random:
            raise InputError("there is no episode", key="step", valid="reset() first")
        episodes = self._episodes
        try:
            given = np.asarray(actions)
        except ValueError:  # lists of different lengths
            given = NO_ARRAY
        if given.shape != self.action_space.shape:
            raise InputError(
                "not the actions of all", key="action.shape", value=list(given.shape),
                valid=f"an array of shape {self.action_space.shape}",
            )  # fmt: skip
        np.not_equal(episodes.progress, 0, out=episodes.skip, casting="unsafe")
        info: dict[str, Any] = {}
        over = np.flatnonzero(episodes.skip)
        try:
            episodes.step(given[:, np.newaxis])
        except BroughtDown:
            self._random = []
            raise
        rewards = episodes.rewards()[:, 0].astype(np.float64)
        if len(over):
            info = {"path": np.full(self.num_envs, None, object), "_path": episodes.skip != 0}
            for place in over:
                info["path"][place] = self._begin(int(place), None)
            rewards[over] = 0.0
        ends = episodes.progress == ALL_IS_SENT, episodes.progress == TIME_IS_OVER
        return episodes.observations[:, 0].copy(), rewards, *ends, info

    def close_extras(self, **_: Any) -> None:
        """End all episodes and free their memory; `reset` begins others."""
        self._random = []
        if "_episodes" in vars(self):  # not if an argument was wrong
            self._episodes.clear()

    @property
    def measured(self) -> Measured:
        """The measurements of the last step, an array for each of `FIELDS`."""
        return self._episodes.copied(slice(None), 0)

    @property
    def scenarios(self) -> list[ResolvedScenario]:
        """The path of each environment, as the engine runs it."""
        if not self._random:
            raise InputError("there is no episode", key="scenarios", valid="reset() first")
        return self._episodes.scenarios

    def _begin(self, place: int, options: dict[str, Any] | None) -> str:
        return str(self._episodes.begin(place, self._random[place], options)["path"])
