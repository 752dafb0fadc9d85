"""Gymnasium's environment: one learner on one path."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import gymnasium
import numpy as np
from numpy.typing import NDArray

from dumbbell.base.errors import BroughtDown, InputError
from dumbbell.contract.reading import read_summary
from dumbbell.contract.summary import Summary
from dumbbell.gym.actions import Actions
from dumbbell.gym.episodes import ALL_IS_SENT, NO_ARRAY, OVER, TIME_IS_OVER, Episodes
from dumbbell.gym.measured import Measured
from dumbbell.gym.rewards import Reward
from dumbbell.gym.settings import Settings
from dumbbell.gym.sources import Paths, Source, label_or_first


class PathEnv(gymnasium.Env[NDArray[np.float32], NDArray[np.float32]]):
    """A learner sets the window or the rate of one TCP flow; `dumbbell/Path-v0`.

    An episode ends at the end of its scenario (truncated), or when the flow has sent all its data
    (terminated). The same seed gives the same episodes.

    Parameters
    ----------
    paths
        A set of paths by its name ("train", "validation" or "test") or as a `PathSet`; or a
        scenario, the content of its file, its file or its name; or several of these.
    step
        Length of a step: a time such as "10ms", or smoothed round trips such as "1rtt".
    actions
        The settings of an action, of `ACTIONS`: a name, several, or bounds by their names.
    observe
        Names of the fields to observe, of `FIELDS`; by default ten of them.
    history
        Number of observed steps: observations have the shape (history, fields), the latest last.
    normalise
        True: actions are from -1 to 1, on a logarithmic scale between their bounds. Observed rates
        are in units of the best rate of delivery so far, times in units of the smallest RTT, and
        amounts in products of both. False: all have the units of their names.
    reward
        Name of a reward, of `REWARDS`, or a function of the measurements (`Measured`).
    learner
        Label of the flow that is steered; by default the first TCP flow.
    render_mode
        None: there is nothing to see.

    Raises
    ------
    InputError
        For an argument or an action that is not valid, and for steps after the end.
    BroughtDown
        If a hook of a user-defined algorithm crashes or never returns. The episode is then over.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}  # type: ignore[misc]

    def __init__(
        self,
        paths: Paths = "train",
        *,
        step: str = "1rtt",
        actions: Actions = "window-factor",
        observe: Iterable[str] | None = None,
        history: int = 10,
        normalise: bool = True,
        reward: str | Reward = "throughput-delay-loss",
        learner: str | None = None,
        render_mode: None = None,
    ) -> None:
        if render_mode is not None:
            raise InputError("nothing is drawn", key="render_mode", value=render_mode, valid="None")
        settings = Settings.of(
            step=step,
            actions=actions,
            observe=observe,
            history=history,
            normalise=normalise,
            reward=reward,
        )
        source = Source(paths, label_or_first(learner))
        self._episodes = Episodes(source, settings, 1)
        self._goes_on = False
        self.action_space = settings.dials.space
        self.observation_space = settings.observation_space

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begin an episode on the next path; the option "path" names its number instead.

        Returns the first observation, and the name of the path as `info["path"]`.
        """
        super().reset(seed=seed)
        self._goes_on = False
        info = self._episodes.begin(0, self.np_random, options)
        self._goes_on = True
        return self._episodes.observations[0, 0].copy(), info

    def step(self, action: Any) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Apply the action and run the path until the next step."""
        if not self._goes_on:
            raise InputError(OVER, key="step", valid="reset() first")
        episodes = self._episodes
        try:
            given = np.asarray(action)
        except ValueError:  # lists of different lengths
            given = NO_ARRAY
        if given.shape != self.action_space.shape:
            raise InputError(
                "not an action", key="action.shape", value=list(given.shape),
                valid=f"an array of shape {self.action_space.shape}",
            )  # fmt: skip
        try:
            episodes.step(given[np.newaxis, np.newaxis])
        except BroughtDown:
            self._goes_on = False
            raise
        progress = episodes.progress[0]
        self._goes_on = progress == 0
        observation = episodes.observations[0, 0].copy()
        ends = bool(progress == ALL_IS_SENT), bool(progress == TIME_IS_OVER)
        return observation, episodes.reward(), *ends, {}

    def close(self) -> None:
        """End the episode and free its memory; `reset` begins another one."""
        self._goes_on = False
        self._episodes.clear()

    @property
    def measured(self) -> Measured:
        """The measurements of the last step, in the units of `FIELDS`."""
        return self._episodes.copied(0, 0)

    def summary(self) -> Summary:
        """Return the summary of the episode that has just been truncated, as of `simulate`."""
        text = self._episodes.summary(0)
        if text is None:
            raise InputError(
                "there is no episode whose time is over", key="summary", valid="once after it"
            )
        return read_summary(text)
