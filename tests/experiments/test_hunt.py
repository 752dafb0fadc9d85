"""``dumbbell hunt``: the worst scenario, searched, made minimal and judged again."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

import dumbbell
from command_line import Command, assert_refused, line, unmeasured
from dumbbell.base.errors import DumbbellError, InputError
from dumbbell.engines.choices import EngineName
from dumbbell.execution.executor import Progress
from dumbbell.experiments.hunt import goals, hunting, search, space, words
from dumbbell.experiments.hunt.claiming import Statement
from dumbbell.experiments.hunt.goals import CALM, Gap, Traffic
from dumbbell.experiments.hunt.hunting import Hunted, Request, hunt
from dumbbell.experiments.hunt.space import DIMENSIONS, Space
from dumbbell.reports import hunt_page
from dumbbell.scenario.model import Scenario

SECOND = 10**9

NOISE = Request(
    "vegas",
    against=("reno",),
    over=("jitter", "queue", "cross"),
    where={"rate": "20mbit", "rtt": "40ms"},
    duration="6s",
    points=9,
    runs=3,
)
"""Vegas takes the noise of delays for queues, so jitter alone keeps it from the link."""


@pytest.fixture(scope="module", autouse=True)
def _short_list() -> Iterator[None]:
    """Have hunts look closely at three scenarios instead of eight, by four seeds at most."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "SHORTLIST", 3)
        patch.setattr(search, "FINALS", 2)
        patch.setattr(search, "SURE", 4)
        yield


# The scenarios


def whole(traffic: Traffic = Traffic.ALONE, seconds: int = 30) -> Space:
    return Space(traffic, seconds * SECOND, beside="cubic")


@pytest.mark.parametrize("dimension", DIMENSIONS, ids=lambda dimension: dimension.name)
def test_a_range_rises_from_end_to_end_and_is_read_as_it_is_written(dimension: Any) -> None:
    values = [dimension.value(step / 40) for step in range(41)]
    assert values == sorted(values)
    assert values[-1] == pytest.approx(dimension.high)
    if dimension.has_off:
        assert values[0] == 0
        values = [value for value in values if value]
    if not dimension.choices:
        assert values[0] == pytest.approx(dimension.low)
        for value in values:
            assert dimension.read(dimension.write(value)) == pytest.approx(value)


@pytest.mark.parametrize("traffic", Traffic)
@given(data=st.data())
def test_any_point_is_a_scenario(traffic: Traffic, data: st.DataObject) -> None:
    searched = whole(traffic)
    shares = [data.draw(st.floats(0, 1)) for _ in searched.searched]
    point = searched.point(shares)
    table = {**searched.table(point), "algorithm": "reno"}
    scenario = Scenario.parse(table, "hunt").resolve().scenario
    assert scenario.duration_ns == 30 * SECOND
    assert searched.settled(point) == point


def test_the_ordinary_path_has_no_disturbance() -> None:
    searched = whole()
    assert searched.table(searched.neutral) == {
        "duration": "30s",
        "stack": "linux-6",
        "network": {"rate": "20mbit", "rtt": "40ms", "queue": "1bdp"},
        "flow": [{"label": "hunted", "group": "hunted"}],
        "record": {"interval": "25ms", "events": ["congestion"]},
    }
    assert searched.words(searched.neutral) == "20 Mbit/s, RTT 40 ms, queue 1 BDP"


def moved(searched: Space, **values: float) -> space.Point:
    point = searched.neutral
    for name, value in values.items():
        point = searched.moved(point, name, value)
    return searched.settled(point)


