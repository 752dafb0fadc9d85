"""Studies: reading, expansion of grids, choice of runs, and what is wrong with a file."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import study_runs
from dumbbell.base.errors import InputError
from dumbbell.contract.scenario import Limit, RateConfig
from dumbbell.plan import grid
from dumbbell.plan.expanding import scenarios
from dumbbell.scenario import facts
from dumbbell.study.model import Study

STUDY = """
[study]
name = "small"
title = "A small study"
authors = ["A. Nonymous"]
year = 2026

[scenario]
duration = "60s"

[scenario.network]
edge_jitter = "1ms"

[[vary]]
where = { rate = "100mbit" }
set = { network = { edge_jitter = "120us" } }

[[test]]
name = "fairness"
title = "Two equal flows"
runs = 3

[test.axes]
algorithm = ["reno", "htcp@li2007"]
rate = ["10mbit", "100mbit"]
queue = ["0.2bdp", "1bdp"]

[test.scenario]
network = { rate = "{rate}", rtt = "42ms", queue = "{queue}" }

[[test.scenario.flow]]
algorithm = "{algorithm}"
label = "flow 1"

[[test.scenario.flow]]
algorithm = "{algorithm}"
label = "flow 2"
start = { from = "10s", to = "20s" }

[[test.vary]]
where = { algorithm = "reno" }
set = { duration = "300s", flow = [{}, { start = { to = "50s" } }] }

[test.quick]
runs = 1
where = { rate = "10mbit" }
set = { duration = "55s" }

[[test]]
name = "alone"
title = "One flow"

[test.axes]
loss = ["1e-5", "1e-4"]

[test.scenario.network]
rate = "10mbit"
rtt = "42ms"
queue = "5p"

[[test.scenario.network.loss]]
place = "receiver"
probability = "{loss}"

[[test.scenario.flow]]
algorithm = "reno"
"""


def load(tmp_path: Path, text: str = STUDY) -> Study:
    path = tmp_path / "small.toml"
    path.write_text(text)
    return Study.load(path)


def broken(tmp_path: Path, old: str, new: str) -> str:
    """Return the message of the error that a change of the study causes."""
    assert old in STUDY
    with pytest.raises(InputError) as caught:
        load(tmp_path, STUDY.replace(old, new)).runs()
    return str(caught.value)


def test_the_grid_is_expanded_in_the_order_of_its_axes(tmp_path: Path) -> None:
    points = load(tmp_path).points("fairness")
    assert [tuple(point.axes.values()) for point in points[:3]] == [
        ("reno", "10mbit", "0.2bdp"),
        ("reno", "10mbit", "1bdp"),
        ("reno", "100mbit", "0.2bdp"),
    ]
    assert len(points) == 8


def test_runs_are_points_times_repetitions(tmp_path: Path) -> None:
    counts = Counter(run.test for run in load(tmp_path).runs())
    assert counts == {"fairness": 24, "alone": 2}


def test_axes_and_changes_reach_the_scenario(tmp_path: Path) -> None:
    study = load(tmp_path)
    run = study.runs(where={"algorithm": "reno", "rate": "100mbit", "queue": "1bdp"})[0]
    data = run.resolved.scenario
    forward, edge = data.links[0], data.links[2]
    assert forward.rate == RateConfig(constant=100_000_000)
    assert forward.queue.limit == Limit(packets=350)
    assert (edge.name, edge.exit_jitter_ns) == ("edge 1", 120_000)
    assert data.duration_ns == 300 * 10**9
    assert [facts.algorithm(flow) for flow in data.flows] == ["reno", "reno"]
    assert run.axes["queue"] == "1bdp"


def test_changes_merge_into_single_flows(tmp_path: Path) -> None:
    flows = load(tmp_path).points("fairness")[0].scenario["flow"]
    assert flows[0] == {"algorithm": "reno", "label": "flow 1"}
    assert flows[1]["start"] == {"from": "10s", "to": "50s"}


def test_quick_keeps_a_part_with_the_same_code(tmp_path: Path) -> None:
    runs = [run for run in load(tmp_path).runs(quick=True) if run.test == "fairness"]
    assert len(runs) == 4
    assert {run.axes["rate"] for run in runs} == {"10mbit"}
    assert {run.resolved.scenario.duration_ns for run in runs} == {55 * 10**9}


def test_repetitions_differ_and_are_reproducible(tmp_path: Path) -> None:
    study = load(tmp_path)
    where = {"algorithm": "htcp", "rate": "10mbit", "queue": "1bdp"}
    first, again = study.runs(where=where), study.runs(where=where)
    assert [run.resolved.key for run in first] == [run.resolved.key for run in again]
    assert len({run.resolved.scenario.seed for run in first}) == 3
    assert len({run.resolved.scenario.flows[1].start_ns for run in first}) == 3
    other = study.runs(where=where, seed=1)
    assert not {run.resolved.key for run in first} & {run.resolved.key for run in other}


def test_more_repetitions_keep_the_first(tmp_path: Path) -> None:
    study = load(tmp_path)
    three = {run.resolved.key for run in study.runs()}
    five = {run.resolved.key for run in study.runs(runs=5)}
    assert three < five


def test_tests_with_the_same_scenario_share_runs(tmp_path: Path) -> None:
    second = STUDY[
        STUDY.index('[[test]]\nname = "fairness"') : STUDY.index('[[test]]\nname = "alone')
    ]
    study = load(tmp_path, STUDY + second.replace('"fairness"', '"again"'))
    runs = study.runs()
    assert len(runs) == 50
    assert len(scenarios(runs)) == 26


def test_where_understands_other_spellings(tmp_path: Path) -> None:
    study = load(tmp_path)
    assert len(study.runs(where={"algorithm": "htcp", "rate": "0.1gbit"})) == 6
    assert len(study.runs(where={"test": "alone"})) == 2
    assert len(study.runs(where={"loss": "0.00001"})) == 1
    assert len(study.runs(where={"rate": ["10mbit", "100mbit"]})) == 24


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ({"algoritm": "reno"}, 'did you mean "algorithm"'),
        ({"algorithm": "htpc"}, "htcp@li2007"),
        ({"rate": "11mbit"}, "valid: 10mbit, 100mbit"),
        ({"test": "fairnes"}, 'did you mean "fairness"'),
    ],
)
def test_where_reports_what_no_test_has(
    tmp_path: Path, where: dict[str, str | list[str]], message: str
) -> None:
    with pytest.raises(InputError, match="where") as caught:
        load(tmp_path).runs(where=where)
    assert message in str(caught.value)


NAMED = """[[vary]]
where = { test = ["fairness"], rate = "100mbit" }
set = { flow = [{}, { start = { to = "12s" } }], network = { rtt = "80ms", queue = "9p" } }

