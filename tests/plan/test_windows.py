"""Windows of tests: how they are written, where they lie in a run, and what they move."""

from __future__ import annotations

from typing import Any

import pytest

from dumbbell.api import simulate
from dumbbell.base.errors import InputError
from dumbbell.base.validation import validate
from dumbbell.plan.windows import (
    At,
    Event,
    NamedWindow,
    Part,
    Step,
    Window,
    parse_instant,
    parse_settling,
)
from dumbbell.quantities import taking
from dumbbell.quantities.spans import Span
from dumbbell.quantities.subjects import Absent
from dumbbell.quantities.view import RunView
from dumbbell.scenario.model import Scenario
from synthetic_runs import FlowTrace, constant, measured, planned, played

S = 10**9


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("50s", At(50 * S)),
        ("1.5ms", At(1_500_000)),
        ("80%", Part(0.8)),
        ("start of udp", Event("start", "udp")),
        ("stop of 2 + 5s", Event("stop", "2", 5 * S)),
        ("start of web page - 500ms", Event("start", "web page", -S // 2)),
        ("stop of flow 1", Event("stop", "flow 1")),
        ("step 1", Step(1)),
        ("step 2 of forward", Step(2, "forward")),
        ("step 3 + 2s", Step(3, None, 2 * S)),
        ("step 1 of hop 2 - 1s", Step(1, "hop 2", -S)),
    ],
)
def test_ends_of_windows(text: str, expected: object) -> None:
    assert parse_instant(text) == expected
    assert parse_instant(f"  {text} ") == expected


@pytest.mark.parametrize(
    "text", ["", "soon", "50", "step 0", "step x", "start of", "stop of 2 + 5", "110%", 50, None]
)
def test_other_ends_are_refused(text: object) -> None:
    with pytest.raises(InputError):
        parse_instant(text)


def test_settling_is_a_time_or_a_share() -> None:
    assert parse_settling("5s") == 5 * S
    assert parse_settling("20%") == 0.2
    assert isinstance(parse_settling("5s"), int)
    assert isinstance(parse_settling("0%"), float)
    for wrong in ("100%", "5", 5, "-1s"):
        with pytest.raises(InputError):
            parse_settling(wrong)


@pytest.mark.parametrize(
    ("keys", "key", "problem"),
    [
        ({"from": "5s", "to": "5s"}, "to", "ends before it begins"),
        ({"from": "soon"}, "from", "not a time in a run"),
        ({"settle": "200%"}, "settle", "more than the whole"),
        ({"length": "0s"}, "length", "must be more than 0"),
        ({"until": "5s"}, "until", "unknown"),
    ],
)
def test_wrong_windows_are_refused(keys: dict[str, str], key: str, problem: str) -> None:
    with pytest.raises(InputError) as caught:
        validate(Window, keys)
    assert (caught.value.key, problem in str(caught.value)) == (key, True), caught.value


def test_names_of_windows() -> None:
    assert validate(NamedWindow, {"name": "during", "from": "5s"}).name == "during"
    for name in ("run", "main", "late", "final", "During", "two words", "1st", ""):
        with pytest.raises(InputError):
            validate(NamedWindow, {"name": name})


FLOWS = (
    {"label": "bulk"},
    {"label": "a", "group": "pair", "start": "20s", "stop": "60s"},
    {"label": "b", "group": "pair", "start": "30s", "stop": "70s"},
    {"label": "udp", "transport": "udp", "rate": "1mbit", "start": "40s", "stop": "50s"},
)


def spans(
    windows: dict[str, dict[str, str]], **changes: Any
) -> dict[str, tuple[float, ...] | None]:
    """Return begin and end in s of the windows of a run of 100 s with samples every 500 ms."""
    plan = planned(**{"flows": FLOWS, "windows": windows, **changes})
    traces = [constant(100)] * len(plan.resolved.scenario.flows)
    view = RunView(played(plan, traces), plan.windows, plan.settings)
    by_name = {name: view.span(name) for name in ("main", "run", "late", "final", *windows)}
    return {
        name: None if span is None else (span.start_ns / S, span.end_ns / S)
        for name, span in by_name.items()
    }