def test_disturbances_end_with_the_second_third() -> None:
    searched = whole()
    point = moved(searched, cross=2, pulse=1000, duty=0.2, rate_change=0.5, outage=9000)
    table = searched.table(point)
    assert table["network"]["rate"] == [
        {"at": "0s", "rate": "20mbit"},
        {"at": "10s", "rate": "10mbit"},
        {"at": "15s", "rate": "0bit"},
        {"at": "20s", "rate": "10mbit"},
    ]
    cross = table["flow"][1]
    assert (cross["rate"], cross["start"], cross["stop"]) == ("40mbit", "10s", "20s")
    assert cross["workload"] == {"kind": "on-off", "on": "200ms", "off": "800ms"}
    assert searched.slowest_mbit(point) == 10
    assert searched.fastest_mbit(point) == 20


def test_a_longer_round_trip_is_a_longer_delay_there() -> None:
    searched = whole()
    table = searched.table(moved(searched, rtt_change=2))
    assert table["network"]["delay"] == [
        {"at": "0s", "delay": "20ms"},
        {"at": "10s", "delay": "60ms"},
    ]


def test_what_has_no_effect_is_neutral() -> None:
    searched = whole()
    assert moved(searched, pulse=100, duty=0.1) == searched.neutral
    codel = moved(searched, discipline=1, queue=4)
    assert searched.of(codel, "queue") == 1


def test_one_value_stays_and_another_range_holds() -> None:
    narrowed = space.space(whole(), (), {"rate": "5mbit", "queue": "2bdp..4bdp", "jitter": "none"})
    names = {dimension.name for dimension in narrowed.searched}
    assert not names & {"rate", "jitter", "order"}
    assert narrowed.of(narrowed.neutral, "rate") == 5
    assert narrowed.of(narrowed.neutral, "queue") == 2
    assert {dimension.name for dimension in space.space(whole(), ["rtt"], {}).searched} == {"rtt"}
    only = space.space(whole(), (), {"discipline": "pie"})
    assert only.table(only.neutral)["network"]["queue"] == {"discipline": "pie"}


@pytest.mark.parametrize(
    ("over", "where", "problem"),
    [
        (["rtd"], {}, 'did you mean "rtt"'),
        (["order"], {}, "has no effect without a flow next to"),
        ([], {"order": "last"}, 'where = "order": has no effect without a flow next to'),
        ([], {"rtd": "1ms"}, 'did you mean "rtt"'),
        ([], {"rate": "9mbit..1mbit"}, "an empty range"),
        ([], {"rate": "1mbit..100gbit"}, "valid: 10kbit to 10gbit"),
        ([], {"rate": "1ms"}, "where.rate"),
        ([], {"queue": "10p"}, "no share of the BDP"),
        ([], {"discipline": "fifo,red"}, '"red": unknown'),
        (["rate"], {"rate": "9mbit"}, "leaves nothing to search"),
    ],
)
def test_a_wrong_space_is_refused(over: list[str], where: dict[str, str], problem: str) -> None:
    with pytest.raises(InputError) as caught:
        space.space(whole(), over, where)
    assert problem in str(caught.value)


# Regret


def gap(goal: str, ours: dict[str, Any], *theirs: dict[str, Any], either: bool = False) -> Any:
    sides = ["us", *(f"other{place}" for place in range(len(theirs)))]
    values = dict(zip(sides, [ours, *theirs], strict=True))
    return goals.gap(goals.goal(goal), sides, values, 10.0, either=either)


GOODPUT = "goodput_mbit_per_s[hunted]"
RTT = "rtt_mean_ms[hunted]"


def test_regret_compares_with_the_best_reference() -> None:
    difference = gap("goodput", {GOODPUT: 2.0}, {GOODPUT: 4.0}, {GOODPUT: 8.0})
    assert difference.regret == pytest.approx(0.75)
    assert (difference.worse, difference.better) == ("us", "other1")
    assert gap("goodput", {GOODPUT: 8.0}, {GOODPUT: 4.0}).regret < 0


def test_of_next_to_nothing_nobody_has_more() -> None:
    assert gap("goodput", {GOODPUT: 0.0}, {GOODPUT: 0.05}).regret == 0
    assert gap("goodput", {GOODPUT: 0.0}, {GOODPUT: 1.0}).regret == pytest.approx(0.9)


