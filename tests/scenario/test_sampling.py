"""The time between samples of a file that states none."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

import dumbbell as library
from command_line import Command
from dumbbell.base.units import parse_time
from dumbbell.scenario import sampling
from dumbbell.scenario.model import Scenario
from dumbbell.study.model import Study

FILE = """
duration = "4s"

[network]
rate = "10mbit"
rtt = "10ms"
queue = "1bdp"

[[flow]]
algorithm = "reno"
"""


STUDY = """
[study]
name = "short"
title = "Short"
authors = ["A"]
year = 2026

[[test]]
name = "only"
title = "Only"
axes = { algorithm = ["reno"] }

[test.scenario]
duration = "4s"
network = { rate = "10mbit", rtt = "10ms", queue = "1bdp" }
flow = [{ algorithm = "{algorithm}" }]
"""


def scenario(rtt: str, duration: str, **other: Any) -> Scenario:
    network = {"rate": "10mbit", "rtt": rtt, "queue": "20p"}
    table = {"duration": duration, "network": network, "flow": [{"algorithm": "reno"}]}
    return Scenario.parse({**table, **other})


@pytest.mark.parametrize(
    ("rtt", "duration", "expected"),
    [
        ("200ms", "400s", None),
        ("40ms", "60s", None),
        ("39ms", "60s", "50ms"),
        ("10ms", "60s", "20ms"),
        ("2ms", "60s", "5ms"),
        ("100us", "10s", "1ms"),
        # 20,000 samples come first.
        ("2ms", "110s", "10ms"),
        ("2ms", "3000s", None),
    ],
)
def test_it_follows_the_round_trip_within_a_number_of_samples(
    rtt: str, duration: str, expected: str | None
) -> None:
    interval_ns = sampling.chosen_ns(scenario(rtt, duration))
    assert interval_ns == (None if expected is None else parse_time(expected))
    if interval_ns is not None:
        assert parse_time(duration) // interval_ns <= sampling.LINE_MAX
        assert 10**9 % interval_ns == 0, "windows of whole seconds fit"


def test_the_shortest_round_trip_decides_and_many_flows_share_the_bound() -> None:
    flows = [{"algorithm": "reno"}, {"algorithm": "reno", "rtt": "4ms"}]
    assert sampling.chosen_ns(scenario("100ms", "10s", flow=flows)) == 10 * 10**6
    many = [{"algorithm": "reno", "count": 500}]
    chosen = sampling.chosen_ns(scenario("4ms", "60s", flow=many))
    assert chosen == 50 * 10**6
    assert 60 * 10**9 // chosen * 502 <= sampling.ALL_MAX


@pytest.mark.parametrize("stated", ["100ms", "1s", "none"])
def test_what_the_file_states_stays(stated: str) -> None:
    assert sampling.chosen_ns(scenario("5ms", "10s", record={"interval": stated})) is None
    assert sampling.chosen_ns(scenario("5ms", "10s", record={"events": []})) == 10 * 10**6


def test_commands_and_python_agree_and_say_it(dumbbell: Command, tmp_path: Path) -> None:
    file = tmp_path / "short.toml"
    file.write_text(FILE)
    output = dumbbell("simulate", "short.toml")
    assert "samples each 20ms" in output.out
    for scenario in (file, tomllib.loads(FILE), Scenario.load(file)):
        kept = library.simulate(scenario, results=tmp_path / "results")
        assert kept.scenario.record.interval_ns == 20 * 10**6
    assert "0 run, 1 reused" in dumbbell("simulate", "short.toml").err
    stated = dumbbell("simulate", "short.toml", "--set", "record.interval=100ms", "--json")
    assert stated.json["scenario"]["record"]["interval_ns"] == 100 * 10**6
    assert (
        stated.json["summary"]["flows"]
        == dumbbell("simulate", "short.toml", "--json").json["summary"]["flows"]
    ), "samples change nothing that the flows do"


def test_studies_keep_the_default(tmp_path: Path) -> None:
    """Their runs are stored under the hash of their scenarios, so no choice may reach them."""
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "short.toml").write_text(FILE)
    (run,) = Study.load(tmp_path / "study.toml").runs(runs=1)
    assert run.resolved.scenario.record.interval_ns == 100 * 10**6
    seed = run.resolved.scenario.seed
    assert run.resolved.key == Scenario.load(tmp_path / "short.toml").resolve(seed=seed).key
