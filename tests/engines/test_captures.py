"""Captures: what Wireshark concludes from them agrees with what the run counted."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from inline_snapshot import snapshot

from dumbbell.api import simulate
from dumbbell.base.errors import InputError
from dumbbell.contract.summary import FlowSummary, Summary
from dumbbell.engines import captures
from sample_runs import resolved, scenario
from scenario_checks import assert_accepted

SCENARIO: Final = """
title = "Losses, marks, requests, datagrams"
duration = "12s"
[network]
rate = "20mbit"
rtt = "40ms"
queue = { discipline = "step", limit = "60p", threshold = "20p" }
loss = [{ place = "receiver", probability = 0.001 }, { place = "reverse", probability = 0.002 }]
[[flow]]
algorithm = "cubic"
stack = { profile = "linux-6", switches = { ecn = "classic" } }
[[flow]]
algorithm = "reno"
[[flow]]
algorithm = "cubic"
bytes = "2mb"
start = "1s"
[[flow]]
algorithm = "cubic"
workload = { kind = "rpc", bytes = "10kb", pause = "20ms" }
[[flow]]
transport = "udp"
rate = "1mbit"
[[flow]]
algorithm = "cubic"
bytes = "20kb"
start = "3s"
"""

FIELDS: Final = (
    "ip.src",
    "ip.dst",
    "ip.dsfield.ecn",
    "udp.length",
    "tcp.len",
    "tcp.seq",
    "tcp.ack",
    "tcp.flags.syn",
    "tcp.flags.ece",
    "tcp.flags.cwr",
    "tcp.flags.push",
    "tcp.options.timestamp.tsval",
    "tcp.options.timestamp.tsecr",
    "tcp.options.sack_le",
    "tcp.options.sack_re",
    "frame.time_epoch",
    "tcp.analysis.ack_rtt",
    "tcp.analysis.retransmission",
    "tcp.analysis.fast_retransmission",
    "tcp.analysis.spurious_retransmission",
    "tcp.analysis.out_of_order",
    "tcp.analysis.lost_segment",
    "tcp.analysis.ack_lost_segment",
    "tcp.analysis.window_full",
    "tcp.analysis.keep_alive",
)

Packet = Mapping[str, str]


@dataclass(frozen=True)
class Seen:
    """One file: the packets of each flow, in order."""

    data: list[list[Packet]]
    acks: list[list[Packet]]
    both: list[list[Packet]]

    def count(self, flow: int, field: str) -> int:
        return sum(bool(packet[field]) for packet in self.both[flow])


@dataclass(frozen=True)
class Captured:
    """A captured run."""

    flows: Sequence[FlowSummary]
    sender: Seen
    receiver: Seen

    @property
    def tcp(self) -> Iterator[FlowSummary]:
        return (flow for flow in self.flows if flow.algorithm is not None)


def tshark(file: Path, *arguments: str) -> str:
    command = ["tshark", "-r", str(file), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def dissect(file: Path, flows: int) -> Seen:
    arguments = [part for field in FIELDS for part in ("-e", field)]
    rows = tshark(file, "-T", "fields", "-E", "separator=|", *arguments).splitlines()
    seen = Seen(*([list[Packet]() for _ in range(flows)] for _ in range(3)))
    times = []
    for row in rows:
        packet = dict(zip(FIELDS, row.split("|"), strict=True))
        times.append(float(packet["frame.time_epoch"]))
        forward = int(packet["ip.src"].split(".")[1]) < 128
        flow = int((packet["ip.src"] if forward else packet["ip.dst"]).split(".")[3]) - 1
        seen.both[flow].append(packet)
        if not forward and packet["tcp.flags.syn"] == "0":
            seen.acks[flow].append(packet)
        elif packet["udp.length"] or int(packet["tcp.len"]) > 0:
            seen.data[flow].append(packet)
    assert times == sorted(times)
    return seen


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("captures")
    (folder / "all.toml").write_text(SCENARIO)
    command = [sys.executable, "-m", "dumbbell.cli", "simulate", "all.toml", "--json"]
    run = [*command, "--pcap", "all"]
    done = subprocess.run(run, cwd=folder, capture_output=True, text=True, check=True)
    (folder / "all.json").write_text(done.stdout)
    plain = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    assert json.loads(plain.stdout)["summary"] == json.loads(done.stdout)["summary"]
    return folder


@pytest.fixture(scope="module")
def analyser() -> None:
    """Require tshark; where it can be installed, its absence is a failure."""
    if shutil.which("tshark") is None:
        if sys.platform == "linux" and os.geteuid() == 0:
            pytest.fail("tshark is not installed: apt-get install tshark")
        pytest.skip("tshark is not installed, and cannot be without being root on Linux")


@pytest.fixture(scope="module")
def captured(folder: Path, analyser: None) -> Captured:  # noqa: ARG001 - must be there
    summary = json.loads((folder / "all.json").read_text())["summary"]
    flows = msgspec.convert(summary, Summary).flows
    files = (folder / f"all-{side}.pcapng" for side in captures.SIDES)
    return Captured(flows, *(dissect(file, len(flows)) for file in files))


@pytest.mark.parametrize("side", captures.SIDES)
def test_wireshark_takes_no_offence(captured: Captured, folder: Path, side: str) -> None:
    assert captured
    offence = "_ws.malformed || _ws.expert.severity >= error"
    assert tshark(folder / f"all-{side}.pcapng", "-Y", offence) == ""


def test_every_packet_is_there_with_its_payload(captured: Captured) -> None:
    def payload(packets: list[Packet]) -> int:
        return sum(
            int(packet["tcp.len"] or int(packet["udp.length"] or 0) - 8) for packet in packets
        )

    for number, flow in enumerate(captured.flows):
        sent, received = captured.sender.data[number], captured.receiver.data[number]
        assert len(sent) == flow.sent_segs
        assert payload(sent) == flow.sent_bytes
        assert len(received) == flow.received_packets
        if flow.algorithm is None:
            assert payload(received) == flow.received_bytes
            assert not captured.sender.acks[number]


def test_wireshark_finds_the_retransmissions_that_were_counted(captured: Captured) -> None:
    for flow in captured.tcp:
        seen, number = captured.sender, flow.flow
        assert seen.count(number, "tcp.analysis.retransmission") == flow.retransmitted_segs
        # All of them are plain or fast retransmissions.
        assert seen.count(number, "tcp.analysis.spurious_retransmission") == 0
        assert seen.count(number, "tcp.analysis.out_of_order") == 0
    assert sum(flow.retransmitted_segs for flow in captured.tcp) > 20


@pytest.mark.usefixtures("analyser")
@pytest.mark.parametrize(
    "changes",
    [
        {"network.loss": [{"place": "receiver", "probability": 0.1}], "network.rate": "5mbit"},
        {"network.reorder": {"probability": 0.02, "delay": "60ms"}, "duration": "3s"},
        {"network.rtt": "200us", "network.queue": "60p", "duration": "300ms"},
        {"stack": "linux-2.6.6", "network.queue": "10p"},
    ],
    ids=["timeouts", "reordering", "lan", "old stack"],
)
def test_retransmissions_of_any_kind_are_recognised(
    tmp_path: Path,
    changes: Mapping[str, Any],
) -> None:
    spec = {"network.rate": "50mbit", "network.rtt": "40ms", "duration": "10s", **changes}
    run = simulate(scenario(spec).resolve(capture=True))
    assert run.captures is not None
    (tmp_path / "a.pcapng").write_bytes(run.captures[0])
    seen, [flow] = dissect(tmp_path / "a.pcapng", 1), run.summary.flows
    assert seen.count(0, "tcp.analysis.retransmission") == flow.retransmitted_segs > 5
    assert ("network.loss" not in changes) or flow.timeouts > 0


@pytest.mark.usefixtures("analyser")
def test_a_segment_of_one_byte_that_is_sent_again_passes_for_a_keep_alive(tmp_path: Path) -> None:
    """Wireshark calls so what repeats the last byte sent, which a probe of liveness does too."""
    flow = {"algorithm": "cubic", "workload": {"kind": "rpc", "bytes": "1449b", "pause": "1ms"}}
    loss = [{"place": "receiver", "probability": 0.05}]
    spec = {"duration": "20s", "network.loss": loss, "network.rtt": "40ms", "flow": [flow]}
    run = simulate(scenario(spec).resolve(capture=True))
    assert run.captures is not None
    (tmp_path / "a.pcapng").write_bytes(run.captures[0])
    seen = dissect(tmp_path / "a.pcapng", 1)
    alive = [packet for packet in seen.data[0] if packet["tcp.analysis.keep_alive"]]
    assert len(alive) > 3
    assert {packet["tcp.len"] for packet in alive} == {"1"}
    resent = len(alive) + seen.count(0, "tcp.analysis.retransmission")
    assert resent == run.summary.flows[0].retransmitted_segs


def test_wireshark_misses_nothing_that_a_sender_sees(captured: Captured) -> None:
    for flow in captured.tcp:
        for finding in ("lost_segment", "ack_lost_segment", "window_full"):
            assert captured.sender.count(flow.flow, f"tcp.analysis.{finding}") == 0


def test_wireshark_measures_the_shortest_round_trip(captured: Captured) -> None:
    for flow in captured.tcp:
        packets = captured.sender.acks[flow.flow]
        shortest_s = min(
            float(packet["tcp.analysis.ack_rtt"])
            for packet in packets
            if packet["tcp.analysis.ack_rtt"]
        )
        assert shortest_s * 1e6 == pytest.approx(flow.rtt_min_us, rel=0.01)


def test_marks_are_seen_echoed_and_answered(captured: Captured) -> None:
    for number, flow in enumerate(captured.flows):
        marked = [
            packet for packet in captured.receiver.data[number] if packet["ip.dsfield.ecn"] == "3"
        ]
        assert len(marked) == flow.marked_packets
        assert all(packet["ip.dsfield.ecn"] != "3" for packet in captured.sender.data[number])
        echoes = sum(packet["tcp.flags.ece"] == "1" for packet in captured.sender.acks[number])
        answers = sum(packet["tcp.flags.cwr"] == "1" for packet in captured.sender.data[number])
        capable = sum(packet["ip.dsfield.ecn"] == "2" for packet in captured.sender.data[number])
        if number == 0:
            assert len(marked) > 20
            assert echoes >= answers > 5
            assert capable == flow.sent_segs - flow.retransmitted_segs
        else:
            assert (echoes, answers, capable) == (0, 0, 0)


def test_sack_blocks_are_where_something_is_missing(captured: Captured) -> None:
    """A receiver reports blocks above its ACK if and only if it has data above a hole."""
    reports = 0
    for flow in captured.tcp:
        highest = 0
        reported = 0
        for packet in captured.receiver.both[flow.flow]:
            if packet["ip.src"].split(".")[1] == "0":
                end = int(packet["tcp.seq"]) + int(packet["tcp.len"])
                highest = max(highest, end)
                continue
            if packet["tcp.flags.syn"] == "1":
                continue
            ack = int(packet["tcp.ack"])
            edges = packet["tcp.options.sack_le"].split(",")
            above = [int(edge) for edge in edges if edge and int(edge) > ack]
            assert bool(above) == (highest > ack)
            reported += bool(above)
        # A probe of the tail is sent again where no hole can be seen.
        assert (reported > 0) == (flow.retransmitted_segs > (flow.tail_probes or 0))
        reports += reported
    assert reports > 100


def test_clocks_go_on_and_answers_answer_what_was_sent(captured: Captured) -> None:
    """RFC 7323: hosts echo what has arrived, at the sender the latest."""
    for flow in captured.tcp:
        sent: set[int] = set()
        latest = {"0": 0, "128": 0}
        for packet in captured.sender.both[flow.flow]:
            value = int(packet["tcp.options.timestamp.tsval"])
            echo = int(packet["tcp.options.timestamp.tsecr"])
            side = packet["ip.src"].split(".")[1]
            assert value >= latest[side]
            latest[side] = value
            if side == "0":
                assert not sent or echo == latest["128"]
                sent.add(value)
            else:
                assert echo in sent


def test_messages_end_with_a_push(captured: Captured) -> None:
    requests = captured.sender.data[3]
    assert {packet["tcp.len"] for packet in requests if packet["tcp.flags.push"] == "1"} == {"1312"}
    assert {packet["tcp.len"] for packet in requests if packet["tcp.flags.push"] == "0"} == {"1448"}
    ends = {int(packet["tcp.seq"]) + 1311 for packet in requests if packet["tcp.flags.push"] == "1"}
    assert all(end % 10_000 == 0 for end in ends)
    assert len(ends) > 50


def test_captures_are_there_only_where_they_are_asked_for() -> None:
    short = scenario({"duration": "1s"})
    plain, kept = short.resolve(), short.resolve(capture=True)
    assert_accepted(kept)
    assert plain.key != kept.key
    assert simulate(plain).captures is None
    files = simulate(kept).captures
    assert files is not None
    assert [file[:4].hex() for file in files] == ["0a0d0d0a"] * 2


def test_the_expected_size_is_seldom_too_small() -> None:
    for changes in (
        {"duration": "10s"},
        {"duration": "3s", "flow": [{"algorithm": "reno", "bytes": "100kb"}]},
        {"duration": "3s", "flow": [{"transport": "udp", "rate": "5mbit"}]},
        {
            "duration": "3s",
            "flow": [
                {
                    "algorithm": "reno",
                    "workload": {"kind": "rpc", "bytes": "3kb", "pause": "5ms"},
                }
            ],
        },
    ):
        kept = scenario(changes).resolve(capture=True)
        expected = captures.expected_bytes(kept.scenario)
        files = simulate(kept).captures
        assert files is not None
        assert 0.4 * expected < sum(map(len, files)) < 1.2 * expected + 8000


def test_too_much_is_refused() -> None:
    with pytest.raises(InputError) as refused:
        captures.check_size(resolved({"network.rate": "10gbit", "duration": "600s"}).scenario)
    assert str(refused.value) == snapshot(
        "pcap: too many packets to capture: up to 126.0 GB; valid: at most 2gb: a shorter run, or a slower path"
    )
    captures.check_size(
        resolved({"network.rate": "10gbit", "duration": "600s", "flow.1.bytes": "10mb"}).scenario
    )
    assert not math.isinf(captures.expected_bytes(resolved().scenario))