def test_a_reference_without_goodput_has_no_short_delay() -> None:
    ours = {GOODPUT: 8.0, RTT: 100.0}
    assert gap("delay", ours, {GOODPUT: 8.0, RTT: 50.0}).regret == pytest.approx(0.5)
    assert gap("delay", ours, {GOODPUT: 2.0, RTT: 50.0}) is None


def test_two_are_apart_whichever_is_ahead() -> None:
    difference = gap("goodput", {GOODPUT: 8.0}, {GOODPUT: 2.0}, either=True)
    assert (difference.worse, difference.better, difference.regret) == (
        "other0",
        "us",
        pytest.approx(0.75),
    )


@pytest.mark.parametrize(
    ("name", "problem"), [("godput", "unknown"), ("cwnd_mean_segs", "neither")]
)
def test_a_wrong_goal_is_refused(name: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem) as caught:
        goals.goal(name)
    assert caught.value.key == "goal"


def test_any_quantity_that_has_a_better_end_is_a_goal() -> None:
    measure = goals.goal("rtt_p95_ms").measures[0]
    assert not measure.is_highest_best


@pytest.mark.parametrize(
    ("share", "level"), [(0.05, 0.1), (0.085, 0.2), (0.3, 0.5), (0.45, 0.8), (0.79, 0.8)]
)
def test_a_claim_leaves_a_margin(share: float, level: float) -> None:
    both = Gap(1 - share, GOODPUT, "vegas", "cubic", {"vegas": share, "cubic": 1.0})
    statement = Statement.of(goals.goal("goodput"), both)
    assert statement.level == level
    assert statement.check()["high"] == level


def test_a_claim_names_the_side_that_has_less() -> None:
    slower = Gap(0.6, RTT, "bbr", "reno", {"bbr": 100.0, "reno": 40.0})
    statement = Statement.of(goals.APART, slower)
    assert statement.check()["of"] == {"algorithm": "reno"}
    assert statement.text == (
        snapshot(
            "With Standard TCP the mean round-trip time of a lone flow is less than half of that with BBR."
        )
    )


# The search


@pytest.fixture(scope="module")
def vegas_hunt(tmp_path_factory: pytest.TempPathFactory) -> tuple[Hunted, Path]:
    results = tmp_path_factory.mktemp("hunt") / "results"
    return hunt(NOISE, results=results), results


def test_jitter_alone_keeps_vegas_from_the_link(vegas_hunt: tuple[Hunted, Path]) -> None:
    hunted, _ = vegas_hunt
    assert hunted.minimal is not None
    assert hunted.minimal.regret > 0.5
    assert [move.name for move in hunted.space.moves(hunted.minimal.point)] == ["jitter"]
    assert hunted.statement is not None
    assert hunted.statement.text == snapshot(
        "With Vegas the goodput of a lone flow is less than half of that with Standard TCP."
    )
    (confirmed,) = hunted.confirmations
    assert confirmed.verdict == "confirmed"
    assert confirmed.means["vegas"][GOODPUT].runs >= 3


@pytest.mark.usefixtures("undrawn")
def test_disturbed_runs_are_named_and_have_no_table(
    vegas_hunt: tuple[Hunted, Path], tmp_path: Path
) -> None:
    hunted, _ = vegas_hunt
    (confirmed,) = hunted.confirmations
    empty = replace(confirmed, means={}, invalid=6, because="the emulator was held up")
    assert words.verdict(empty) == snapshot(
        "Not judged on the simulator: the machine disturbed all 6 runs, which do not count (the emulator was held up). The same command tries them again."
    )
    again = replace(hunted, confirmations=(empty,))
    line = f"# On the simulator: not judged, {empty.measured}\n"
    assert line in hunting.scenario_file(again, tmp_path)
    page = hunt_page.write(again, tmp_path, "dumbbell hunt")
    assert empty.measured in page.read_text()
    assert not (tmp_path / "over-time-simulator.svg").exists()
    assert 'aria-label="Compared"' not in page.read_text()
    some = replace(confirmed, invalid=2, because="held up")
    assert unmeasured(words.verdict(some)) == snapshot(
        "Confirmed on the simulator: goodput of hunted: N Mbit/s over N Mbit/s is N (N to N, 6 runs) at Vegas against Standard TCP; expected ratio of Vegas over Standard TCP at most N; the machine disturbed 2 runs, which do not count (held up). The same command tries them again."
    )