[[vary]]
where = { test = "alone" }
set = { network = { edge_jitter = "5us" } }

[[test]]
name = "fairness"
"""


def test_changes_reach_the_tests_that_they_name(tmp_path: Path) -> None:
    text = STUDY.replace('[[test]]\nname = "fairness"\n', NAMED)
    study = load(tmp_path, text)
    slow, fast = (
        study.points("fairness", where={"algorithm": "htcp", "rate": rate, "queue": "1bdp"})[0]
        for rate in ("10mbit", "100mbit")
    )
    (alone,) = study.points("alone", where={"loss": "1e-4"})
    assert alone.scenario["network"]["edge_jitter"] == "5us"
    assert slow.scenario["network"]["edge_jitter"] == "1ms"
    assert fast.scenario["network"]["edge_jitter"] == "120us"
    # What the test says itself wins.
    assert fast.scenario["network"]["rtt"] == "42ms"
    assert fast.scenario["network"]["queue"] == "1bdp"
    assert fast.scenario["flow"][1]["start"] == {"from": "10s", "to": "20s"}
    other = load(tmp_path, text.replace('rtt = "42ms", queue = "{queue}"', 'queue = "{queue}"'))
    (fast,) = other.points(
        "fairness", where={"algorithm": "htcp", "rate": "100mbit", "queue": "1bdp"}
    )
    assert fast.scenario["network"]["rtt"] == "80ms"


@pytest.mark.parametrize(
    ("where", "parts"),
    [
        (
            '{ test = "fairnes" }',
            ["vary.2.where.test", '"fairnes": unknown test', 'did you mean "fairness"'],
        ),
        ('{ test = ["alone", "x"] }', ["vary.2.where.test", '"x"', "valid: fairness, alone"]),
        (
            '{ test = ["alone", "fairness"], rate = "10mbit" }',
            ["vary.2.where", "unknown axis of the test alone", '"rate"', "valid: loss"],
        ),
        (
            '{ test = "fairness", rate = "11mbit" }',
            ["vary.2.where.rate", "no such value", "valid: 10mbit, 100mbit"],
        ),
        ('{ test = "alone", los = "1e-5" }', ["vary.2.where", 'did you mean "loss"']),
    ],
)
def test_changes_name_tests_and_axes_that_exist(
    tmp_path: Path, where: str, parts: list[str]
) -> None:
    named = f'[[vary]]\nwhere = {where}\nset = {{}}\n\n[[test]]\nname = "fairness"'
    message = broken(tmp_path, '[[test]]\nname = "fairness"', named)
    assert "small.toml" in message
    for part in parts:
        assert part in message


def test_a_value_in_one_of_the_named_tests_is_enough(tmp_path: Path) -> None:
    other = STUDY[STUDY.index('[[test]]\nname = "alone"') :]
    other = other.replace("alone", "worse").replace("1e-4", "1e-2")
    where = '{ test = ["alone", "worse"], loss = "1e-2" }'
    vary = f'[[vary]]\nwhere = {where}\nset = {{ network = {{ delay = "1ms" }} }}\n\n'
    first = '[[test]]\nname = "fairness"'
    study = load(tmp_path, STUDY.replace(first, vary + first) + other)
    changed = [
        str(point)
        for test in study.tests
        for point in study.points(test)
        if "delay" in point.scenario["network"]
    ]
    assert changed == ["worse (loss = 1e-2)"]


def test_a_test_cannot_name_tests(tmp_path: Path) -> None:
    message = broken(tmp_path, 'where = { algorithm = "reno" }', 'where = { test = "alone" }')
    assert 'test.1.vary.1.where = "test": unknown axis' in message


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        ('rtt = "42ms", queue = "{queue}"', 'rtt = "42", queue = "{queue}"', ["rtt", "unit"]),
        ('"100mbit"]', '"100mbitt"]', ["vary.1.where.rate", "100mbitt"]),
        ('"{queue}"', '"{queu}"', ["test.fairness.scenario.network.queue", "{queue}"]),
        ('"{queue}"', '"1bdp"', ["test.1.axes.queue", "no scenario of the test changes"]),
        ('algorithm = "{algorithm}"\nlabel = "flow 1"', 'algorithm = "reeno"', ["flow.1", "reno"]),
        ("runs = 3", "runs = 0", ["test.1.runs", "0"]),
        ("runs = 3", "rums = 3", ["test.1.rums", "runs"]),
        ('where = { rate = "10mbit" }', 'where = { rte = "10mbit" }', ["test.1.quick", "rate"]),
        ('name = "alone"', 'name = "fairness"', ["a second test"]),
        ("[test.axes]\nloss", "[test.axes]\nrepetition = []\nloss", ["repetition", "reserved"]),
        ('["1e-5", "1e-4"]', '["1e-5", "1e-5"]', ["loss", "same value"]),
        ('["1e-5", "1e-4"]', "[]", ["loss", "values"]),
        (
            "[[vary]]\nwhere = { rate",
            "[[vary]]\nwhere = { rat",
            ["vary.1.where", 'did you mean "rate"'],
        ),
        ("year = 2026", "", ["study.year", "missing"]),
        ("[study]", "[study", ["not valid TOML"]),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, old: str, new: str, parts: list[str]) -> None:
    message = broken(tmp_path, old, new)
    assert "small.toml" in message
    for part in parts:
        assert part in message


def test_a_folder_is_one_study_and_errors_name_the_file(tmp_path: Path) -> None:
    first, second = STUDY.split('[[test]]\nname = "alone"')
    (tmp_path / "study.toml").write_text(first)
    (tmp_path / "more.toml").write_text('[[test]]\nname = "alone"' + second)
    assert [test.name for test in Study.load(tmp_path).tests] == ["alone", "fairness"]
    (tmp_path / "more.toml").write_text(
        '[[test]]\nname = "alone"' + second.replace("title", "titel")
    )
    with pytest.raises(InputError) as caught:
        Study.load(tmp_path)
    assert "more.toml:3: test.1.titel" in str(caught.value)


def test_tables_of_a_folder_must_not_clash(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "z.toml").write_text("[study]\nname = 'other'\n")
    with pytest.raises(InputError, match="already set"):
        Study.load(tmp_path)


def test_unknown_studies_have_near_names() -> None:
    with pytest.raises(InputError) as refused:
        Study.load("li2008")
    assert refused.value.near == "li2007"
    assert "li2007" in Study.names()


def test_merging_tables() -> None:
    base = {"a": {"x": 1, "y": 2}, "list": [{"p": 1}, {"q": 2}], "plain": [1, 2]}
    changes = {"a": {"y": 3}, "list": [{}, {"r": 4}], "plain": [5]}
    assert grid.merged(base, changes) == {
        "a": {"x": 1, "y": 3},
        "list": [{"p": 1}, {"q": 2, "r": 4}],
        "plain": [5],
    }


@pytest.mark.parametrize(
    ("values", "column"),
    [
        (["16ms", "1s"], "x_ms"),
        (["10mbit", "1gbit"], "x_mbit"),
        (["0.2bdp", "20%bdp"], "x_bdp"),
        (["10p"], "x_packets"),
        (["1e-5", "0.1"], "x_value"),
        (["reno", "htcp"], None),
        (["10p", "0.2bdp"], None),
    ],
)
def test_numeric_columns(values: list[str], column: str | None) -> None:
    assert grid.numeric_column("x", values) == column


class TestLi2007:
    """The study that comes with Dumbbell."""

    study = Study.load("li2007")

    def test_covers_the_paper(self) -> None:
        fairness = self.study.test("fairness")
        assert fairness.axes["rate"] == ("1mbit", "10mbit", "100mbit", "250mbit")
        assert fairness.axes["rtt"] == ("16ms", "42ms", "82ms", "162ms", "324ms")
        assert fairness.runs == 5
        assert len(fairness.axes["algorithm"]) == 6
        assert [claim.id for claim in self.study.claims] == [f"E{n:02}" for n in range(1, 48)]

    def test_every_run_resolves(self) -> None:
        for quick in (False, True):
            runs = study_runs.runs(self.study.name, quick=quick)
            assert {run.test for run in runs} == {test.name for test in self.study.tests}

    def test_both_flows_run_for_ten_minutes_or_an_hour(self) -> None:
        for run in study_runs.runs(self.study.name):
            if run.test in ("fairness", "rtt-fairness", "efficiency", "convergence"):
                data = run.resolved.scenario
                latest_ns = max(flow.start_ns for flow in data.flows)
                together_s = (data.duration_ns - latest_ns) / 1e9
                reno = run.axes["algorithm"].startswith("reno")
                hour = reno and run.test != "convergence"
                assert together_s >= (3600 if hour else 600), str(run.axes)

    def test_the_hold_is_a_packet_of_at_least_10_mbit(self) -> None:
        for run in study_runs.runs(self.study.name):
            links = run.resolved.scenario.links
            assert links[0].rate is not None
            packet_ns = 12_000 * 10**9 // max(links[0].rate.constant or 0, 10**7)
            holds = {link.exit_jitter_ns for link in links if link.name.startswith("edge")}
            if run.test == "open-hosts":
                service_times = {"no hold": 0, "two service times": 2}
                assert holds == {service_times.get(run.axes["hosts"], 1) * packet_ns}
            else:
                assert holds == {packet_ns}

    def test_every_highspeed_flow_uses_the_table_of_the_rfc(self) -> None:
        for run in study_runs.runs(self.study.name):
            for flow in run.resolved.scenario.flows:
                tcp = flow.transport.tcp
                if tcp is not None and tcp.algorithm == "highspeed":
                    computed = run.axes.get("table", "").startswith("computed")
                    assert tcp.parameters.get("low_window", 31) == (31 if computed else 38)

    def test_full_study_fits_into_two_hours(self) -> None:
        """At 5 million packets/s on each of two cores, if every link is always full."""
        packets = sum(
            (facts.bottleneck_rate_bps(run.scenario) or 0) * run.scenario.duration_ns
            for run in scenarios(study_runs.runs(self.study.name))
        )
        assert packets / 12_000 / 1e9 < 2 * 3600 * 2 * 5e6


def test_grid_points_can_be_left_out(tmp_path: Path) -> None:
    without = '[[test.without]]\nalgorithm = "reno"\nqueue = ["1bdp"]\n\n[test.quick]'
    study = load(tmp_path, STUDY.replace("[test.quick]", without, 1))
    points = [tuple(point.axes.values()) for point in study.points("fairness")]
    assert len(points) == 6
    assert not any(algorithm == "reno" and queue == "1bdp" for algorithm, _, queue in points)
    assert Counter(run.test for run in study.runs())["fairness"] == 18


def test_what_is_left_out_must_exist(tmp_path: Path) -> None:
    without = '[[test.without]]\nalgorithm = "renno"\n\n[test.quick]'
    message = broken(tmp_path, "[test.quick]", without)
    assert "without.1" in message
    assert "renno" in message
