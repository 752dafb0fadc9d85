"""Captures of a run: two files for Wireshark, one for each side."""

from __future__ import annotations

import math
import os
from collections import defaultdict
from pathlib import Path
from typing import Final

from dumbbell.contract.scenario import Demand, Flow, Requests, Scenario
from dumbbell.errors import InputError
from dumbbell.running.excerpts import Excerpt
from dumbbell.scenario import facts
from dumbbell.units import NS_PER_S, format_bytes

BYTES_MAX: Final = 2_000_000_000
"""Both files together; they are made in memory, where they take about as much again."""

SIDES: Final = ("sender", "receiver")
WHOLE: Final = Excerpt()
_SUFFIX: Final = ".pcapng"

# In one file: a block and the headers of data, with an ACK for every other, or of a datagram.
_TCP_BYTES: Final = (32 + 52) * 3 // 2
_UDP_BYTES: Final = 32 + 28


def paths(name: Path) -> tuple[Path, Path]:
    """Return the files of a capture, and refuse a place where they cannot be."""
    if name.suffix in {".pcap", _SUFFIX} or not name.name:
        raise InputError(
            "not the beginning of the names of two files",
            source="--pcap",
            value=str(name),
            valid=f"NAME for NAME-{SIDES[0]}{_SUFFIX} and NAME-{SIDES[1]}{_SUFFIX}",
        )
    folder = name.parent
    if not folder.is_dir():
        raise InputError("no such folder", source="--pcap", value=str(folder))
    sender, receiver = (folder / f"{name.name}-{side}{_SUFFIX}" for side in SIDES)
    for file in (sender, receiver):
        if file.is_dir() or not os.access(file if file.exists() else folder, os.W_OK):
            raise InputError("cannot be written", source="--pcap", value=str(file))
    return sender, receiver


def check_size(scenario: Scenario) -> None:
    """Refuse a scenario whose packets would fill more than `BYTES_MAX`, of which all are made."""
    size = expected_bytes(scenario)
    if size > BYTES_MAX:
        much = "without bound" if math.isinf(size) else f"up to {size / 1e9:.1f} GB"
        raise InputError(
            f"too many packets to capture: {much}",
            source="--pcap",
            valid=f"at most {format_bytes(BYTES_MAX)}: a shorter run, or a slower path",
        )


def expected_bytes(scenario: Scenario, excerpt: Excerpt = WHOLE) -> float:
    """Return about how large both files get at most, if they hold an excerpt.

    What flows have to send limits it, and the slowest link on their way. Not counted are losses,
    which are sent again and make ACKs longer and more frequent, and that at the start most
    segments have an ACK of their own.
    """
    wanted: dict[int | None, float] = defaultdict(float)
    smallest: dict[int | None, int] = {}
    total = 0.0
    end_ns = min(scenario.duration_ns, excerpt.end_ns or scenario.duration_ns)
    for number, flow in enumerate(scenario.flows):
        if excerpt.flows is not None and number not in excerpt.flows:
            continue
        packets = _packets(scenario, flow, excerpt.start_ns, end_ns)
        if flow.transport.udp is not None:
            total += 2 * _UDP_BYTES * packets
            continue
        link = _slowest(scenario, flow)
        wanted[link] += packets
        smallest[link] = min(smallest.get(link, flow.packet_bytes), flow.packet_bytes)
    for link, packets in wanted.items():
        rate_bps = math.inf if link is None else _rate_bps(scenario, link, excerpt.start_ns, end_ns)
        bits = (end_ns - excerpt.start_ns) / NS_PER_S * rate_bps
        total += 2 * _TCP_BYTES * min(packets, bits / 8 / smallest[link])
    return total


def _packets(scenario: Scenario, flow: Flow, start_ns: int, end_ns: int) -> float:
    """Return how many packets a flow has to send at most in a part of the run."""
    stop_ns = end_ns if flow.stop_ns is None else min(end_ns, flow.stop_ns)
    active_ns = max(0, stop_ns - max(start_ns, flow.start_ns))
    if flow.transport.udp is not None:
        bits_per_packet = 8 * flow.packet_bytes
        return flow.transport.udp.rate_bps * active_ns / NS_PER_S / bits_per_packet
    payload = flow.packet_bytes - flow.header_bytes
    match flow.transport.tcp and flow.transport.tcp.demand:
        case Demand(transfer=int(size)):
            return float(math.ceil(size / payload))
        case Demand(requests=Requests(bytes=size, pause_ns=pause_ns)):
            each_ns = max(1, facts.base_rtt_ns(scenario, flow) + pause_ns)
            return float(math.ceil(size / payload) * (1 + active_ns // each_ns))
    return math.inf


def _rate_bps(scenario: Scenario, link: int, start_ns: int, end_ns: int) -> float:
    rate_bps = facts.mean_rate_bps(scenario.links[link], start_ns, end_ns)
    return math.inf if rate_bps is None else rate_bps


def _slowest(scenario: Scenario, flow: Flow) -> int | None:
    """Return the slowest link that a flow's data passes, or None if none has a rate."""
    rates = {
        hop.link: _rate_bps(scenario, hop.link, 0, scenario.duration_ns)
        for hop in flow.forward.hops
    }
    slowest = min(rates, key=rates.__getitem__)
    return None if math.isinf(rates[slowest]) else slowest
