"""Captures of a run: two files for Wireshark, one for each side."""

from __future__ import annotations

import math
from collections import defaultdict
from pathlib import Path
from typing import Final

from dumbbell.base import places
from dumbbell.base.errors import InputError, placed
from dumbbell.base.units import NS_PER_S, format_bytes
from dumbbell.contract.scenario import Scenario
from dumbbell.engines import sizes
from dumbbell.engines.excerpts import Excerpt

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
            key="pcap",
            value=str(name),
            valid=f"NAME for NAME-{SIDES[0]}{_SUFFIX} and NAME-{SIDES[1]}{_SUFFIX}",
        )
    sender, receiver = (name.with_name(f"{name.name}-{side}{_SUFFIX}") for side in SIDES)
    with placed(key="pcap"):
        places.check(sender)
        places.check(receiver)
    return sender, receiver


def check_size(scenario: Scenario) -> None:
    """Refuse a scenario whose packets would fill more than `BYTES_MAX`, of which all are made."""
    size = expected_bytes(scenario)
    if size > BYTES_MAX:
        much = "without bound" if math.isinf(size) else f"up to {size / 1e9:.1f} GB"
        raise InputError(
            f"too many packets to capture: {much}",
            key="pcap",
            valid=f"at most {format_bytes(BYTES_MAX)}: a shorter run, or a slower path",
        )


def expected_bytes(scenario: Scenario, excerpt: Excerpt = WHOLE) -> float:
    """Return about how large both files get at most, if they hold an excerpt.

    The data that flows have to send limits it, and the slowest link on their path. It ignores
    losses, which are sent again and make ACKs longer and more frequent. It also ignores that at the
    start most segments have a separate ACK.
    """
    offered: dict[int | None, float] = defaultdict(float)
    smallest: dict[int | None, int] = {}
    total = 0.0
    end_ns = min(scenario.duration_ns, excerpt.end_ns or scenario.duration_ns)
    for number, flow in enumerate(scenario.flows):
        if excerpt.flows is not None and number not in excerpt.flows:
            continue
        packets = sizes.offered(scenario, flow, excerpt.start_ns, end_ns)
        if flow.transport.udp is not None:
            total += 2 * _UDP_BYTES * packets
            continue
        link = sizes.slowest_link(scenario, flow)
        offered[link] += packets
        smallest[link] = min(smallest.get(link, flow.packet_bytes), flow.packet_bytes)
    for link, packets in offered.items():
        rate_bps = math.inf
        if link is not None:
            rate_bps = sizes.link_rate_bps(scenario, link, excerpt.start_ns, end_ns)
        bits = (end_ns - excerpt.start_ns) / NS_PER_S * rate_bps
        total += 2 * _TCP_BYTES * min(packets, bits / 8 / smallest[link])
    return total
