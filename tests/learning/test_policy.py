"""Policies: what they decide, their files, and what they refuse."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dumbbell import InputError
from dumbbell.gym import PathEnv
from dumbbell.learning import FixedPolicy, Policy
from learners import drawn

FIELDS = ("delivery_mbit_per_s", "loss_share", "rtt_min_ms", "rtt_mean_ms", "cwnd_segs")


def linear(weights: list[float], bias: float, **others: Any) -> Policy:
    layer = (np.array(weights)[:, np.newaxis], np.array([bias]))
    return Policy((layer,), ("rtt_mean_ms", "cwnd_segs"), **others)


def test_it_decides_by_its_layers_and_within_its_bounds() -> None:
    policy = linear([-0.5, 0.25], 0.5)
    observations = np.array([[[1.0, 2.0]], [[3.0, 0.0]], [[0.0, 4.0]]])
    assert policy.act(observations)[:, 0].tolist() == [0.5, -1, 1]


def test_hidden_layers_end_at_zero_and_inputs_at_the_ceiling() -> None:
    hidden = (np.array([[1.0, -1.0]]), np.array([-2.0, 0.0]))
    policy = Policy((hidden, (np.array([[0.1], [0.5]]), np.zeros(1))), ("rtt_ms",), ceiling=6)
    acted = policy.act(np.array([[[1.0]], [[4.0]], [[100.0]]]))[:, 0]
    assert acted == pytest.approx([0, 0.2, 0.4])


def test_a_file_holds_all_of_it(tmp_path: Path) -> None:
    policy = drawn(1, FIELDS, history=2, hidden=(4,), factor=(0.7, 1.5), round_trips=0.5)
    policy.save(tmp_path / "policy.json")
    read = Policy.load(tmp_path / "policy.json")
    observations = np.random.default_rng(1).uniform(0, 3, (50, 2, 5))
    assert np.abs(read.act(observations) - policy.act(observations)).max() < 1e-4
    assert read.settings == policy.settings
    read.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_text() == (tmp_path / "policy.json").read_text()


def test_its_settings_make_an_environment_on_whose_observations_it_acts() -> None:
    policy = drawn(2, FIELDS, history=2)
    env = PathEnv("validation", **policy.settings)
    observation, _ = env.reset(seed=1)
    for _ in range(20):
        observation, *_ = env.step(policy.act(observation))
    assert policy.act(observation).shape == (1,)


def test_integers_decide_within_the_error_of_rounding() -> None:
    """Weights are off by 2^-17 at most, inputs by 2^-16: ten inputs below 8, two layers of 16."""
    random = np.random.default_rng(3)
    observations = random.uniform(0, 8, (2000, 2, 5))
    for seed in range(5):
        policy = drawn(seed, FIELDS, history=2)
        off = np.abs(FixedPolicy.of(policy).act(observations) - policy.act(observations))
        assert off.max() < 0.02
        assert np.median(off) < 0.002


def test_factors_are_those_of_the_environment() -> None:
    fixed = FixedPolicy.of(linear([0, 0], 0, factor=(0.5, 2)))
    actions = np.linspace(-1, 1, 1001)
    factors = fixed.factors_of(np.rint(actions * 65536).astype(np.int64)) / 65536
    assert factors == pytest.approx(2**actions, rel=1e-4)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"layers": ()}, "layers"),
        ({"layers": [(np.zeros((3, 1)), np.zeros(1))]}, "layers.0"),
        ({"layers": [(np.zeros((2, 2)), np.zeros(2))]}, "layers.0"),
        ({"layers": [(np.zeros((2, 33)), np.zeros(33)), (np.zeros((33, 1)), np.zeros(1))]}, "wide"),
        ({"layers": [(np.full((2, 1), np.nan), np.zeros(1))]}, "not finite"),
        ({"layers": [3]}, "layers.0"),
        ({"observe": ("rtt_mean",)}, "rtt_mean_ms"),
        ({"observe": "rtt_ms"}, "observe"),
        ({"observe": ("others_mbit_per_s", "rtt_ms")}, "of a C file"),
        ({"history": 0}, "history"),
        ({"history": 6}, "at most 10"),
        ({"factor": (2, 0.5)}, "factor"),
        ({"factor": 2}, "factor"),
        ({"round_trips": 0}, "round_trips"),
        ({"ceiling": float("nan")}, "ceiling"),
    ],
)
def test_it_refuses(given: dict[str, Any], words: str) -> None:
    arguments: dict[str, Any] = {
        "layers": [(np.zeros((2, 1)), np.zeros(1))],
        "observe": ("rtt_mean_ms", "cwnd_segs"),
    }
    with pytest.raises(InputError, match=words):
        Policy(**{**arguments, **given})


def test_it_refuses_observations_of_another_environment() -> None:
    with pytest.raises(InputError, match="the last 1 steps of rtt_mean_ms, cwnd_segs"):
        linear([0, 0], 0).act(np.zeros((10, 10)))


def test_it_refuses_a_file_that_is_no_policy(tmp_path: Path) -> None:
    file = tmp_path / "policy.json"
    for text in ("{", "[]", "{}", '{"format": "dumbbell policy 1"}'):
        file.write_text(text)
        with pytest.raises(InputError, match=r"policy\.json"):
            Policy.load(file)
    with pytest.raises(InputError, match=r"nowhere\.json"):
        Policy.load(tmp_path / "nowhere.json")


def test_integers_refuse_numbers_that_do_not_fit() -> None:
    with pytest.raises(InputError, match=r"layers.0.weights.*2000"):
        FixedPolicy.of(linear([2000, 0], 0))
    wide = (np.full((2, 32), 1000.0), np.zeros(32))
    layers = (wide, (np.full((32, 4), 1000.0), np.zeros(4)), (np.zeros((4, 1)), np.zeros(1)))
    with pytest.raises(InputError, match=r"layers\.1"):
        FixedPolicy.of(Policy(layers, ("rtt_mean_ms", "cwnd_segs")))
