"""Fidelity checks: each can fail, and the command prints the result."""

from __future__ import annotations

import dataclasses
import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from fidelity import measures, running, steps, table
from fidelity.__main__ import app
from fidelity.check import EXACT, Band, Check, about, within
from fidelity.checks import all_checks
from fidelity.checks.tables import EVERY_SEGMENT, flow, scenario
from fidelity.running import Verdict
from inline_snapshot import snapshot

from dumbbell.cli import commands
from dumbbell.contract.summary import Summary
from dumbbell.engines.engine import SimulatorEngine
from dumbbell.engines.result import Run
from dumbbell.scenario.changes import Change, changed
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve import ResolvedScenario
from sample_runs import QuickEngine, blank, output, resolved

CHECKS = {check.name: check for check in all_checks()}


def test_every_check_says_what_it_is() -> None:
    assert len(CHECKS) == len(all_checks())
    for check in all_checks():
        assert check.oracle
        assert check.why, check.name
        assert check.scenarios
        # Random arrivals take long to draw; they are drawn where a wrong network is tried.
        assert all(
            "arrivals" in table or Scenario.parse(table, str(running.SOURCE))
            for table in check.scenarios[:1]
        )
    assert len(set(SUBJECT_OF)) == len(SUBJECT_OF)


def _dead(check: Check) -> list[Run]:
    """Return runs in which nothing arrived."""
    finished = output(resolved(), rows=0)
    run = Run.of(resolved(), dataclasses.replace(finished, summary=blank(Summary)))
    return [run] * len(check.scenarios)


def test_a_network_that_carries_nothing_fails_even_where_nothing_is_expected() -> None:
    check = CHECKS["packets unaccounted for, five hops with reverse traffic"]
    dead = _dead(check)
    assert check.band.holds(check.measure(dead), check.expects())
    judged = running.judge(check, dead)
    assert judged.verdict == Verdict.OUTSIDE
    assert judged.remark == snapshot("no packet arrived")


def test_every_check_fails_beyond_its_band() -> None:
    for check in all_checks():
        # What costs time to expect is expected only in the command's own run.
        expected = float(check.expected) if not callable(check.expected) else 100.0
        low, high = check.band.limits(expected)
        assert low <= expected <= high, check.name
        assert high - low <= 2 * max(1.0, expected), check.name
        step = max(1e-9, 1e-6 * expected)
        tried = (expected, low - step, high + step, math.nan)
        held = [check.band.holds(value, expected) for value in tried]
        assert held == [True, False, False, False], check.name


