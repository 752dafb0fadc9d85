"""Training: it learns, the same from the same seed, and refuses what it cannot learn from."""

import importlib.metadata
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dumbbell import InputError
from dumbbell.gym import STANDARD
from dumbbell.learning import Point, Policy, Terms, train

PATH: dict[str, Any] = {
    "duration": "4s",
    "network": {"rate": "4mbit", "rtt": "30ms", "queue": "4bdp"},
    "flow": [{"algorithm": "cubic"}],
}
TINY = Terms(rounds=2, places=4, steps=16)


def numbers(policy: Policy) -> Any:
    return np.concatenate([part.ravel() for layer in policy.layers for part in layer])


def test_it_learns_to_use_a_link() -> None:
    """At first the window falls, and with it the reward; a full link is worth about 0.9."""
    points: list[Point] = []
    terms = Terms(rounds=30, places=8, steps=64, rate=3e-3)
    train(PATH, terms=terms, on_round=lambda point, _: points.append(point))
    rewards = [point.reward for point in points]
    assert [point.steps for point in points][:2] == [512, 1024]
    assert np.mean(rewards[:5]) < 0.5
    assert np.mean(rewards[-5:]) > 1.5 * np.mean(rewards[:5])


def test_the_same_seed_learns_the_same_on_any_number_of_cores() -> None:
    paths = STANDARD.paths("train")
    first = numbers(train(paths, seed=3, terms=TINY))
    assert (numbers(train(paths, seed=3, terms=replace(TINY, cores=2))) == first).all()
    assert (numbers(train(paths, seed=4, terms=TINY)) != first).any()


def test_it_refuses_wrong_terms() -> None:
    with pytest.raises(InputError, match=r"terms\.rounds"):
        Terms(rounds=0)
    with pytest.raises(InputError, match=r"terms\.discount"):
        Terms(discount=1.5)
    with pytest.raises(InputError, match="seed"):
        train(PATH, seed=-1, terms=TINY)
    with pytest.raises(InputError, match="reward"):
        train(PATH, reward="powr", terms=TINY)


def test_without_autograd_it_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = ["gymnasium>=1.2,<2; extra == 'gym'", "autograd>=1.8,<2 ; extra == 'learner'"]
    monkeypatch.setattr(importlib.metadata, "requires", lambda _: wanted)
    monkeypatch.setitem(sys.modules, "autograd", None)
    monkeypatch.delitem(sys.modules, "dumbbell.learning.ppo")
    from dumbbell import learning  # noqa: PLC0415

    with pytest.raises(InputError, match=r"pip install 'autograd>=1\.8,<2'"):
        learning.__getattr__("train")