def window(**keys: str) -> tuple[float, ...] | None:
    """Return where a window lies."""
    named = {key.rstrip("_"): value for key, value in keys.items()}
    return spans({"here": named})["here"]


def test_the_windows_that_every_test_has() -> None:
    """The main one begins with the last flow over TCP that is sampled, whatever datagrams do."""
    windows = spans({})
    assert windows["main"] == (30, 100)
    assert windows["run"] == (0, 100)
    assert windows["late"] == (65, 100)
    assert windows["final"] == (86, 100)


def test_late_and_final_are_parts_of_the_main_window() -> None:
    windows = spans({"main": {"from": "20s", "to": "60s"}})
    assert (windows["main"], windows["late"], windows["final"]) == ((20, 60), (40, 60), (52, 60))


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"from_": "10s", "to": "20s"}, (10, 20)),
        ({"from_": "10.2s", "to": "20.2s"}, (10.5, 20)),
        ({"to": "50s"}, (30, 50)),
        ({"from_": "90s"}, (90, 100)),
        ({"from_": "50%"}, (65, 100)),
        ({"from_": "0%", "to": "10%"}, (30, 37)),
        ({"from_": "start of udp", "to": "stop of udp"}, (40, 50)),
        ({"to": "start of udp", "from_": "10s"}, (10, 40)),
        ({"from_": "stop of udp + 5s"}, (55, 100)),
        ({"from_": "start of udp - 5s"}, (35, 100)),
        ({"from_": "start of 1 - 5s"}, (0.5, 100)),
        ({"from_": "start of 2"}, (20, 100)),
        # Of several flows, what makes the window the narrower.
        ({"from_": "start of pair", "to": "stop of pair"}, (30, 60)),
        ({"from_": "stop of pair"}, (70, 100)),
        ({"to": "start of pair", "from_": "0s"}, (0.5, 20)),
        ({"from_": "stop of bulk"}, None),
        ({"from_": "stop of bulk - 10s"}, (90, 100)),
        ({"from_": "start of udp", "length": "20s"}, (40, 60)),
        ({"from_": "start of udp", "to": "stop of udp", "length": "20s"}, (40, 50)),
        ({"from_": "start of udp", "to": "50s", "settle": "2s"}, (42, 50)),
        ({"from_": "start of udp", "to": "50s", "settle": "20%"}, (42, 50)),
        ({"from_": "start of udp", "length": "20s", "settle": "5s"}, (45, 60)),
        ({"from_": "start of udp", "to": "stop of udp", "settle": "10s"}, None),
        ({"from_": "start of udp", "to": "stop of udp", "settle": "9.8s"}, None),
        ({"from_": "70s", "to": "start of udp"}, None),
        ({"from_": "10s", "to": "1000s"}, (10, 100)),
    ],
)
def test_where_a_window_lies(keys: dict[str, str], expected: tuple[float, ...] | None) -> None:
    assert window(**keys) == expected


def test_settling_counts_once() -> None:
    windows = spans({"main": {"from": "0s", "settle": "50%"}}, interval="10s")
    # Samples are from 10 s on: half of 90 s later is 55 s, and the next sample is at 60 s.
    assert windows["main"] == (60, 100)
    assert spans({"main": {"from": "0s", "settle": "50s"}})["main"] == (50, 100)


def test_a_start_between_samples_is_rounded_up() -> None:
    """Counters are exact only at samples, so the window starts at the next one."""
    late = FlowTrace(lambda time_s: 0 if time_s <= 5 else 100)
    values = measured(planned(start_s=50.2, interval="5s"), constant(100), late)
    # Flow 2 idles until 55.2 s: its sample at 55 s still reads 0, from 60 s on it sends.
    assert values["throughput_mbit_per_s[2]"] == pytest.approx(100 * 12e-3)