EACH_9000TH = [{"flow": "only", "number": 9_000 * n} for n in range(1, 401)]
# One of each kind of check, and what must move it out of its band.
WRONG = [
    ("utilisation, Reno, q/D = 0.2", "flow.1.algorithm", "scalable@li2007"),
    ("utilisation, CUBIC in its friendly region, q/D = 0.05", "flow.1.algorithm", "reno"),
    ("utilisation, Scalable, q/D = 0.02", "flow.1.algorithm", "reno"),
    ("time between losses, Reno", "network.queue", "100p"),
    ("time between losses, Reno, delayed ACKs counted once", "stack", "linux-6"),
    ("time between losses, CUBIC", "flow.1.parameters", {"kept": 819}),
    ("window if each 10,000th packet is lost, reno", "network.loss.1.drops", EACH_9000TH),
    ("window at random loss 0.001, bic", "flow.1.algorithm", "reno"),
    ("rate at random loss 0.03, Reno, b = 2", "network.loss.1.probability", 0.01),
    ("smaller over larger goodput, late flow, reno", "flow.2.start", "650s"),
    ("share of one of two equal Reno flows", "flow", [flow("reno"), flow("scalable")]),
    ("exponent of the ratio of RTTs, Reno, 40 and 120 ms", "network.queue", "10bdp"),
    ("share of a Reno flow of 162 ms next to one of 42 ms", "flow.2.rtt", "162ms"),
    ("queue of 2 FAST flows, alpha = 50", "flow.1.parameters", {"m0a": 60, "m1a": 60}),
    ("queue of one Vegas flow, 100mbit, 10ms", "flow.1.parameters", {"alpha": 8, "beta": 9}),
    ("largest queue of one YeAH flow, 100mbit, 100ms", "flow.1.algorithm", "scalable"),
    ("window if each 10,000th packet is lost, illinois", "flow.1.algorithm", "reno"),
    ("window if each 10,000th packet is lost, compound", "flow.1.parameters", {"alpha": 140}),
    ("Jain's index of four CUBIC flows, 20 to 160 ms, fq", "network.queue", "0.5bdp"),
    ("Jain's index of four Reno flows, 20 to 160 ms, drop-tail", "network.queue.discipline", "fq"),
    ("mean delay of 8 Reno flows, CoDel", "network.queue", "200p"),
    ("mean delay of 8 Reno flows, PIE", "network.queue.target", "30ms"),
    ("mean delay of 8 Reno flows, FQ-PIE in one queue", "network.queue.target", "30ms"),
    ("mean delay of 8 Reno flows, DualPI2", "network.queue.target", "30ms"),
    ("mean delay of 8 Reno flows, CAKE in one queue", "network.queue.rtt", "200ms"),
    ("share of a host with one flow next to one with four, CAKE", "network.queue.isolate", "flows"),
    ("IP rate of a stream shaped for ATM, CAKE", "network.queue.overhead", 40),
    ("queue at each of 3 full ports of a switch, alpha 1", "network.switch.1.alpha", 1.1),
    (
        "marks of 4 Prague flows over the root of the drops of 4 Reno flows, DualPI2",
        "network.queue.coupling",
        3,
    ),
    (
        "window of 4 Prague flows over that of a scalable law, DualPI2",
        "flow.1.parameters",
        {"rtt_virtual": 100_000, "transition_rounds": 1},
    ),
    ("largest queue of one Prague flow, DualPI2", "network.queue.step", "2ms"),
    (
        "marks counted of those made, 30% of the ACKs lost",
        "flow.1.switches",
        {"ecn": "l4s", "accecn": True, "accecn_option": "never"},
    ),
    (
        "marks counted of those made, ACKs of up to 16 segments",
        "stack.switches.accecn_option",
        "never",
    ),
    ("alpha of a DCTCP flow that counts marks, step marking at 65", "network.rate", "4gbit"),
    ("mean queue of 32 Reno flows, adaptive RED", "network.queue.max_threshold", "200p"),
    ("departures of an overloaded link", "network.rate", "99.9mbit"),
    ("largest queue of a link at 99 % load by one stream", "flow.1.rate", "101mbit"),
    ("goodput of a full Ethernet link", "network.overhead", "ip"),
    ("rate behind a policer of 50 Mbit/s", "network.policer.rate", "50.1mbit"),
    ("burst of a token bucket of 64 kB", "network.rate.burst", "32kb"),
    ("rate of a link driven by a trace", "network.rate", "14mbit"),
    ("departures after the rate step to 40 Mbit/s", "network.rate.2.rate", "41mbit"),
    ("share lost, independent losses at 1e-3", "network.loss.1.probability", 1.1e-3),
    ("length of bursts, Gilbert-Elliott", "network.loss.1.gilbert_elliott.to_good", 0.11),
    ("share lost, bursts in time", "network.loss.1.bursts.mean_bad", "12ms"),
    ("length of bursts, losses of correlation 0.5", "network.loss.1.correlation", 0.45),
    ("share lost at bit errors of 1e-7", "network.loss.1.bit_errors", 1.1e-7),
    ("share doubled at 1e-3", "network.duplicate", 1.1e-3),
    ("packets waiting at 50% load, random arrivals", "arrivals.1.rate", 540),
    ("request of 10 kB with its handshake", "stack.switches.handshake", False),
    ("handshake over a queue of 200 ms", "flow.1.rate", "13mbit"),
    ("handshake if SYNs are lost at 0.1, rfc", "stack.switches.syn_timeout_ns", 900_000_000),
    ("handshake if SYNs are lost at 0.2, linux-6", "stack.switches.syn_linear_timeouts", 0),
    ("first request of 100 kB on an idle path", "network.rtt", "101ms"),
    ("requests of 10 kB one after the other", "flow.1.workload.bytes", 20_000),
    ("transfer of 200 kB at 10 Mbit/s", "network.rate", "9mbit"),
    (
        "repair of a lost last segment without probes, 50 ms",
        "stack.switches.rto_min_ns",
        300_000_000,
    ),
    ("window after recovery relative to that before, Reno", "flow.1.algorithm", "cubic"),
    (
        "segments sent in recovery relative to the window before, Reno",
        "flow.1.algorithm",
        "scalable@li2007",
    ),
    ("window at which HyStart ends slow start", "flow.1.parameters", {"hystart": 0}),
    *(
        (
            f"window at which {name} of the stack ends slow start, reno",
            "flow.1.switches.slow_start",
            "standard",
        )
        for name in ("hystart", "hystart++", "search")
    ),
    (
        "transfer of 1500 segments in limited slow start",
        "flow.1.switches.limited_slow_start_segs",
        300,
    ),
    (
        "transfer of 400 segments with Careful Resume from 1000",
        "flow.1.switches.resume_window_segs",
        700,
    ),
    ("window times the root of the reductions per segment, ABE", "flow.1.algorithm", "reno"),
    ("window kept on a mark, cubic@abe", "flow.1.algorithm", "cubic"),
    ("ACKs per segment with delayed ACKs", "stack.switches", dict(EVERY_SEGMENT)),
    ("goodput of a flow whose application reads 40 Mbit/s", "flow.1.read_rate", "41mbit"),
    (
        "segments per ACK, application that reads 20 segments at once too slowly",
        "flow.1.read_bytes",
        "30408b",
    ),
    ("segments per ACK, reads of 20 segments at 200 Mbit/s", "flow.1.read_rate", "180mbit"),
    (
        "share lost at a ring of 2 packets by twice what is served",
        "network.receive_rate",
        4_200,
    ),
    ("share lost at a ring of one packet at 99 % load by one stream", "flow.1.rate", "20mbit"),
    (
        "goodput of a flow whose receiver serves 4,000 packets a second",
        "network.receive_rate",
        4_010,
    ),
    ("long flow's share of a parking lot of 4 hops, Reno", "flow.1.hops", [1, 1]),
    ("utilisation of one BBR flow", "flow.1.parameters", {"probe_rtt_time": 0}),
    ("mean queue of one BBR flow", "flow.1.parameters", {"up_gain": 384}),
    ("mean queue of four BBR flows", "flow.1.count", 1),
]
SUBJECT_OF = [name for name, _, _ in WRONG]