def test_the_minimal_scenario_keeps_the_regret(vegas_hunt: tuple[Hunted, Path]) -> None:
    course = vegas_hunt[0].course
    assert course.minimal is not None
    assert course.minimal.regret >= 0.75 * course.worst.regret
    taken = [step.regret for step in course.steps if step.taken]
    (first,) = vegas_hunt[0].search.judge.judge([course.worst.point], 3)
    assert min(taken) >= 0.9 * first.regret
    assert len(course.cells) == 1  # rate and round-trip time have one value


def test_a_search_from_half_of_the_runs_finds_the_same(
    vegas_hunt: tuple[Hunted, Path], tmp_path: Path
) -> None:
    hunted, results = vegas_hunt
    shutil.copytree(results, tmp_path / "results")
    runs = sorted((tmp_path / "results" / "runs").iterdir())
    for folder in runs[::2]:
        shutil.rmtree(folder)
    made: list[Progress] = []
    again = hunt(NOISE, results=tmp_path / "results", on_progress=made.append)
    assert again.as_dict() == hunted.as_dict()
    assert sum(state.fate.value == "reused" for state in made) > len(made) / 3
    assert len(list((tmp_path / "results" / "runs").iterdir())) == len(runs)


def test_the_file_is_the_finding_and_shows_it_again(
    vegas_hunt: tuple[Hunted, Path], tmp_path: Path
) -> None:
    hunted, _ = vegas_hunt
    file = tmp_path / "worst.toml"
    file.write_text(hunting.scenario_file(hunted, tmp_path))
    run = dumbbell.simulate(file)
    assert hunted.minimal is not None
    first = hunted.search.judge.judge([hunted.minimal.point], 1)[0].gap
    assert first is not None
    taken = run.measure(GOODPUT, windows={"main": {"settle": space.SETTLING}})
    assert taken[GOODPUT] == pytest.approx(first.values["vegas"])


def test_a_file_names_the_commands_of_each_engine(
    vegas_hunt: tuple[Hunted, Path], tmp_path: Path
) -> None:
    hunted, _ = vegas_hunt
    (confirmed,) = hunted.confirmations
    plain = hunting.scenario_file(hunted, tmp_path)
    assert "testbed" not in plain
    real = replace(confirmed, engine=EngineName.TESTBED)
    both = replace(
        hunted,
        request=replace(hunted.request, confirm="testbed"),
        confirmations=(confirmed, real),
    )
    text = hunting.scenario_file(both, tmp_path)
    first, *_ = plain.splitlines()
    assert text.splitlines()[0] == f"{first} --confirm testbed"
    judged = f"# Judge again: dumbbell claims {confirmed.results.study.name}"
    assert f"{judged}\n{judged} --engine testbed\n" in text
    reason = "1400 Mbit/s are too fast"
    left = replace(both, confirmations=(confirmed,), not_replayed=reason)
    text = hunting.scenario_file(left, tmp_path)
    assert line(text, reason) == snapshot("# Not replayed on the testbed: 1400 Mbit/s are too fast")
    assert "--engine testbed" not in text


