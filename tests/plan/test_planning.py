"""Planning: nothing is computed twice, and errors name the place in the study."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from dumbbell.base.errors import InputError
from dumbbell.plan.layers import Layer, where_said
from dumbbell.scenario.model import Reader, Scenario
from dumbbell.scenario.resolve import ResolvedScenario, canonical_json
from dumbbell.scenario.resolve_network import resolve_network
from dumbbell.study.model import Study
from sample_runs import table

HEADER = """
[study]
name = "small"
title = "A small study"
authors = ["A. Nonymous"]
year = 2026

[scenario]
duration = "60s"
network = { rate = "10mbit", queue = "1bdp" }

[[vary]]
where = { rtt = "80ms" }
set = { network = { edge_jitter = "1ms" } }
"""
TESTS = """
[[test]]
name = "first"
title = "Another test"
axes = { rtt = ["42ms"] }
scenario.network.rtt = "{rtt}"
scenario.flow = [{ algorithm = "reno" }]

[[vary]]
where = { test = "one" }
set = { record = { interval = "1s" } }

[[test]]
name = "one"
title = "One flow"
runs = 3
axes = { algorithm = ["reno", "htcp"], rtt = ["42ms", "80ms"] }
scenario.network.rtt = "{rtt}"
scenario.flow = [{ algorithm = "{algorithm}", start = { from = "1s", to = "9s" } }]

[[test.vary]]
where = { algorithm = "htcp" }
set = { flow = [{ stop = "50s" }] }

