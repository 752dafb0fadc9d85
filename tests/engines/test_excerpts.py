"""Excerpts of captures: the selected packets, whole and in order, and nothing else."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from command_line import Command, assert_refused, line
from dumbbell.api import simulate
from dumbbell.base.errors import InputError
from dumbbell.engines import captures
from dumbbell.engines.excerpts import Excerpt
from dumbbell.scenario.resolve import ResolvedScenario
from sample_runs import scenario

S = 10**9
FLOWS = """
title = "Three flows"
duration = "3s"
[network]
rate = "5mbit"
rtt = "20ms"
queue = "20p"
[[flow]]
algorithm = "cubic"
count = 2
label = "page"
[[flow]]
transport = "udp"
rate = "1mbit"
label = "voice"
"""


@dataclass(frozen=True)
class Block:
    """A block of a file; of a packet its flow, and its time since the run began."""

    raw: bytes
    flow: int | None = None
    time_ns: int = 0
    opens: bool = False


def blocks(file: bytes) -> Iterator[Block]:
    """Read a file in the plainest way, by the specification."""
    while file:
        kind, size = struct.unpack_from("<II", file)
        raw, file = file[:size], file[size:]
        if kind != 6:
            yield Block(raw)
            continue
        high, low, length = struct.unpack_from("<III", raw, 12)
        packet = raw[28 : 28 + length]
        flow = (int.from_bytes(packet[13:16]) & 0x7FFFFF) - 1
        opens = packet[9] == 6 and bool(packet[33] & 2)
        yield Block(raw, flow, (high << 32 | low) - S, opens)


@pytest.fixture(scope="module")
def captured() -> tuple[ResolvedScenario, bytes]:
    flows = [
        {"algorithm": "cubic", "count": 2, "label": "page"},
        {"transport": "udp", "rate": "1mbit", "label": "voice"},
    ]
    changes = {
        "network.rate": "5mbit",
        "network.rtt": "20ms",
        "network.queue": "20p",
        "duration": "3s",
        "flow": flows,
    }
    run = scenario(changes).resolve(capture=True)
    files = simulate(run).captures
    assert files is not None
    return run, files[0]


@given(
    st.one_of(st.none(), st.sets(st.integers(0, 2), min_size=1)),
    st.integers(0, 3 * S),
    st.one_of(st.none(), st.integers(0, 4 * S)),
)
def test_an_excerpt_is_what_is_wanted_and_no_more(
    captured: tuple[ResolvedScenario, bytes],
    flows: set[int] | None,
    start_ns: int,
    end_ns: int | None,
) -> None:
    def is_wanted(block: Block) -> bool:
        inside = start_ns <= block.time_ns and (end_ns is None or block.time_ns < end_ns)
        chosen = flows is None or block.flow in flows
        return block.flow is None or (chosen and (inside or block.opens))

    whole = captured[1]
    excerpt = Excerpt(flows, start_ns, end_ns).bytes_of(whole)
    assert excerpt == b"".join(block.raw for block in blocks(whole) if is_wanted(block))


def test_an_excerpt_of_everything_is_the_file_itself(
    captured: tuple[ResolvedScenario, bytes],
) -> None:
    whole = captured[1]
    assert Excerpt().bytes_of(whole) is whole
    assert Excerpt(range(3)).bytes_of(whole) == whole


def test_flows_are_named_by_label_or_by_what_equal_ones_have_in_common(
    captured: tuple[ResolvedScenario, bytes],
) -> None:
    flows = captured[0].scenario.flows
    assert Excerpt.of(captured[0].scenario, ["page"], None, None).flows == {0, 1}
    assert Excerpt.of(captured[0].scenario, [flows[1].label, "voice"], 0, S).flows == {1, 2}
    with pytest.raises(InputError, match="unknown flow") as caught:
        Excerpt.of(captured[0].scenario, ["voise"], None, None)
    assert caught.value.near == "voice"


def test_the_expected_size_is_that_of_the_excerpt(
    captured: tuple[ResolvedScenario, bytes],
) -> None:
    run, whole = captured
    for excerpt in (Excerpt({2}), Excerpt(None, S, 2 * S), Excerpt({0, 1}, 2 * S)):
        expected = captures.expected_bytes(run.scenario, excerpt) / 2
        size = len(excerpt.bytes_of(whole))
        assert size < 1.2 * expected + 2000
        assert size > 0.4 * expected
        assert expected < captures.expected_bytes(run.scenario)


@pytest.fixture
def dumbbell(dumbbell: Command, tmp_path: Path) -> Command:
    (tmp_path / "a.toml").write_text(FLOWS)
    return dumbbell


def test_the_size_is_said_before_the_run(dumbbell: Command, tmp_path: Path) -> None:
    part = ("--pcap-flow", "voice", "--pcap-from", "1s", "--pcap-to", "2s")
    output = dumbbell("simulate", "a.toml", "--pcap", "b", *part)
    assert output.code == 0
    assert line(output.err, "captures") == snapshot("Both captures together: up to about 10.0 kB")
    seen = [block for block in blocks((tmp_path / "b-sender.pcapng").read_bytes()) if block.flow]
    assert len(seen) > 50
    assert {block.flow for block in seen} == {2}
    assert all(S <= block.time_ns < 2 * S for block in seen)


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (("--pcap-flow", "voice"), "--pcap NAME"),
        (("--pcap", "b", "--pcap-flow", "voise"), 'did you mean "voice"'),
        (("--pcap", "b", "--pcap-from", "3s"), "before 3s"),
        (("--pcap", "b", "--pcap-from", "2s", "--pcap-to", "2s"), "after 2s"),
        (("--pcap", "b", "--pcap-to", "2"), "needs a unit"),
    ],
)
def test_what_no_packet_is_in_is_refused(
    dumbbell: Command, tmp_path: Path, arguments: tuple[str, ...], wanted: str
) -> None:
    output = dumbbell("simulate", "a.toml", *arguments)
    assert_refused(output)
    assert "--pcap" in output.err
    assert wanted in output.err
    assert not (tmp_path / "b-sender.pcapng").exists()
