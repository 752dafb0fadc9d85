"""Names that a study may use, and errors for those that refer to nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dumbbell.algorithms import catalogue
from dumbbell.base.errors import InputError
from dumbbell.base.validation import validate
from dumbbell.quantities import planned, subjects
from dumbbell.quantities.derived import Derived
from dumbbell.quantities.names import Use, Vocabulary, What
from dumbbell.scenario.model import Scenario
from dumbbell.study.model import Study
from sample_runs import table as scenario_table

STUDY = """
study = { name = "named", title = "Named", authors = [], year = 2026 }

[[window]]
name = "beside"
from = "start of udp"

[scenario]
duration = "100s"
network = { rate = "12mbit", rtt = "{rtt}", queue = "1bdp" }

[[test]]
name = "pair"
title = "Two flows"
axes = { algorithm = ["reno", "htcp"], rtt = ["50ms", "100ms"], flows = ["2", "3"] }
[test.scenario]
flow = [{ algorithm = "{algorithm}", count = "{flows}", label = "page", group = "pages" }]
[[test.window]]
name = "second"
from = "start of page 2"
to = "80%"

[[test]]
name = "datagrams"
title = "Beside datagrams"
axes = { algorithm = ["reno"], rtt = ["50ms"] }
[test.scenario]
flow = [
  { algorithm = "{algorithm}", group = "stream" },
  { transport = "udp", rate = "1mbit", start = "10s", label = "udp" },
]
arrivals = [{ algorithm = "reno", rate = 5, size = "10kb", label = "web" }]
network = { rate = [{ at = "0s", rate = "12mbit" }, { at = "50s", rate = "6mbit" }] }
[[test.window]]
name = "slow"
from = "step 1"
"""
"""Windows, groups, steps and loads of two tests."""


def derived(**keys: Any) -> Derived:
    return validate(Derived, {"title": "it", **keys})


PARAMETER = catalogue.algorithm("htcp").parameters[0].name
GAIN = derived(name="growth", gain=["goodput_mbit_per_s@slow", "goodput_mbit_per_s@beside"])


@pytest.fixture(scope="module")
def vocabulary(tmp_path_factory: pytest.TempPathFactory) -> Vocabulary:
    path = tmp_path_factory.mktemp("named") / "named.toml"
    path.write_text(STUDY)
    return Vocabulary(Study.load(path).plan, [GAIN])


@pytest.mark.parametrize(
    ("what", "name", "test"),
    [
        (What.TEST, "pair", None),
        (What.AXIS, "rtt", "pair"),
        (What.VALUE, ("rtt", "0.1s"), "pair"),
        (What.SELECTION, {"rtt": ["50ms", "100ms"], "algorithm": "htcp"}, "pair"),
        (What.QUANTITY, "goodput_mbit_per_s", "pair"),
        (What.QUANTITY, "goodput_mbit_per_s[3]@second", "pair"),
        (What.QUANTITY, "jain[pages]@late", "pair"),
        (What.QUANTITY, "jain[page]@run", "pair"),
        (What.QUANTITY, "goodput_mbit_per_s[page 3]@main", "pair"),
        (What.QUANTITY, "goodput_mbit_per_s[udp]@beside", "datagrams"),
        (What.QUANTITY, "rtt_p99_ms[reno 1]@final", "datagrams"),
        (What.QUANTITY, "rtt_p99_ms[reno]@slow", "datagrams"),
        (What.QUANTITY, "latency_p99_ms[web]", "datagrams"),
        (What.QUANTITY, "jain[web]", "datagrams"),
        (What.QUANTITY, "latency_max_ms[web 2]", "datagrams"),
        (What.QUANTITY, "utilisation[forward]@run", "datagrams"),
        (What.QUANTITY, "state:alpha[1]", "pair"),
        (What.QUANTITY, "growth", "datagrams"),
        (What.COLUMN, "rtt_ms", "pair"),
        (What.COLUMN, "flows_value", "pair"),
        (What.COLUMN, "growth", "datagrams"),
        (What.COLUMN, "jain", "pair"),
        (What.SERIES, "cwnd_segs", None),
        (What.SERIES, "state:alpha", None),
        (What.FORMULA, "bdp_packets", None),
        (What.PRESET, ("htcp@li2007", [PARAMETER]), None),
        (What.PRESET, ("htcp", []), None),
    ],
)
def test_names_that_stand_for_something(
    vocabulary: Vocabulary, what: What, name: Any, test: str | None
) -> None:
    vocabulary.check(Use("key", what, name, test))


@pytest.mark.parametrize(
    ("what", "name", "test", "expected"),
    [
        (What.TEST, "pairs", None, ("k", "pairs", "pair")),
        (What.AXIS, "rrt", "pair", ("k", "rrt", "rtt")),
        (What.AXIS, "flows", "datagrams", ("k", "flows", None)),
        (What.VALUE, ("algorithm", "rneo"), "pair", ("k.algorithm", "rneo", "reno")),
        (What.VALUE, ("rrt", "50ms"), "pair", ("k", "rrt", "rtt")),
        (What.SELECTION, {"rtt": ["50ms", "10ms"]}, "pair", ("k.rtt", "10ms", "100ms")),
        (What.SELECTION, {"algoritm": "reno"}, "pair", ("k", "algoritm", "algorithm")),
        (What.QUANTITY, "utilization", "pair", ("k", "utilization", "utilisation")),
        (What.QUANTITY, "grwth", "datagrams", ("k", "grwth", "growth")),
        (What.QUANTITY, "Goodput", "pair", ("k", "Goodput", None)),
        (What.QUANTITY, "share[4]", "pair", ("k", "4", None)),
        (What.QUANTITY, "share[pags]", "pair", ("k", "pags", "pages")),
        (What.QUANTITY, "share[page 4]", "pair", ("k", "page 4", "page 3")),
        (What.QUANTITY, "share[stream]", "pair", ("k", "stream", None)),
        (What.QUANTITY, "share@secnd", "pair", ("k", "secnd", "second")),
        (What.QUANTITY, "share@second", "datagrams", ("k", "second", None)),
        (What.QUANTITY, "jain[1]", "pair", ("k", "jain[1]", None)),
        (What.QUANTITY, "queue_max_packets[forwrd]", "pair", ("k", "forwrd", "forward")),
        (What.QUANTITY, "queue_max_packets[1]", "pair", ("k", "1", None)),
        (What.QUANTITY, "state", "pair", ("k", "state", None)),
        (What.QUANTITY, "state:alhpa", "pair", ("k", "alhpa", "alpha")),
        (What.QUANTITY, "jain:alpha", "pair", ("k", "jain:alpha", None)),
        (What.QUANTITY, "growth", "pair", ("k", "growth", None)),
        (What.COLUMN, "rtt_m", "pair", ("k", "rtt_m", "rtt_ms")),
        (What.COLUMN, "share[9]", "pair", ("k", "9", None)),
        (What.COLUMN, "rtt_ms[1]", "pair", ("k", "rtt_ms[1]", None)),
        (What.SERIES, "cwnd_seg", None, ("k", "cwnd_seg", "cwnd_segs")),
        (What.SERIES, "state:alhpa", None, ("k", "state:alhpa", "state:alpha")),
        (What.FORMULA, "bdp_packet", None, ("k", "bdp_packet", "bdp_packets")),
        (
            What.CURVE,
            "sawtoth_utilisation",
            "pair",
            ("k", "sawtoth_utilisation", "sawtooth_utilisation"),
        ),
        (What.PRESET, ("htpc", []), None, ("k", "htpc", "htcp")),
        (What.PRESET, ("htcp@li2008", []), None, ("k", "htcp@li2008", "htcp@li2007")),
        (What.PRESET, ("htcp@li2007", ["bta"]), None, ("k", "bta", None)),
    ],
)
def test_names_that_stand_for_nothing(
    vocabulary: Vocabulary,
    what: What,
    name: Any,
    test: str | None,
    expected: tuple[str, str, str | None],
) -> None:
    key, value, near = expected
    with pytest.raises(InputError) as caught:
        vocabulary.check(Use("k", what, name, test))
    error = caught.value
    assert (error.key, error.value) == (key, value), error
    assert error.valid
    if near is not None:
        assert error.near == near, error


def test_a_curve_needs_the_columns_of_its_test(vocabulary: Vocabulary) -> None:
    with pytest.raises(InputError, match="the curve sawtooth_utilisation needs") as caught:
        vocabulary.check(Use("overlay.1.theory", What.CURVE, "sawtooth_utilisation", "pair"))
    assert caught.value.key == "overlay.1.theory"
    vocabulary.check(Use("overlay.1.theory", What.CURVE, "shorten_leith_ratio", "pair"))


@pytest.mark.parametrize(
    ("keys", "key", "problem"),
    [
        ({"name": "jain", "ratio": ["jain", "jain"]}, "name", "a quantity of this name"),
        ({"ratio": ["goodput", "jain"]}, "ratio.1.quantity", "unknown quantity"),
        ({"ratio": ["jain", "share[9]"]}, "ratio.2.quantity", "unknown flow or group"),
        ({"ratio": ["jain", "jain@never"]}, "ratio.2.quantity", "unknown window"),
        ({"harm": ["rtt_min_ms", "jain"]}, "harm.1.quantity", "cannot be harmed"),
        ({"gain": ["jain", {"quantity": "jain", "at": {"rrt": "50ms"}}]}, "gain.2.at", "axis"),
        (
            {"gain": ["jain", {"quantity": "jain", "at": {"rtt": "5ms"}}]},
            "gain.2.at.rtt",
            "no such value",
        ),
    ],
)
def test_derived_quantities_must_be_those_of_a_test(
    vocabulary: Vocabulary, keys: dict[str, Any], key: str, problem: str
) -> None:
    wrong = derived(**{"name": "wrong", **keys})
    with pytest.raises(InputError, match=problem) as caught:
        vocabulary.check_derived(wrong)
    assert caught.value.key == key
    vocabulary.check_derived(GAIN)


@pytest.mark.parametrize(
    ("old", "new", "key", "problem"),
    [
        ('"start of page 2"', '"start of pgae 2"', "test.1.window.1.from", "unknown flow or group"),
        ('"80%"', '"stop of udp"', "test.1.window.1.to", "unknown flow or group"),
        ('"start of udp"', '"start of upd"', "window.1.from", "unknown flow or group"),
        ('from = "step 1"', 'from = "step 2"', "test.2.window.1.from", "there are 1 steps"),
        ('from = "step 1"', 'from = "step 1 of back"', "test.2.window.1.from", "unknown link"),
        ('from = "start of page 2"', 'from = "step 1"', "test.1.window.1.from", "there are 0"),
        ('name = "second"', 'name = "late"', "test.1.window.1.name", "every test has"),
        (
            'title = "Two flows"',
            'title = "T"\nmeasure = { to = "start of x" }',
            "test.1.measure.to",
            "unknown flow or group",
        ),
    ],
)
def test_windows_refer_to_what_is_there(
    tmp_path: Path, old: str, new: str, key: str, problem: str
) -> None:
    assert STUDY.count(old) == 1
    path = tmp_path / "wrong.toml"
    path.write_text(STUDY.replace(old, new))
    with pytest.raises(InputError, match=problem) as caught:
        Study.load(path)
    assert (caught.value.key, caught.value.source) == (key, str(path))


FLOWS: list[list[dict[str, Any]]] = [
    [{"algorithm": "reno"}],
    [{"algorithm": "reno", "count": 3}, {"algorithm": "htcp@li2007"}, {"algorithm": "reno"}],
    [{"algorithm": "reno", "label": "a"}, {"algorithm": "reno"}],
    [{"algorithm": "reno", "label": "a", "count": 2, "parallel": 3, "group": "g"}],
    [{"transport": "udp", "rate": "1mbit"}, {"algorithm": "cubic", "parallel": 2}],
]


@pytest.mark.parametrize("flows", FLOWS)
def test_flows_are_expected_to_be_called_as_they_will_be(flows: list[dict[str, Any]]) -> None:
    arrivals = [
        {"algorithm": "reno", "rate": 5, "size": "10kb", "group": "loads"},
        {"algorithm": "cubic", "rate": 5, "size": "10kb", "label": "web"},
    ]
    table = {**scenario_table({"flow": flows}), "arrivals": arrivals}
    resolved = Scenario.parse(table).resolve().scenario
    blank = [type("T", (), {"end_ns": 1})] * len(resolved.flows)
    actual = subjects.flows_of(resolved, blank)  # type: ignore[arg-type]
    expected = planned.flows_of(table)
    count = sum(flow.get("count", 1) for flow in flows)

    def called(flows: Any) -> list[tuple[int, str, str | None]]:
        return [(flow.number, flow.label, flow.group) for flow in flows]

    assert called(expected)[:count] == called(actual)[:count]
    loads = {(flow.label, flow.group) for flow in expected[count:]}
    assert loads <= {(flow.label, flow.group) for flow in actual[count:]}
    assert len(loads) == 4