def test_length_and_settling_limit_the_window() -> None:
    rising = FlowTrace(lambda time_s: 10 if time_s <= 40 else 1000)
    short = planned(windows={"main": {"length": "40s"}})
    assert measured(short, rising, constant(10))["ratio_min_max"] == pytest.approx(1)
    settling = planned(windows={"main": {"settle": "50%"}})
    assert measured(settling, rising, constant(1000))["ratio_min_max"] == pytest.approx(1)


def test_every_quantity_is_that_of_its_window() -> None:
    burst = FlowTrace(lambda time_s: 500 if 40 < time_s <= 50 else 100)
    plan = planned(
        flows=FLOWS,
        windows={"during": {"from": "start of udp", "to": "stop of udp"}},
    )
    values = measured(plan, burst, constant(0), constant(0), constant(0))
    assert values["throughput_mbit_per_s[bulk]@during"] == pytest.approx(500 * 12e-3)
    assert values["throughput_mbit_per_s[bulk]"] == pytest.approx((500 + 6 * 100) / 7 * 12e-3)


STEPS = {
    "rtt": "20ms",
    "queue": "1bdp",
    "rate": [
        {"at": "0s", "rate": "10mbit"},
        {"at": "3s", "rate": "5mbit"},
        {"at": "6s", "rate": "10mbit"},
    ],
}


def stepping(**keys: str) -> Span | None:
    table = {"duration": "10s", "network": STEPS, "flow": [{"algorithm": "reno"}]}
    view = RunView(
        simulate(Scenario.parse(table)), {"main": Window(), "here": Window.model_validate(keys)}, {}
    )
    return view.span("here")


def test_a_change_of_the_rate_is_a_step() -> None:
    assert stepping(**{"from": "step 1", "to": "step 2"}) == Span(3 * S, 6 * S)
    assert stepping(**{"from": "step 2 of forward + 1s"}) == Span(7 * S, 10 * S)
    with pytest.raises(Absent, match="there are 2 steps"):
        stepping(**{"from": "step 3"})
    with pytest.raises(Absent) as refused:
        stepping(**{"from": "step 1 of foward"})
    assert refused.value.near == "forward"


def test_a_transfer_stops_when_it_is_complete() -> None:
    table = {
        "duration": "10s",
        "network": {"rate": "20mbit", "rtt": "20ms", "queue": "1bdp"},
        "flow": [{"algorithm": "reno", "bytes": "1mb", "label": "file"}, {"algorithm": "reno"}],
        "record": {"interval": "10ms"},
    }
    run = simulate(Scenario.parse(table))
    after = Window.model_validate({"from": "stop of file"})
    span = RunView(run, {"main": Window(), "after": after}, {}).span("after")
    assert span is not None
    assert 0 <= span.start_ns - run.summary.flows[0].end_ns < 10**7
    assert run.summary.flows[0].end_ns < 5 * S
    alone = taking.of_run(run, ["utilisation@after", "jain@after"], {"after": after})
    assert alone["jain@after"] == 1
    assert alone["utilisation@after"] is not None
    assert alone["utilisation@after"] > 0.9


@pytest.mark.parametrize("sampled", [True, False])
def test_datagrams_move_no_main_window(sampled: bool) -> None:
    """The first ten seconds are those before the datagrams, not those with them."""
    table = {
        "duration": "30s",
        "network": {"rate": "50mbit", "rtt": "20ms", "queue": "1bdp", "jitter": "100us"},
        "flow": [
            {"algorithm": "cubic"},
            {
                "transport": "udp",
                "rate": "10mbit",
                "start": "10s",
                "stop": "20s",
                "label": "udp",
                "sampled": sampled,
            },
        ],
    }
    run = simulate(Scenario.parse(table))
    windows = {
        "main": Window.model_validate({"length": "10s"}),
        "beside": Window.model_validate({"from": "start of udp", "to": "stop of udp"}),
    }
    values = taking.of_run(run, ["goodput_mbit_per_s", "goodput_mbit_per_s@beside"], windows)
    assert values["goodput_mbit_per_s"] == pytest.approx(48.2, abs=0.2)
    assert values["goodput_mbit_per_s@beside"] == pytest.approx(38.6, abs=0.2)
