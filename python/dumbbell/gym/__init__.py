"""Environments in which a learner is the congestion control: Gymnasium's and PettingZoo's APIs.

>>> import gymnasium, dumbbell.gym
>>> env = gymnasium.make("dumbbell/Path-v0", paths="train", reward="power")
>>> observation, info = env.reset(seed=1)
>>> observation, reward, terminated, truncated, info = env.step(env.action_space.sample())

The engine of `dumbbell simulate` runs each path. It stops at every step of the learner and goes on
with the window or the rate that the action sets. Needs the extra `gym`.
"""

from __future__ import annotations

from dumbbell.base import extras
from dumbbell.base.errors import InputError

try:
    import gymnasium
except ModuleNotFoundError:
    raise InputError(
        "needs the package gymnasium", key="dumbbell.gym", valid=extras.install("gym")
    ) from None

from dumbbell.gym.actions import ACTIONS
from dumbbell.gym.measured import FIELDS, Field, Measured
from dumbbell.gym.parallel import SharedPathEnv, parallel_env
from dumbbell.gym.rewards import REWARDS
from dumbbell.gym.single import PathEnv
from dumbbell.gym.vector import PathVectorEnv
from dumbbell.scenario.path_sets import STANDARD, Distribution, PathSet

__all__ = [
    "ACTIONS",
    "FIELDS",
    "REWARDS",
    "STANDARD",
    "Distribution",
    "Field",
    "Measured",
    "PathEnv",
    "PathSet",
    "PathVectorEnv",
    "SharedPathEnv",
    "parallel_env",
]

gymnasium.register(
    "dumbbell/Path-v0",
    entry_point="dumbbell.gym.single:PathEnv",
    vector_entry_point="dumbbell.gym.vector:PathVectorEnv",
)
