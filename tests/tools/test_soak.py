"""Scenarios, checks and records of `make soak`."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

import drawn_scenarios
import drawn_traffic
import soak
from dumbbell import _core
from dumbbell.algorithms import catalogue
from dumbbell.base.errors import InputError
from dumbbell.scenario.model import Scenario
from schema_keys import Keys

SCHEMA = Path(__file__).parents[2] / "docs" / "scenario.schema.json"

SEED = 1
BATCH = 10
"""Scenarios of a seed: from the eleventh on, Hypothesis mostly varies those that it has drawn."""
BATCHES_MAX = 800


class Enough(Exception):  # noqa: N818 - it ends a batch, and is no error
    """Nothing more needs to be drawn."""


def drawn_until(strategy: st.SearchStrategy[Any], is_enough: Callable[[Any], bool]) -> None:
    """Draw as a soak does until there is enough."""

    def collect(value: Any) -> None:
        if is_enough(value):
            raise Enough

    with contextlib.suppress(Enough):
        for number in range(SEED, SEED + BATCHES_MAX):
            batch = seed(number)(given(strategy)(collect))
            settings(
                database=None,
                derandomize=False,
                max_examples=BATCH,
                phases=[Phase.generate],
                print_blob=False,
                report_multiple_bugs=False,
                suppress_health_check=list(HealthCheck),
            )(batch)()


def test_every_key_of_a_scenario_is_drawn() -> None:
    """Every word as well, and all of them in scenarios that are valid."""
    keys = Keys(json.loads(SCHEMA.read_text()))
    wanted = keys.all()
    met: set[str] = set()

    def is_enough(data: dict[str, Any]) -> bool:
        has = keys.met(data)
        if not has <= met and is_valid(data):
            met.update(has)
        return met >= wanted

    drawn_until(drawn_scenarios.files(), is_enough)
    assert wanted - met == set(), "let tests/drawn_scenarios.py draw them"
    assert met - wanted == set()


@pytest.mark.parametrize(
    ("strategy", "names", "wanted"),
    [
        (drawn_traffic.switches, set, set(catalogue.stacks().switches)),
        (
            drawn_traffic.algorithms(),
            lambda table: {table["algorithm"].partition("@")[0]},
            set(catalogue.algorithms()),
        ),
    ],
    ids=["switches", "algorithms"],
)
def test_every_one_is_drawn(
    strategy: st.SearchStrategy[Any], names: Callable[[Any], set[str]], wanted: set[str]
) -> None:
    met: set[str] = set()

    def is_enough(value: Any) -> bool:
        met.update(names(value))
        return met >= wanted

    drawn_until(strategy, is_enough)
    assert met == wanted


def is_valid(data: dict[str, Any]) -> bool:
    try:
        Scenario.parse(data)
    except InputError:
        return False
    return True


def test_a_short_soak_finds_nothing(tmp_path: Path) -> None:
    soaking = soak.Soak(tmp_path)
    soaking.batch(SEED)
    assert soaking.failures == []
    assert soaking.runs > 30
    assert soaking.packets > 10_000
    assert not list(tmp_path.iterdir())


def losing_count(output: _core.RunOutput) -> Any:
    """Return a run's output in which a packet of the first flow has vanished."""
    summary = json.loads(output.summary)
    if summary["flows"][0]["received_packets"] > 20:
        summary["flows"][0]["received_packets"] -= 1

    @dataclasses.dataclass
    class Other:
        summary: str
        tables = output.tables
        captures = output.captures

    return Other(json.dumps(summary))


def test_what_fails_is_a_small_scenario_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = soak.simulated
    monkeypatch.setattr(soak, "simulated", lambda scenario: losing_count(right(scenario)))
    soaking = soak.Soak(tmp_path)
    soaking.batch(SEED)
    file = tmp_path / f"{SEED}.toml"
    assert str(file) in soaking.failures[0]
    assert "AssertionError" in soaking.failures[0]
    assert "# dumbbell simulate" in file.read_text()
    small = Scenario.load(file)
    assert len(small.flow) == 1
    assert small.network.topology == "dumbbell"


def test_runs_that_differ_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right, digests = soak.digest, iter(range(10**6))
    monkeypatch.setattr(soak, "digest", lambda output: f"{right(output)}{next(digests)}")
    soaking = soak.Soak(tmp_path)
    with pytest.raises(soak.SoakError, match="other bytes"):
        soaking.check({"duration": "1s", "network": {"rate": "1mbit", "rtt": "9ms", "queue": "9p"},
                     "flow": [{"algorithm": "reno"}]})  # fmt: skip


def test_memory_that_grows_is_found() -> None:
    soaking = soak.Soak()
    soaking.memory_bytes = [200 + 10 * number for number in range(soak.BATCHES_LEAST)]
    assert (soaking.growth() or 0) > soak.GROWTH_MAX
    soaking.memory_bytes = [200 + number % 3 for number in range(soak.BATCHES_LEAST)]
    assert (soaking.growth() or 9) < 1.01
    soaking.memory_bytes = soaking.memory_bytes[1:]
    assert soaking.growth() is None
