"""The policy that ships: its C file and its page are those of `make learner`."""

from pathlib import Path

import numpy as np
import pytest
from learner import page, training
from learner.evaluation import Between

from dumbbell.gym import STANDARD
from dumbbell.learning import FixedPolicy, Policy, Terms, worths
from dumbbell.learning.export import text
from dumbbell.scenario.path_sets import PathSet

ROOT = Path(__file__).parents[2]
SHIPPED = ROOT / "examples" / "learnt"


def test_the_c_file_is_that_of_the_policy() -> None:
    fixed = FixedPolicy.of(Policy.load(SHIPPED / "policy.json"))
    assert (SHIPPED / "learnt.c").read_text() == text(fixed, "learnt")


def test_it_is_worth_more_than_cubic_on_a_link_alone() -> None:
    """On paths of the training set, which no published number is from."""
    paths = PathSet(STANDARD, "train", 12)
    mine, cubic = (worths(name, paths) for name in (str(SHIPPED / "learnt.c"), "cubic"))
    pairs = zip(mine, cubic, strict=True)
    apart = [a.share - b.share for a, b in pairs if a.others_mbit_per_s is None]
    assert len(apart) >= 4
    assert np.mean(apart) > 0.05


def test_the_curve_is_of_the_terms_that_are_the_default() -> None:
    last = page.read_curve(SHIPPED / "curve.csv")[-1]
    assert int(last["round"]) == Terms().rounds
    assert int(last["steps"]) == Terms().rounds * Terms().places * Terms().steps
    assert float(last["processor_s"]) < 1800


def test_training_writes_all_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "EVERY", 1)
    monkeypatch.setattr(
        training, "worths", lambda file, _: worths(file, PathSet(STANDARD, "train", 1))
    )
    policy = training.write(tmp_path, Terms(rounds=2, places=2, steps=8))
    rows = page.read_curve(tmp_path / "curve.csv")
    assert [row["steps"] for row in rows] == ["16", "32"]
    assert all(-5 < float(row["validation"]) < 1 for row in rows)
    read = Policy.load(tmp_path / "policy.json")
    assert (read.layers[0][0] == policy.layers[0][0]).all()
    assert (tmp_path / "learnt.c").read_text() == text(FixedPolicy.of(read), "learnt")


def test_an_interval_is_that_of_the_mean() -> None:
    """Of normal numbers: 1.96 deviations over the root of their number, to each side."""
    numbers = np.random.default_rng(1).normal(3, 1, 400)
    between = Between.of(numbers)
    assert between.value == pytest.approx(numbers.mean())
    half = 1.96 * numbers.std() / 20
    assert (between.high - between.low) / 2 == pytest.approx(half, rel=0.05)
    assert page.shown(Between(0.5, 0.25, 0.75), sign=True) == "+0.500 (+0.250 to +0.750)"