def test_time_ends_a_search(tmp_path: Path) -> None:
    request = Request(**{**vars(NOISE), "within": "1ns", "points": 400})
    hunted = hunt(request, results=tmp_path)
    assert hunted.course.late
    assert len(hunted.course.tried) == 1
    assert unmeasured(words.conclusion(hunted)[0]) == snapshot(
        "No scenario of 1 scenario costs Vegas a fifth compared with Standard TCP: the largest regret is N, below N. Time was up before all were tried."
    )


def test_ctrl_c_keeps_the_worst_so_far(tmp_path: Path) -> None:
    made: list[Progress] = []

    def stop(state: Progress) -> None:
        made.append(state)
        if len(made) == 20:
            raise KeyboardInterrupt

    hunted = hunt(NOISE, results=tmp_path, on_progress=stop)
    assert hunted.interrupted
    assert len(hunted.course.tried) == 9
    assert "the worst so far" in words.conclusion(hunted)[0]


@pytest.fixture
def small_map(monkeypatch: pytest.MonkeyPatch) -> None:
    """Map four scenarios instead of 36."""
    monkeypatch.setattr(search, "_MAP", 2)


@pytest.fixture
def few_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Judge the worst two scenarios by three seeds instead of eight scenarios by up to eight."""
    monkeypatch.setattr(search, "SURE", search.SEEDS)
    monkeypatch.setattr(search, "SHORTLIST", 2)
    monkeypatch.setattr(search, "FINALS", 1)


@pytest.mark.usefixtures("few_seeds", "small_map")
def test_pulses_at_the_timeout_are_an_attack(tmp_path: Path) -> None:
    request = Request(
        "reno",
        goal="attack",
        over=("pulse", "cross"),
        where={"duty": "0.1", "cross": "2..3", "pulse": "500ms..2s"},
        duration="15s",
        points=4,
        runs=2,
    )
    hunted = hunt(request, results=tmp_path)
    assert hunted.course.tried[0].regret == 0  # no cross traffic, no attack
    assert hunted.minimal is not None
    assert hunted.minimal.gap is not None
    assert hunted.minimal.gap.better == CALM
    assert hunted.space.of(hunted.minimal.point, "pulse") > 0
    (confirmed,) = hunted.confirmations
    assert confirmed.verdict == "confirmed"
    used = {side: means["utilisation@during"].value for side, means in confirmed.means.items()}
    assert used["reno"] < 0.8 * used[CALM]


@pytest.mark.usefixtures("few_seeds", "undrawn")
def test_equal_algorithms_are_not_told_apart(dumbbell: Command) -> None:
    code = Path(__file__).parents[2] / "algorithms/reno.c"
    Path("twin.c").write_text(code.read_text().replace("reno", "twin"))
    output = dumbbell(
        "hunt", "--distinguish", "reno", "./twin.c", "--points", "4", "--duration", "3s"
    )
    assert output.code == 0
    assert unmeasured(output.out) == snapshot(
        "No scenario of 4 scenarios distinguishes them compared with twin: the largest regret is N, below N.\n"
    )
    assert "regret is 0.00" in output.out


@pytest.mark.usefixtures("few_seeds", "small_map")
def test_two_algorithms_are_told_apart(tmp_path: Path) -> None:
    request = Request(
        "reno",
        against=("scalable",),
        either=True,
        over=("queue", "loss"),
        duration="6s",
        points=8,
        runs=3,
    )
    hunted = hunt(request, results=tmp_path)
    assert hunted.minimal is not None
    assert hunted.confirmations[0].verdict == "confirmed"
    assert hunted.request.command[1:4] == ["--distinguish", "reno", "scalable"]


@pytest.mark.usefixtures("few_seeds", "small_map", "undrawn")
def test_an_algorithm_is_told_apart_from_its_preset(dumbbell: Command) -> None:
    """In a study its name means any preset, so the claim compared a preset with itself."""
    Path("mine.toml").write_text('algorithm = "scalable"\nparameters = { kept = 512 }\n')
    mine = "scalable@mine.toml"
    arguments = ("--over", "loss", "--points", "4", "--duration", "6s", "--runs", "3")
    output = dumbbell("hunt", "--distinguish", "scalable", mine, *arguments)
    assert f"With Scalable-TCP ({mine}) the goodput" in output.out
    assert line(output.out, "over").startswith("Confirmed ")
    run = dumbbell("simulate", *map(str, Path("hunted").glob("*.toml")))
    assert run.code == 0, "the file of the preset is found from there"


def crashing(condition: str) -> None:
    """Write `crash.c`: Reno, which touches memory that it does not have if a condition holds."""
    code = (Path(__file__).parents[2] / "algorithms/reno.c").read_text().replace("reno", "crash")
    begin = code.index("{", code.index("crash_cong_avoid(const")) + 1
    crash = f"\n\tif ({condition})\n\t\t*(volatile u32 *)(unsigned long)conn->srtt_us = 0;\n"
    Path("crash.c").write_text(code[:begin] + crash + code[begin:])


@pytest.mark.usefixtures("few_seeds", "small_map", "undrawn")
def test_a_run_that_fails_is_the_finding(dumbbell: Command) -> None:
    crashing("conn->srtt_us > 100000")
    output = dumbbell(
        "hunt", "./crash.c", "--against", "reno", "--over", "rtt", "--over", "loss",
        "--where", "rtt=5ms..2s", "--points", "5", "--duration", "3s",
    )  # fmt: skip
    assert output.code == 0, output.err
    assert output.out == snapshot(
        "The run of crash fails with 20 Mbit/s, RTT 50 ms, queue 1 BDP: the process that ran crash ended by SIGSEGV (memory that is not its own); to find where: dumbbell check ./crash.c\n"
    )
    text = Path("hunted/crash-goodput.toml").read_text()
    assert line(text, "fails") == snapshot(
        "# The run of crash fails: the process that ran crash ended by SIGSEGV (memory that is not its own); to find where: dumbbell check ./crash.c"
    )
    assert 'algorithm = "../crash.c"' in text
    assert "loss" not in text.partition("[network]")[2]
    assert dumbbell("simulate", "hunted/crash-goodput.toml").code == 1


def test_a_run_that_fails_on_the_ordinary_path_stops_the_hunt(dumbbell: Command) -> None:
    crashing("conn->srtt_us > 0")
    for sides in (["reno", "--against", "./crash.c"], ["./crash.c", "--against", "reno"]):
        output = dumbbell("hunt", *sides, "--points", "2", "--duration", "2s")
        assert output.code == DumbbellError.exit_code
        assert "crash" in output.err
        assert "failed" in output.err


# The command


@pytest.mark.usefixtures("few_seeds", "small_map")
def test_the_command_writes_page_and_scenario(dumbbell: Command) -> None:
    output = dumbbell(
        "hunt", "vegas", "--against", "cubic", "--goal", "share", "--points", "6",
        "--where", "rate=5mbit..10mbit", "--where", "rtt=20ms..40ms", "--where", "queue=2bdp",
        "--over", "rate", "--over", "rtt", "--over", "order",
        "--duration", "9s", "--runs", "3",
    )  # fmt: skip
    assert output.code == 0, output.err
    assert unmeasured(line(output.out, "next to")) == snapshot(
        "With Vegas the goodput next to a flow of CUBIC is less than a fifth of that with CUBIC. Regret N with N Mbit/s, RTT 40 ms, queue 2 BDP, starts first."
    )
    page = Path("hunted/index.html").read_text()
    for heading in ("The scenario", "On the simulator", "Map of failures", "Course of the search"):
        assert f"<h2>{heading}</h2>" in page
    assert {"map.svg", "tried.svg", "over-time-simulator.svg", "vegas-share.toml"} <= {
        file.name for file in Path("hunted").iterdir()
    }
    (again,) = [line for line in output.err.splitlines() if line.startswith("Judge again: ")]
    claims = dumbbell(*again.split()[3:])
    assert claims.code == 0
    assert "expectation met" in claims.out + claims.err
    compared = dumbbell(
        "compare", "vegas", "cubic", "--on", "hunted/vegas-share.toml", "--runs", "1"
    )
    assert compared.code == 0


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ((), "ALGORITHM: nobody to hunt"),
        (("nosuch",), "unknown algorithm"),
        (("bbr", "--against", "nosuch"), "unknown algorithm"),
        (("bbr", "--against", "bbr"), "twice"),
        (("bbr", "--goal", "godput"), '--goal: "godput": unknown'),
        (("bbr", "--goal", "attack", "--against", "reno"), "path without cross traffic"),
        (("reno", "--goal", "attack", "--over", "rate"), "there is none; valid: cross among them"),
        (
            ("reno", "--over", "rate", "--over", "pulse"),
            "no effect without cross; valid: cross among",
        ),
        (("reno", "--where", "pulse=60ms", "--over", "rate"), '--where: "pulse": has no effect'),
        (("reno", "--over", "cross", "--over", "duty"), "without pulse; valid: pulse among them"),
        (("--distinguish", "bbr", "bbr"), '--distinguish: "bbr bbr": the same algorithm twice'),
        (("bbr", "--distinguish", "reno", "cubic"), "names both algorithms itself"),
        (("bbr", "--where", "rate"), "not a range"),
        (("bbr", "--where", "rate=1mbit", "--where", "rate=2mbit"), "the same twice"),
        (("bbr", "--where", "rate=x"), '--where: rate = "x"'),
        (("bbr", "--over", "rtd"), '--over: "rtd": unknown dimension'),
        (("bbr", "--duration", "1ms"), "too short"),
        (("bbr", "--stack", "linux-9"), "--stack"),
        (("bbr", "--within", "soon"), "--within"),
        (("bbr", "--within", "0s"), '--within: "0s": no time for a scenario; valid: 5min'),
        (("--distinguish", "reno", "nosuch"), '--distinguish: "nosuch": unknown algorithm'),
        (("--distinguish", "nosuch", "reno"), '--distinguish: "nosuch": unknown algorithm'),
        (("bbr", "--points", "1"), "--points"),
        (
            ("bbr", "--confirm", "simulator"),
            '--confirm: "simulator": unknown engine; valid: testbed',
        ),
    ],
)
def test_wrong_options_are_refused(
    dumbbell: Command, arguments: tuple[str, ...], problem: str
) -> None:
    output = dumbbell("hunt", *arguments)
    assert_refused(output)
    assert problem in output.err


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"algorithm": 3}, "algorithm = 3: not a text"),
        ({"algorithm": "reno", "goal": 3}, "goal = 3: not a text"),
        ({"algorithm": "reno", "stack": None}, "not a text"),
        ({"algorithm": "reno", "where": {3: "1ms"}}, "not a mapping of texts"),
    ],
)
def test_wrong_types_are_refused(arguments: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError) as caught:
        dumbbell.hunt(**arguments)
    assert problem in str(caught.value)


def test_a_notebook_has_the_scenarios_as_a_frame(vegas_hunt: tuple[Hunted, Path]) -> None:
    hunted, results = vegas_hunt
    again = dumbbell.hunt(
        "vegas",
        against="reno",
        over=["jitter", "queue", "cross"],
        where={"rate": "20mbit", "rtt": "40ms"},
        duration="6s",
        points=9,
        runs=3,
        results=results,
    )
    frame = again.to_frame()
    assert frame.height == 9
    assert frame["regret"].is_sorted(descending=True)
    assert again.regret == hunted.course.minimal.regret if hunted.course.minimal else False
    assert again.scenario is not None
    assert "jitter" in again.scenario
    assert again.details.as_dict() == hunted.as_dict()
    assert "Confirmed on the simulator" in again.conclusion