FEWER = {
    "stack.switches.syn_linear_timeouts": (
        Change("arrivals.1.stop", "40s"),
        Change("duration", "100s"),
    ),
    "arrivals.1.rate": (Change("duration", "9s"),),
}
"""Errors that are so large that a part of the flows shows them, by the key that is wrong: means a
quarter too long or too short here."""


@pytest.mark.parametrize(("name", "path", "value"), WRONG)
def test_a_wrong_network_is_outside(name: str, path: str, value: Any) -> None:
    check = CHECKS[name]
    first = {**check.scenarios[0]}
    if isinstance(first["stack"], str) and path.startswith("stack."):
        first["stack"] = {"profile": first["stack"]}
    if path.endswith("discipline"):
        path, value = "network.queue", {"discipline": value, "flow_limit": "400p"}
    network = changed(first, [Change(path, value), *FEWER.get(path, ())])
    wrong = dataclasses.replace(check, scenarios=(network,))
    # Nothing is stored: that takes more time than most of these runs.
    judged = running.judge(wrong, [_made(one) for one in running.resolve(wrong)])
    assert judged.verdict is Verdict.OUTSIDE
    assert judged.measured is not None or judged.remark


def _made(scenario: ResolvedScenario) -> Run:
    return Run.of(scenario, SimulatorEngine().run(scenario))


def _run(**keys: Any) -> Run:
    check = dataclasses.replace(
        CHECKS["differences between two runs of the same scenario"], repeated=False
    )
    (one,) = running.resolve(
        dataclasses.replace(check, scenarios=({**check.scenarios[0], **keys},))
    )
    return _made(one)


