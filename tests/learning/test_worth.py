"""An algorithm gets the reward of a learner on the same path."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dumbbell import InputError
from dumbbell.gym import STANDARD, Distribution, PathEnv, PathSet
from dumbbell.learning import export, worths
from learners import still

LONG = Distribution("worth", duration="20s", queue_bdp=(3, 5), rate_mbit=(2, 8), lossy=0)
PATHS = PathSet(
    replace(LONG, disciplines={"fifo": 1}, rates={"constant": 1}, others={"none": 1}), "train", 4
)


def test_it_is_the_reward_of_the_environment(tmp_path: Path) -> None:
    """A window that stays, as a learner and as a C file; steps are of 100 ms in both."""
    policy = still(["rtt_ms"])
    export(policy, tmp_path / "hold.c")
    values = worths(str(tmp_path / "hold.c"), PATHS, reward="power")
    env = PathEnv(PATHS, reward="power", **{**policy.settings, "step": "100ms"})
    for number, worth in enumerate(values):
        env.reset(seed=1, options={"path": number})
        rewards, over = [], False
        while not over:
            _, reward, _, over, _ = env.step(np.zeros(1, np.float32))
            rewards.append(reward)
        assert worth.path == f"worth-1/train/{number}"
        assert worth.reward == pytest.approx(np.mean(rewards), rel=0.03)


def test_a_full_queue_costs_power_and_others_count() -> None:
    reno, vegas = (np.array([w.reward for w in worths(name, PATHS, reward="power")])
                   for name in ("reno", "vegas"))  # fmt: skip
    assert (vegas > reno).all()
    shared = PathSet(replace(PATHS.distribution, name="shared", others={"reno": 1}), "train", 2)
    for worth in worths("cubic", shared):
        assert worth.others_mbit_per_s is not None
        assert worth.share < 0.8
    assert all(worth.others_mbit_per_s is None for worth in worths("reno", PATHS))


def test_a_reward_may_be_a_function_and_compare_with_the_baseline() -> None:
    paths = STANDARD.paths("validation")
    few = replace(paths, size=1)
    rates = worths("cubic", few, reward=lambda step: step.delivery_mbit_per_s)
    assert rates[0].reward == pytest.approx(rates[0].goodput_mbit_per_s, rel=0.02)
    (harm,) = worths("cubic", few, reward="harm")
    assert harm.reward < rates[0].reward


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"algorithm": "cubicc"}, "cubic"),
        ({"algorithm": 3}, "algorithm"),
        ({"algorithm": "./nowhere.c"}, "nowhere"),
        ({"paths": "trian"}, "train"),
        ({"paths": 5}, "PathSet"),
        ({"reward": "powr"}, "power"),
        ({"reward": lambda _: 1.0}, "entry by entry"),
    ],
)
def test_it_refuses(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        worths(**{"algorithm": "reno", "paths": PATHS, **arguments})