[test.quick]
runs = 2
set = { flow = [{ parallel = 2 }] }
"""


def write(folder: Path, header: str = HEADER, tests: str = TESTS) -> Path:
    (folder / "study.toml").write_text(header)
    (folder / "tests.toml").write_text(tests)
    return folder


def counted(monkeypatch: pytest.MonkeyPatch) -> Counter[int]:
    """Count how often networks are put together, by their seeds."""
    calls: Counter[int] = Counter()

    def counting(scenario: Scenario, seed: int) -> Any:
        calls[seed] += 1
        return resolve_network(scenario, seed)

    monkeypatch.setattr("dumbbell.scenario.resolve.resolve_network", counting)
    return calls


def test_a_grid_point_is_resolved_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = Study.load(write(tmp_path))
    calls = counted(monkeypatch)
    assert len(study.runs()) == 13
    assert calls.total() == 5


def test_arrivals_are_drawn_once_for_each_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flow = 'scenario.flow = [{ algorithm = "{algorithm}", start = { from = "1s", to = "9s" } }]'
    arrivals = 'scenario.arrivals = [{ algorithm = "{algorithm}", rate = 1, size = "10kb" }]'
    changed = TESTS.replace(flow, arrivals).replace('flow = [{ stop = "50s" }]', "")
    study = Study.load(write(tmp_path, tests=changed))
    calls = counted(monkeypatch)
    runs = [run for run in study.runs() if run.test == "one"]
    assert {calls[run.resolved.scenario.seed] for run in runs} == {1}
    assert calls.total() == len(runs) + 1


@pytest.mark.parametrize(
    "changes",
    [
        {"flow": [{"algorithm": "reno", "count": 3, "start": {"from": "1s", "to": "9s"}}]},
        {"flow": [{"algorithm": "reno", "parallel": 3, "start": {"from": "1s", "to": "9s"}}]},
        {"flow": [{"algorithm": "reno"}, {"transport": "udp", "rate": "1mbit", "label": "ü"}]},
        {"flow": [], "arrivals": [{"algorithm": "cubic", "rate": 5, "size": "10kb"}]},
        {"arrivals": [{"algorithm": "cubic", "load": "2%", "size": "10kb", "start": "9s"}]},
    ],
)
@pytest.mark.parametrize("capture", [False, True])
def test_another_seed_gives_what_a_file_with_it_gives(
    changes: dict[str, Any], capture: bool
) -> None:
    data = table(changes)
    drawn = Scenario.parse({**data, "seed": 5}).resolve(seed=77, capture=capture)
    whole = Scenario.parse({**data, "seed": 77}).resolve(capture=capture)
    plain = json.loads(drawn.json)
    assert (drawn.key, drawn.json, drawn.scenario) == (whole.key, whole.json, whole.scenario)
    assert drawn.json == canonical_json(plain)
    assert ResolvedScenario.of(plain).key == drawn.key
    assert drawn.on("another").key == ResolvedScenario.of(plain, "another").key


def test_a_changed_copy_is_resolved_anew() -> None:
    scenario = Scenario.parse(table({"duration": "60s"}))
    longer = scenario.model_copy(update={"duration": 90 * 10**9})
    assert longer.resolve().scenario.duration_ns == 90 * 10**9
    assert scenario.resolve().scenario.duration_ns == 60 * 10**9


def test_equal_parts_are_checked_once(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    first, again, other = (
        reader.parse(table({"flow": [{"algorithm": name}], "network": {**NETWORK, "rtt": rtt}}))
        for name, rtt in (("reno", "42ms"), ("htcp", "42ms"), ("reno", "43ms"))
    )
    assert first.network is again.network is not other.network
    assert first.flow[0] is other.flow[0] is not again.flow[0]
    assert other == Scenario.parse(
        table({"flow": [{"algorithm": "reno"}], "network": {**NETWORK, "rtt": "43ms"}})
    )


NETWORK = {"rate": "10mbit", "rtt": "42ms", "queue": "1bdp"}


@pytest.mark.parametrize(
    "changes",
    [
        {"network": {**NETWORK, "rtt": "42"}},
        {"network": {**NETWORK, "topology": "ring"}},
        {"network": 3},
        {"flow": [{"algorithm": "reno", "cuont": 3}, {"algorithm": "reeno"}]},
        {"flow": [{"algorithm": "reno", "rtt": "1s", "hops": [1, 2]}]},
        {"flow": {"algorithm": "reno"}},
        {"flow": [{"algorithm": "reno", "start": "90s"}]},
        {"nettwork": {}, "duration": "1"},
    ],
)
def test_a_reader_refuses_what_a_scenario_refuses(changes: dict[str, Any], tmp_path: Path) -> None:
    data = table(changes)
    with pytest.raises(InputError) as single:
        Scenario.parse(data)
    with pytest.raises(InputError) as read:
        Reader(tmp_path).parse(data)
    assert str(read.value) == str(single.value)


@pytest.mark.parametrize("value", ["2026-01-01", "07:32:00", "nan", "inf", "[1]", "{}", "true"])
@pytest.mark.parametrize(("key", "old"), [("duration", '"60s"'), ("rate", '"10mbit"')])
def test_values_that_only_toml_has_are_refused(
    tmp_path: Path, key: str, old: str, value: str
) -> None:
    study = Study.load(write(tmp_path, HEADER.replace(f"{key} = {old}", f"{key} = {value}")))
    with pytest.raises(InputError) as caught:
        study.runs()
    place = "scenario.network.rate" if key == "rate" else "scenario.duration"
    assert str(caught.value).startswith(f"{tmp_path / 'study.toml'}: {place}")


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ('rate = "10mbit"', 'rate = "10mbitt"', "study.toml: scenario.network.rate"),
        (', queue = "1bdp"', "", "study.toml: scenario.network.queue: is missing"),
        ('duration = "60s"', "", "tests.toml: test.first.scenario.duration: is missing"),
        ('edge_jitter = "1ms"', 'edge_jiter = "1ms"', "study.toml: vary.1.set.network.edge_jiter"),
        ('interval = "1s"', 'interval = "1"', "tests.toml: vary.1.set.record.interval"),
        ('"{algorithm}"', '"{algoritm}"', "tests.toml: test.one.scenario.flow.1.algorithm"),
        ('stop = "50s"', 'stop = "5s"', "tests.toml: test.one.vary.1.set.flow.1.stop"),
        ("parallel = 2", "parallel = 0", "tests.toml: test.one.quick.set.flow.1.parallel"),
        ("parallel = 2", "paralel = 2", "tests.toml: test.one.quick.set.flow.1.paralel"),
        ('from = "1s", ', "", "tests.toml: test.one.scenario.flow.1.start.from: is missing"),
    ],
)
def test_errors_name_the_file_and_the_table_that_says_it(
    tmp_path: Path, old: str, new: str, place: str
) -> None:
    assert old in HEADER + TESTS
    study = Study.load(write(tmp_path, HEADER.replace(old, new), TESTS.replace(old, new)))
    with pytest.raises(InputError) as caught:
        study.runs(quick=True)
    assert str(caught.value).startswith(str(tmp_path / place))


def test_each_of_several_errors_has_its_own_place(tmp_path: Path) -> None:
    header = HEADER.replace('"10mbit"', '"10"')
    study = Study.load(write(tmp_path, header, TESTS.replace('"reno" }', '"reeno" }')))
    with pytest.raises(InputError) as caught:
        study.runs()
    first, second = str(caught.value).splitlines()
    assert first.startswith(f"{tmp_path / 'study.toml'}: scenario.network.rate")
    assert second.startswith(f"{tmp_path / 'tests.toml'}: test.first.scenario.flow.1.algorithm")


def test_what_replaces_a_table_says_all_of_it() -> None:
    layers = [
        Layer("a.toml", "scenario", {"network": {"queue": {"limit": "5p"}}}),
        Layer("b.toml", "test.x.scenario", {"network": {"queue": "3p"}}, is_home=True),
        Layer("b.toml", "test.x.vary.1.set", {"network": {"rate": "1mbit"}}),
    ]
    error = where_said(InputError("too small", key="network.queue.limit"), layers)
    assert (error.source, error.key) == ("b.toml", "test.x.scenario.network.queue.limit")


def test_errors_of_other_files_keep_their_source() -> None:
    layers = [Layer("a.toml", "test.x.scenario", {}, is_home=True)]
    error = where_said(InputError("does not compile", source="my_cc.c:3", key="flow.1"), layers)
    assert (error.source, error.key) == ("my_cc.c:3", "test.x.scenario.flow.1")


def test_a_selection_is_of_texts(tmp_path: Path) -> None:
    wrong = TESTS.replace('where = { algorithm = "htcp" }', "where = { algorithm = [1] }")
    with pytest.raises(InputError) as caught:
        Study.load(write(tmp_path, tests=wrong))
    assert f"{tmp_path / 'tests.toml'}:22: test.2.vary.1.where.algorithm = [1]" in str(caught.value)
    assert "\n" not in str(caught.value)