def test_a_lost_packet_and_another_seed_are_noticed() -> None:
    run, other = _run(duration="3s"), _run(duration="3s", seed=2)
    assert measures.differences([run, run]) == 0
    assert measures.differences([run, other]) > 0
    assert measures.unaccounted(run) == 0
    first, *rest = run.summary.flows
    fewer = msgspec.structs.replace(first, received_packets=first.received_packets - 1)
    run.summary = msgspec.structs.replace(run.summary, flows=(fewer, *rest))
    assert measures.unaccounted(run) == 1


def test_what_looks_at_marks_fails_without_any() -> None:
    marks = [check for check in all_checks() if "ecn" in check.needs]
    assert marks
    plain = scenario("5s", {"rate": "10mbit", "rtt": "20ms", "queue": "1bdp"}, flow("reno"))
    checks = [
        dataclasses.replace(check, scenarios=(plain,), needs=())
        for check in marks
        if "step marking" in check.name
    ]
    for judged in running.validate(checks, SimulatorEngine()):
        assert judged.verdict is Verdict.OUTSIDE
        assert judged.remark == snapshot("nothing to measure: no packet was marked")


def test_bands_say_what_they_are() -> None:
    assert [str(band) for band in (EXACT, about(0.5), within(0.1, 0.2), about(1, 0))] == [
        "exact",
        "±0.5",
        "−10/+20 %",
        "−1/+0",
    ]
    assert Band(1, 1).limits(5) == (4, 6)
    assert within(0.1).limits(-10) == (-11, -9)


def _small(expected: float = 10.0, **keys: Any) -> Check:
    return Check(
        name="rate of a small link",
        oracle="the | rate",
        scenarios=(
            scenario("5s", {"rate": "10mbit", "rtt": "10ms", "queue": "1bdp"}, flow("reno")),
        ),
        expected=expected,
        measure=measures.mean(measures.departed_mbit(1, 5)),
        band=within(0.05),
        why="it is small",
        unit="Mbit/s",
        **keys,
    )


def test_a_check_that_needs_more_than_the_engine_has_is_not_run() -> None:
    (judged,) = running.validate([_small(needs=("telepathy",))], SimulatorEngine())
    assert judged.verdict is Verdict.NOT_OFFERED
    assert judged.remark == snapshot("the TCP stack has no telepathy")


def test_a_run_that_breaks_is_outside() -> None:
    class Broken(QuickEngine):
        def run(self, *_: Any) -> Any:
            raise RuntimeError("out of order")

    (judged,) = running.validate([_small()], Broken())
    assert (judged.verdict, judged.remark) == (Verdict.OUTSIDE, "out of order")


def test_the_page_has_a_row_for_each_check() -> None:
    page = table.page(running.validate([_small(), _small(20.0)], SimulatorEngine()))
    rows = [line for line in page.splitlines() if line.startswith("| rate of")]
    assert rows[0].endswith("| it is small | within |")
    assert rows[1].endswith("| it is small | **outside** |")
    assert all("the \\| rate" in row for row in rows)
    assert "2 checks: 1 within, 1 outside" in page


def _command(
    monkeypatch: pytest.MonkeyPatch, checks: Sequence[Check], *arguments: str
) -> int | str | None:
    monkeypatch.setattr(steps, "all_checks", lambda: tuple(checks))
    options = ("--engine", "simulator", "--jobs", "1")
    monkeypatch.setattr(sys, "argv", ["fidelity", *options, *arguments])
    with pytest.raises(SystemExit) as stopped:
        commands.main(app)
    return stopped.value.code


def test_the_command_tells_by_its_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    page = tmp_path / "page.md"
    assert not _command(monkeypatch, [_small()], "--markdown", str(page), "--json")
    (row,) = json.loads(capsys.readouterr().out)["checks"]
    assert row["verdict"] == "within"
    assert row["low"] == 9.5
    assert row["low"] < row["measured"] < row["high"]
    assert "| rate of a small link |" in page.read_text()
    assert _command(monkeypatch, [_small(20.0)]) == 1
    assert "outside" in capsys.readouterr().out


def test_the_command_selects_by_a_text(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    other = dataclasses.replace(_small(20.0), name="another")
    assert not _command(monkeypatch, [_small(), other], "--only", "SMALL")
    assert "1 checks: 1 within" in capsys.readouterr().out
    assert _command(monkeypatch, [_small()], "--only", "large") == 2
    assert "--only" in capsys.readouterr().err
