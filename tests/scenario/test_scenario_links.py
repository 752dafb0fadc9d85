"""Links of a scenario: rates and delays that change, traces, loss and the like."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dumbbell.base.errors import InputError
from dumbbell.contract.scenario import (
    Bernoulli,
    Fifo,
    Limit,
    LinkConfig,
    QueueConfig,
    RateConfig,
    TraceConfig,
)
from dumbbell.scenario import facts
from dumbbell.scenario.model import Scenario
from sample_runs import links, passed, plain_links, resolved, table
from scenario_checks import assert_accepted
from scenario_refusals import assert_refused

S = 10**9


def link_of(changes: dict[str, Any], name: str = "forward") -> dict[str, Any]:
    run = resolved(changes)
    assert_accepted(run)
    return plain_links(run)[name]


def test_a_rate_may_change() -> None:
    steps = [
        {"at": "0s", "rate": "100mbit"},
        {"at": "20s", "rate": "0bit"},
        {"at": "30s", "rate": "200mbit"},
    ]
    link = link_of({"network.rate": steps, "network.queue": "1ms"})
    assert link["rate"] == {"steps": [[0, 10**8], [20 * S, 0], [30 * S, 2 * 10**8]]}
    # A queue in time refers to the highest rate: 200 Mbit/s carry 16.7 packets in a millisecond.
    assert link["queue"]["limit"] == {"packets": 16}
    typed = links(resolved({"network.rate": steps}))["forward"]
    # 20 s at 100 and 30 s at 200 Mbit/s of 60 s.
    assert facts.mean_rate_bps(typed, 0, 60 * S) == pytest.approx(8e9 / 60)
    # 10 s at 100, 10 s without and 10 s at 200 Mbit/s.
    assert facts.mean_rate_bps(typed, 10 * S, 40 * S) == pytest.approx(1e8)
    assert link_of({"network.rate": steps}, "reverse")["rate"] == link["rate"]


def test_a_delay_may_change_and_the_rtt_is_that_of_the_beginning() -> None:
    steps = [{"at": "0s", "delay": "10ms"}, {"at": "5s", "delay": "1ms"}]
    run = resolved({"network.delay": steps, "network.reverse": {"delay": "20ms"}})
    assert links(run)["forward"].delay == ((0, 10_000_000), (5 * S, 1_000_000))
    assert links(run)["reverse"].delay == ((0, 20_000_000),)
    assert facts.base_rtt_ns(run.scenario, run.scenario.flows[0]) == 82_000_000


def test_loss_may_change() -> None:
    steps = [{"at": "0s", "probability": 0}, {"at": "5s", "probability": "1%"}]
    link = link_of({"network.loss": [{"place": "bottleneck", "probability": steps}]})
    assert link["loss"] == [{"kind": "bernoulli", "probability": [[0, 0.0], [5 * S, 0.01]]}]


def test_everything_may_be_lost_for_a_while() -> None:
    steps = [{"at": "0s", "probability": 1}, {"at": "5s", "probability": 0}]
    link = link_of({"network.loss": [{"place": "bottleneck", "probability": steps}]})
    assert link["loss"] == [{"kind": "bernoulli", "probability": [[0, 1.0], [5 * S, 0.0]]}]


def test_a_trace_of_delays_begins_again_at_its_end(tmp_path: Path) -> None:
    (tmp_path / "delay.txt").write_text("10  # a comment\n# another\n10\n2.5\n\n")
    trace = {"trace": str(tmp_path / "delay.txt"), "interval": "1s"}
    run = resolved({"network.delay": trace, "network.reverse": {"delay": "1ms"}, "duration": "8s"})
    assert_accepted(run)
    long, short = 10_000_000, 2_500_000
    expected = ((0, long), (2 * S, short), (3 * S, long), (5 * S, short), (6 * S, long))
    assert links(run)["forward"].delay == expected
    assert facts.base_rtt_ns(run.scenario, run.scenario.flows[0]) == 82_000_000


def test_a_trace_of_losses_begins_again_at_its_end(tmp_path: Path) -> None:
    (tmp_path / "loss.txt").write_text("0\n100%\n")
    trace = {"trace": str(tmp_path / "loss.txt"), "interval": "1s"}
    changes = {"network.loss": [{"place": "bottleneck", "probability": trace}], "duration": "3s"}
    assert_accepted(resolved(changes))
    assert link_of(changes)["loss"] == [
        {"kind": "bernoulli", "probability": [[0, 0.0], [S, 1.0], [2 * S, 0.0]]}
    ]


@pytest.mark.parametrize(
    ("key", "content", "problem"),
    [
        ("delay", "5\n-1\n", "not a value in line 2"),
        ("delay", "5ms\n", "not a value in line 1"),
        ("delay", "86400001\n", "not a value in line 1"),
        ("delay", "# nothing\n", "empty"),
        ("delay", "5\n \n\n6\n", "a blank line before a value in line 2 of"),
        ("loss", "\n0\n", "a blank line before a value in line 1 of"),
        ("loss", "0\n1.5\n", "not a value in line 2"),
        ("loss", "1\n100%\n", "nothing ever passes"),
    ],
)
def test_a_wrong_trace_of_values_is_refused(
    key: str, content: str, problem: str, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text(content)
    trace = {"trace": str(tmp_path / "a.txt"), "interval": "10ms"}
    if key == "loss":
        data = table({"network.loss": [{"place": "receiver", "probability": trace}]})
        assert_refused(data, "network.loss.1.probability.trace", problem)
    else:
        assert_refused(table({"network.delay": trace}), "network.delay.trace", problem)


PATH = """KEEP,LATENCY,RATE,LOSS,LIMIT,ROUTE_ID
1000,2000000,8000000,0,10,1
3000,1000000,4000000,4294967295,10,{}
"""


@pytest.mark.parametrize(
    ("key", "content"),
    [
        ("rate", "1\n2\n10\n"),
        ("rate", PATH.format(2)),
        ("delay", "1\n2.5\n3\n"),
        ("delay", PATH.format(2)),
    ],
)
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("\n", "\r\n"),
        ("\n", "  # a comment\n"),
        ("\n", "\n  # a comment\n"),
        ("", "# a comment\n"),
        ("", "\ufeff"),
    ],
)
def test_a_trace_may_have_comments_and_be_of_windows(
    key: str, content: str, old: str, new: str, tmp_path: Path
) -> None:
    def read(text: str) -> dict[str, Any]:
        (tmp_path / "trace").write_bytes(text.encode())
        interval = {"interval": "1s"} if key == "delay" and "KEEP" not in text else {}
        trace = {"trace": str(tmp_path / "trace"), **interval}
        return link_of({f"network.{key}": trace, "network.queue": "9p", "duration": "8ms"})

    written = content.replace(old, new) if old else new + content
    assert read(written) == read(content)
    assert read(written.rstrip() + "\n\n") == read(content)


@pytest.mark.parametrize("key", ["rate", "delay"])
def test_a_blank_line_moves_no_value_that_has_its_own_time(key: str, tmp_path: Path) -> None:
    def read(text: str) -> dict[str, Any]:
        (tmp_path / "trace").write_text(text)
        trace = {"trace": str(tmp_path / "trace")}
        return link_of({f"network.{key}": trace, "network.queue": "9p", "duration": "8ms"})

    text = PATH.format(2)
    assert read(text.replace("\n", "\n \t\n")) == read("\n" + text) == read(text)


def test_a_trace_of_too_many_values_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("0.5\n")
    trace = {"trace": str(tmp_path / "a.txt"), "interval": "1us"}
    for change, key in (
        ({"network.delay": trace}, "network.delay"),
        (
            {"network.loss": [{"place": "receiver", "probability": trace}]},
            "network.loss.1.probability",
        ),
    ):
        with pytest.raises(InputError, match="takes 600,000,000 lines") as caught:
            resolved({**change, "duration": "600s"})
        assert caught.value.key == f"{key}.interval"


def test_a_token_bucket_is_a_rate() -> None:
    bucket = {"rate": "50mbit", "burst": "64kb", "peak": "1gbit"}
    link = link_of({"network.rate": bucket, "network.queue": "1ms"})
    resolved_bucket = {"rate_bps": 50_000_000, "burst_bytes": 64_000, "peak_bps": 10**9}
    assert link["rate"] == {"token_bucket": resolved_bucket}
    assert link["queue"]["limit"] == {"packets": 4}
    del bucket["peak"]
    assert link_of({"network.rate": bucket})["rate"]["token_bucket"]["peak_bps"] is None


def test_a_trace_is_read_beside_the_scenario(tmp_path: Path) -> None:
    (tmp_path / "up.trace").write_text("# a comment\n1\n1\n\n10\n")
    data = table({"network.rate": {"trace": "up.trace"}, "network.queue": "1s"})
    scenario = Scenario.parse(data, str(tmp_path / "a.toml"))
    link = links(scenario.resolve())["forward"]
    times_ns = (1_000_000, 1_000_000, 10_000_000)
    trace = TraceConfig(times_ns=times_ns, period_ns=10_000_000, bytes=1504)
    assert link.rate == RateConfig(trace=trace)
    # 3 * 1504 bytes in 10 ms are 3.6 Mbit/s, which is 300 packets of 1500 bytes in a second.
    assert link.queue.limit == Limit(packets=300)
    assert facts.mean_rate_bps(link, 0, S) == pytest.approx(3_609_600)
    # From 5 to 15 ms there are three chances: at 10 ms, and two at 11 ms.
    assert facts.mean_rate_bps(link, 5_000_000, 15_000_000) == pytest.approx(3_609_600)
    assert_accepted(scenario.resolve())
    assert Scenario.parse(scenario.model_dump(), "elsewhere.toml") == scenario


def test_a_trace_is_read_from_the_folder_of_a_study(tmp_path: Path) -> None:
    (tmp_path / "up.trace").write_text("1\n")
    data = table({"network.rate": {"trace": "up.trace"}, "network.queue": "9p"})
    scenario = Scenario.parse(data, str(tmp_path))
    rate = links(scenario.resolve())["forward"].rate
    assert rate is not None
    assert rate.trace == TraceConfig(times_ns=(1_000_000,), period_ns=1_000_000, bytes=1504)


def test_what_a_trace_says_is_part_of_the_key(tmp_path: Path) -> None:
    path = tmp_path / "up.trace"
    keys = set()
    for content in ("1\n2\n", "2\n2\n"):
        path.write_text(content)
        keys.add(resolved({"network.rate": {"trace": str(path)}}).key)
    assert len(keys) == 2


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("1\nx\n", "not a time in line 2"),
        ("1.5\n", "not a time in line 1"),
        ("-1\n", "not a time in line 1"),
        ("5\n4\n", "earlier than the line before it in line 2"),
        ("", "the last line of a trace is its period"),
        ("0\n", "the last line of a trace is its period"),
        ("9" * 30, "not a time in line 1"),
        ("1\n" * 1_000_001, "a mean rate of 12.032012032tbit"),
        (b"\xff\xfe", "cannot read it: not UTF-8 text at byte 0"),
        (None, "cannot read it: No such file"),
    ],
)
def test_a_wrong_trace_is_refused(
    tmp_path: Path, content: str | bytes | None, problem: str
) -> None:
    path = tmp_path / "up.trace"
    if isinstance(content, str):
        path.write_text(content)
    elif content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        Scenario.parse(table({"network.rate": {"trace": "up.trace"}}), str(tmp_path / "a.toml"))
    assert caught.value.key == "network.rate.trace"
    assert problem in caught.value.problem
    assert path.name in f"{caught.value.problem} {caught.value.value}"
    assert caught.value.valid


def test_misbehaviour_of_each_direction() -> None:
    changes = {
        "network.policer": {"rate": "50mbit", "burst": "30kb"},
        "network.duplicate": "1%",
        "network.reorder": {"probability": 0.01, "delay": "1ms"},
        "network.jitter": "10us",
        "network.reverse": {"batch": "2ms"},
    }
    by_name = plain_links(resolved(changes))
    forward, reverse = by_name["forward"], by_name["reverse"]
    assert forward["policer"] == {"rate_bps": 50_000_000, "burst_bytes": 30_000}
    assert forward["reorder"] == {"probability": 0.01, "delay_ns": 1_000_000}
    assert (forward["duplicate"], forward["jitter_ns"], forward["batch_ns"]) == (0.01, 10_000, 0)
    assert (reverse["duplicate"], reverse["jitter_ns"]) == (0.0, 0)
    assert (reverse["policer"], reverse["reorder"], reverse["batch_ns"]) == (None, None, 2_000_000)


def test_places_of_loss() -> None:
    def lossy(place: str) -> dict[str, list[str]]:
        loss = [{"place": place, "probability": 0.1}]
        run = resolved({"network.loss": loss, "network.edge_jitter": "0s", "flow.1.count": 2})
        assert_accepted(run)
        hit = {name for name, link in links(run).items() if link.loss}
        ways = [passed(run, f"reno {number}") for number in (1, 2)]
        return {name: [" ".join(way) for way in ways if name in way] for name in sorted(hit)}

    assert lossy("bottleneck") == {"forward": ["forward", "forward"]}
    assert lossy("reverse") == {"reverse": []}
    assert lossy("sender") == {"edge 1": ["edge 1 forward"], "edge 2": ["edge 2 forward"]}
    assert lossy("receiver") == {
        "receiver 1": ["forward receiver 1"],
        "receiver 2": ["forward receiver 2"],
    }


def test_links_exist_only_where_something_happens() -> None:
    assert list(links(resolved())) == ["forward", "reverse"]
    assert list(links(resolved({"network.edge_jitter": "1us"}))) == ["forward", "reverse", "edge 1"]
    open_queue = {"network.edge_rate": "1gbit", "network.edge_queue": "unlimited"}
    edge = links(resolved(open_queue))["edge 1"]
    assert edge.queue == QueueConfig(limit=None, discipline=Fifo())
    assert edge.interface
    assert not edge.sampled


def test_bursts_of_loss() -> None:
    burst = {"to_bad": 1e-4, "to_good": "10%"}
    link = link_of({"network.loss": [{"place": "bottleneck", "gilbert_elliott": burst}]})
    probabilities = {"to_bad": 1e-4, "to_good": 0.1, "loss_good": 0.0, "loss_bad": 1.0}
    assert link["loss"] == [{"kind": "gilbert-elliott", **probabilities}]


def test_bursts_of_loss_in_time() -> None:
    burst = {"mean_good": "2s", "mean_bad": "50ms", "loss_bad": "90%"}
    changes = {"network.loss": [{"place": "bottleneck", "bursts": burst}]}
    assert_accepted(resolved(changes))
    means = {"mean_good_ns": 2 * S, "mean_bad_ns": 50_000_000}
    assert link_of(changes)["loss"] == [
        {"kind": "bursts", **means, "loss_good": 0.0, "loss_bad": 0.9}
    ]


def test_losses_by_wrong_bits() -> None:
    changes = {"network.loss": [{"place": "bottleneck", "bit_errors": 1e-9}]}
    assert_accepted(resolved(changes))
    assert link_of(changes)["loss"] == [{"kind": "bit-errors", "probability": 1e-9}]


def test_correlated_losses_are_a_chain_of_two_states() -> None:
    loss = {"place": "bottleneck", "probability": 0.1, "correlation": 0.25}
    (chain,) = link_of({"network.loss": [loss]})["loss"]
    assert chain["kind"] == "gilbert-elliott"
    to_bad, to_good = chain["to_bad"], chain["to_good"]
    assert to_bad / (to_bad + to_good) == pytest.approx(0.1)
    # The autocorrelation at lag one of a chain of two states.
    assert 1 - to_bad - to_good == pytest.approx(0.25)
    assert (chain["loss_good"], chain["loss_bad"]) == (0, 1)


@pytest.mark.parametrize(
    "loss",
    [
        {"bit_errors": 0},
        {"bursts": {"mean_good": "1s", "mean_bad": "1s", "loss_bad": 0}},
        {"probability": 0, "correlation": 0.5},
    ],
)
def test_a_loss_that_never_happens_is_left_out(loss: dict[str, Any]) -> None:
    assert link_of({"network.loss": [{"place": "bottleneck", **loss}]})["loss"] == []


def test_chosen_segments_are_lost() -> None:
    drops = [{"flow": "reno 2", "number": 7, "times": 3}, {"flow": "reno 1", "number": 9}]
    changes = {
        "flow.1.count": 3,
        "network.edge_jitter": "0s",
        "network.loss": [
            {"place": "bottleneck", "drops": drops},
            {"place": "receiver", "drops": drops[:1]},
        ],
    }
    run = resolved(changes)
    assert_accepted(run)
    both = [{"flow": 1, "number": 7, "times": 3}, {"flow": 0, "number": 9, "times": 1}]
    assert plain_links(run)["forward"]["loss"] == [{"kind": "scripted", "drops": both}]
    assert plain_links(run)["receiver 2"]["loss"] == [{"kind": "scripted", "drops": both[:1]}]
    assert set(links(run)) == {"forward", "reverse", "receiver 2"}


def test_several_kinds_of_loss_at_one_place() -> None:
    loss = [
        {"place": "bottleneck", "probability": 0.1},
        {"place": "bottleneck", "drops": [{"flow": "reno 1", "number": 0}]},
    ]
    kinds = [loss["kind"] for loss in link_of({"network.loss": loss})["loss"]]
    assert kinds == ["bernoulli", "scripted"]


GILBERT = {"to_bad": 0.1, "to_good": 0.1}
BOTTLENECK = {"place": "bottleneck"}


@pytest.mark.parametrize(
    ("path", "value", "key", "problem"),
    [
        ("rate", [], "rate", "empty"),
        ("rate", ["1mbit"], "rate.1", "not a table"),
        ("rate", [{"at": "1s", "rate": "1mbit"}], "rate.1.at", "for the beginning"),
        ("rate", [{"at": "0s", "rate": "0bit"}], "rate", "nothing ever departs"),
        ("rate", [{"at": "0s", "rate": "1bps"}], "rate.1.rate", "unknown unit"),
        ("rate", [{"at": "0s"}], "rate.1.rate", "is missing"),
        ("rate", [{"at": "0s", "rate": "1mbit"}] * 2, "rate.2.at", "not after the entry before"),
        ("rate", {"rate": "1mbit"}, "rate.burst", "is missing"),
        ("rate", {"rate": "1mbit", "burst": "1kb"}, "rate.burst", "smaller than one packet"),
        ("rate", {"rate": "9mbit", "burst": "9kb", "peak": "1mbit"}, "rate.peak", "less than"),
        ("rate", {"tarce": "x"}, "rate.rate", "is missing"),
        ("delay", [{"at": "1s", "delay": "1ms"}], "delay.1.at", "for the beginning"),
        ("delay", [{"at": "0s", "delay": "50ms"}], "rtt", "smaller than the delay"),
        ("reverse", {"delay": "83ms"}, "rtt", "smaller than the delay"),
        ("policer", {"rate": "1mbit", "burst": "1kb"}, "policer.burst", "smaller than one packet"),
        ("reverse", {"policer": {"rate": "1mbit"}}, "reverse.policer.burst", "is missing"),
        ("reorder", {"probability": 1, "delay": "1ms"}, "reorder.probability", "1 or more"),
        ("reorder", {"probability": 0.1, "delay": "0s"}, "reorder.delay", "more than 0"),
        ("duplicate", 1, "duplicate", "1 or more"),
        ("loss", [BOTTLENECK], "loss.1.probability", "is missing"),
        (
            "loss",
            [{**BOTTLENECK, "probability": 0.1, "gilbert_elliott": GILBERT}],
            "loss.1.gilbert_elliott",
            "more than one model",
        ),
        ("loss", [{**BOTTLENECK, "drops": []}], "loss.1.drops", "empty"),
        (
            "loss",
            [{**BOTTLENECK, "gilbert_elliott": {"to_bad": 0.1, "to_good": 0}}],
            "loss.1.gilbert_elliott.to_good",
            "never ends",
        ),
        (
            "loss",
            [{**BOTTLENECK, "gilbert_elliott": {**GILBERT, "loss_good": 1}}],
            "loss.1.gilbert_elliott.loss_good",
            "lets nothing through",
        ),
        (
            "loss",
            [{**BOTTLENECK, "drops": [{"flow": "reno 2", "number": 1}]}],
            "loss.1.drops.1.flow",
            "no flow has this label",
        ),
        (
            "loss",
            [{"place": "reverse", "drops": [{"flow": "reno 1", "number": 1}]}],
            "loss.1.drops.1.flow",
            "does not pass here",
        ),
        (
            "loss",
            [{**BOTTLENECK, "drops": [{"flow": "reno 1", "number": 2**63}]}],
            "loss.1.drops.1.number",
            "too large",
        ),
        (
            "loss",
            [{**BOTTLENECK, "probability": [{"at": "0s", "probability": 1.5}]}],
            "loss.1.probability.1.probability",
            "more than the whole",
        ),
        (
            "loss",
            [{**BOTTLENECK, "probability": [{"at": "0s", "probability": 1}]}],
            "loss.1.probability",
            "nothing ever passes",
        ),
        (
            "loss",
            [{**BOTTLENECK, "bursts": {"mean_good": "1s", "mean_bad": "999ns"}}],
            "loss.1.bursts.mean_bad",
            "too short",
        ),
        (
            "loss",
            [{**BOTTLENECK, "bursts": {"mean_good": "1s", "mean_bad": "1s", "loss_good": 1}}],
            "loss.1.bursts.loss_good",
            "lets nothing through",
        ),
        ("loss", [{**BOTTLENECK, "bit_errors": 1}], "loss.1.bit_errors", "1 or more"),
        (
            "loss",
            [{**BOTTLENECK, "gilbert_elliott": GILBERT, "correlation": 0.5}],
            "loss.1.correlation",
            "needs a constant probability",
        ),
        (
            "loss",
            [{**BOTTLENECK, "probability": 0.5, "correlation": 1}],
            "loss.1.correlation",
            "would never end",
        ),
    ],
)
def test_a_wrong_link_is_refused(path: str, value: Any, key: str, problem: str) -> None:
    assert_refused(table({f"network.{path}": value}), f"network.{key}", problem)


def test_a_trace_of_a_path_gives_rate_delay_losses_and_routes(tmp_path: Path) -> None:
    trace = {"trace": "leo.csv"}
    loss = [{"place": "bottleneck", "probability": trace}]
    keys = {"network.rate": trace, "network.delay": trace, "network.loss": loss}
    data = table({**keys, "network.queue": "1s", "duration": "6ms"})

    def link(route: int) -> LinkConfig:
        (tmp_path / "leo.csv").write_text(PATH.format(route))
        scenario = Scenario.parse(data, str(tmp_path / "a.toml")).resolve()
        assert_accepted(scenario)
        return links(scenario)["forward"]

    ms = 1_000_000
    assert link(2).rate == RateConfig(
        steps=((0, 8 * ms), (ms, 4 * ms), (4 * ms, 8 * ms), (5 * ms, 4 * ms))
    )
    assert link(2).delay == ((0, 2 * ms), (ms, ms), (4 * ms, 2 * ms), (5 * ms, ms))
    assert link(2).route == ((0, 1), (ms, 2), (4 * ms, 1), (5 * ms, 2))
    assert link(1).route is None
    # 1 ms of 8 and 3 ms of 4 Mbit/s are 5 Mbit/s: 416 packets in a second.
    assert link(1).queue.limit == Limit(packets=416)
    assert links(Scenario.parse(data, str(tmp_path)).resolve())["forward"].loss[0] == Bernoulli(
        probability=((0, 0.0), (ms, 1.0), (4 * ms, 0.0), (5 * ms, 1.0))
    )


@pytest.mark.parametrize(
    ("key", "trace", "content", "problem"),
    [
        ("delay.interval", {"interval": "10ms"}, PATH.format(1), "has its own times"),
        ("delay.interval", {}, "1\n", "is missing"),
        ("delay.trace", {}, PATH.format("x"), "ROUTE_ID is no whole number"),
        ("delay.trace", {}, PATH.format(1).replace("3000,", "0,"), "KEEP is 0"),
        ("delay.trace", {}, PATH.format(1).split("\n")[0], "has no line of values"),
        ("rate.trace", {}, PATH.format(1).replace("4000000", "0"), "a RATE of 0 is no limit"),
    ],
)
def test_a_wrong_trace_of_a_path_is_refused(
    key: str, trace: dict[str, str], content: str, problem: str, tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_text(content)
    named = {"trace": str(tmp_path / "a.csv"), **trace}
    data = table({f"network.{key.partition('.')[0]}": named})
    assert_refused(data, f"network.{key}", problem)


def test_a_delay_may_take_another_route() -> None:
    steps: list[dict[str, Any]] = [
        {"at": "0s", "delay": "3ms"},
        {"at": "1s", "delay": "1ms", "route": 4},
    ]
    assert link_of({"network.delay": steps})["route"] == [[0, 0], [10**9, 4]]
    del steps[1]["route"]
    assert "route" not in link_of({"network.delay": steps})


def test_a_jitter_may_have_a_distribution_and_a_link_a_limit(tmp_path: Path) -> None:
    jitter: dict[str, Any] = {"mean": "2ms", "deviation": "1ms"}
    link = link_of({"network.jitter": jitter, "network.holds": "9p"})
    assert link["variation"] == {
        "mean_ns": 2_000_000, "deviation_ns": 1_000_000, "distribution": "normal",
        "overtaken": False,
    }  # fmt: skip
    assert (link["jitter_ns"], link["holds"]) == (0, 9)
    assert {"variation", "holds"} & set(link_of({"network.jitter": "1ms"})) == set()
    (tmp_path / "a.dist").write_text("-8192 0\n4096 # more\n")
    jitter["distribution"] = {"table": str(tmp_path / "a.dist")}
    assert link_of({"network.jitter": jitter})["variation"]["distribution"] == {
        "table": [-8192, 0, 4096]
    }


@pytest.mark.parametrize(
    ("jitter", "key", "problem"),
    [
        ({"mean": "1ms"}, "deviation", "is missing"),
        ({"mean": "1ms", "deviation": "0s"}, "deviation", "must be more than 0"),
        (
            {"mean": "1ms", "deviation": "1ms", "distribution": "weibull"},
            "distribution",
            "not a known value",
        ),
        ("1 32768", "distribution.table", "not a number of a table in line 1"),
        ("1 2.5", "distribution.table", "not a number of a table in line 1"),
        ("# none", "distribution.table", "0 numbers"),
        ("0 0", "distribution.table", "never varies"),
        ("1 " * 16_385, "distribution.table", "16385 numbers"),
    ],
)
def test_a_wrong_distribution_is_refused(
    jitter: dict[str, str] | str, key: str, problem: str, tmp_path: Path
) -> None:
    given: dict[str, Any] = {}
    if isinstance(jitter, str):
        (tmp_path / "a.dist").write_text(jitter)
        given = {"mean": "1ms", "deviation": "1ms"}
        given["distribution"] = {"table": str(tmp_path / "a.dist")}
    data = table({"network.jitter": given or jitter})
    assert_refused(data, f"network.jitter.{key}", problem)
