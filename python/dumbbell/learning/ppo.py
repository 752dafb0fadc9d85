"""Proximal policy optimisation of a small network (Schulman et al. 2017, arXiv:1707.06347).

Gradients are autograd's. The critic also knows the path (its rate, its RTT, whether others use
it), which no sender does; the policy has only observations. Rewards are divided by the rate of the
bottleneck, so that fast paths count no more than slow ones.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from dumbbell.base import extras
from dumbbell.base.arguments import number
from dumbbell.base.errors import InputError
from dumbbell.gym import PathVectorEnv
from dumbbell.gym.rewards import Reward
from dumbbell.gym.sources import Paths
from dumbbell.learning.networks import Adam, Sizes, gaussian
from dumbbell.learning.paths import Known
from dumbbell.learning.policy import Numbers, Policy, rounded
from dumbbell.learning.terms import Point, Terms

try:
    import autograd
    import autograd.numpy as anp
except ModuleNotFoundError:
    raise InputError(
        "needs the package autograd", key="dumbbell.learning.train", valid=extras.install("learner")
    ) from None

OBSERVE: Final = ("delivery_mbit_per_s", "loss_share", "rtt_min_ms", "rtt_mean_ms", "cwnd_segs")
"""The fields that it observes."""
HISTORY: Final = 2
"""The steps that it observes."""


def train(
    paths: Paths = "train",
    *,
    reward: str | Reward = "power-loss",
    seed: int = 1,
    terms: Terms = Terms(),  # noqa: B008 - it cannot change
    factor: tuple[float, float] = (0.5, 2.0),
    on_round: Callable[[Point, Policy], None] | None = None,
) -> Policy:
    """Return a policy that has learnt on these paths.

    The same seed gives the same policy on the same machine with the same NumPy.

    Parameters
    ----------
    paths
        Paths as of `dumbbell.gym.PathEnv`. Each needs a bottleneck with a rate.
    reward
        The reward, likewise.
    seed
        Origin of the first weights, the paths and the actions that are tried.
    terms
        The numbers of the optimisation.
    factor
        Smallest and largest factor on the window in a step.
    on_round
        Function that is called after each round, with its point of the curve and the policy.
    """
    learner = _Learner(paths, reward, number(seed, "seed", 0), terms, factor)
    for at in range(terms.rounds):
        point = learner.round(at)
        if on_round is not None:
            on_round(point, learner.policy())
    return learner.policy()


@dataclass
class _Steps:
    """The steps of a round: arrays of shape (steps, places), observations with one more axis."""

    inputs: Numbers
    known: Numbers
    actions: Numbers
    log_chances: Numbers
    advantages: Numbers
    returns: Numbers
    counts: Numbers

    def parts(self, random: np.random.Generator, batches: int) -> Iterator[list[Numbers]]:
        """Yield random parts of the steps that count."""
        which = random.permutation(np.flatnonzero(self.counts.ravel()))
        columns = [
            column.reshape(self.counts.size, *column.shape[2:])
            for column in (
                self.inputs, self.known, self.actions, self.log_chances, self.advantages,
                self.returns,
            )
        ]  # fmt: skip
        for part in np.array_split(which, batches):
            yield [column[part] for column in columns]


class _Learner:
    def __init__(
        self,
        paths: Paths,
        reward: str | Reward,
        seed: int,
        terms: Terms,
        factor: tuple[float, float],
    ) -> None:
        self._terms = terms
        self._random = np.random.default_rng(seed)
        fields = OBSERVE * HISTORY
        self._form = Policy(((np.zeros((len(fields), 1)), np.zeros(1)),), OBSERVE, HISTORY, factor)
        self._env = PathVectorEnv(
            terms.places, paths, cores=terms.cores, reward=reward, **self._form.settings
        )
        self._known = Known(self._env)
        self._sizes = Sizes(fields, Known.WIDTH, terms.hidden)
        self._numbers = self._sizes.first(self._random)
        self._adam = Adam(self._numbers.size)
        observations, _ = self._env.reset(seed=seed)
        self._observed = self._form.inputs(observations)
        self._over = np.zeros(terms.places, bool)
        self._gradient = autograd.grad(self._loss)
        self._began_s = time.process_time()

    def policy(self) -> Policy:
        """Return the policy as it is now."""
        return replace(self._form, layers=rounded(self._sizes.policy(self._numbers)))

    def round(self, at: int) -> Point:
        """Collect steps and improve; return what they were worth."""
        terms = self._terms
        steps, worth = self._collect()
        for _ in range(terms.epochs):
            for part in steps.parts(self._random, terms.batches):
                gradient = self._gradient(self._numbers, part)
                self._numbers = self._adam.step(self._numbers, gradient, terms.rate)
        return Point(
            at + 1,
            (at + 1) * terms.steps * terms.places,
            time.process_time() - self._began_s,
            worth,
            float(np.exp(self._sizes.log_deviation(self._numbers))),
        )

    def _collect(self) -> tuple[_Steps, float]:
        terms, shape = self._terms, (self._terms.steps, self._terms.places)
        inputs = np.zeros((*shape, self._observed.shape[1]))
        known = np.zeros((*shape, Known.WIDTH))
        actions, chances, rewards, values, later = (np.zeros(shape) for _ in range(5))
        ends, counts = np.zeros(shape, bool), np.zeros(shape, bool)
        for step in range(terms.steps):
            inputs[step], known[step] = self._observed, self._known.paths()
            mean, log_deviation, values[step] = self._sizes.all(
                np, self._numbers, self._observed, known[step]
            )
            deviation = np.exp(log_deviation)
            actions[step] = mean + deviation * self._random.standard_normal(terms.places)
            chances[step] = gaussian(np, actions[step], mean, log_deviation)
            counts[step] = ~self._over
            tried = np.clip(actions[step], -1, 1)[:, np.newaxis].astype(np.float32)
            seen, reward, _, over, _ = self._env.step(tried)
            self._observed, self._over = self._form.inputs(seen), over
            rewards[step], ends[step] = reward / self._known.rates(), over
            # The time of an episode is over, but its path would go on: what is seen then has worth.
            later[step] = self._sizes.all(np, self._numbers, self._observed, known[step])[2]
        advantages = np.zeros(shape)
        sum_ = np.zeros(terms.places)
        for step in reversed(range(terms.steps)):
            surprise = rewards[step] + terms.discount * later[step] - values[step]
            sum_ = surprise + terms.discount * terms.trace * sum_ * ~ends[step]
            advantages[step] = sum_
        steps = _Steps(inputs, known, actions, chances, advantages, advantages + values, counts)
        return steps, float(rewards[counts].mean())

    def _loss(self, numbers: Any, part: list[Numbers]) -> Any:
        inputs, known, actions, chances, advantages, returns = part
        mean, log_deviation, values = self._sizes.all(anp, numbers, inputs, known)
        ratio = anp.exp(gaussian(anp, actions, mean, log_deviation) - chances)
        scaled = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        clip = self._terms.clip
        gain = anp.minimum(ratio * scaled, anp.clip(ratio, 1 - clip, 1 + clip) * scaled)
        missed = (values - returns) ** 2
        return anp.mean(0.5 * missed - gain) - self._terms.entropy * log_deviation
