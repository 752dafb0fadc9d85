"""Captures of packets: pcap and pcapng files, as tcpdump and Wireshark write them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import msgspec
import polars as pl
from msgspec.json import Decoder

from dumbbell import _core
from dumbbell.errors import InputError
from dumbbell.measured.measurement import SAMPLES, MeasuredFlow, Measurement
from dumbbell.running.cancelling import crew
from dumbbell.running.executor import in_order_of_completion
from dumbbell.units import NS_PER_S

INTERVAL_S: Final = 0.1

_INTERVAL_NS: Final = int(INTERVAL_S * NS_PER_S)
_LONGEST_S: Final = 86_400

_MUCH: Final = 0.01
"""What carries a smaller share of all bytes is no flow of interest."""


class _Interval(msgspec.Struct):
    number: int
    acknowledged_bytes: int
    again: int
    rtt_mean_ns: int | None


class _Connection(msgspec.Struct):
    sender: str
    receiver: str
    start_ns: int
    end_ns: int
    mss_bytes: int
    segments: int
    again: int
    acknowledged_bytes: int
    at_receiver: bool
    rtt_min_ns: int | None
    intervals: list[_Interval]


class _Capture(msgspec.Struct):
    packets: int
    is_cut: bool
    connections: list[_Connection]


_read_capture: Final = Decoder(_Capture).decode


def read(file: Path) -> Measurement:
    """Follow the connections of a capture; what is none, or damaged, is an InputError."""
    try:
        with crew("capture", 1) as pool:
            asked = pool.submit(_core.read_capture, file, _INTERVAL_NS)
            (told,) = in_order_of_completion([asked])
    except ValueError as error:
        raise InputError(str(error), source=str(file), valid="a pcap or pcapng file") from None
    found = _read_capture(told)
    whole = sum(each.acknowledged_bytes for each in found.connections)
    kept = [each for each in found.connections if each.acknowledged_bytes > _MUCH * whole]
    if not kept:
        raise InputError(
            f"no TCP connection in its {found.packets:,} TCP packets has data that is acknowledged",
            source=str(file),
            valid="a capture with both directions of a connection",
        )
    first_ns = min(each.start_ns for each in kept)
    last_ns = max(each.end_ns for each in kept)
    if last_ns - first_ns > _LONGEST_S * NS_PER_S:
        raise InputError(
            f"its connections last {(last_ns - first_ns) / NS_PER_S:,.0f} s",
            source=str(file),
            valid=f"at most {_LONGEST_S:,} s; `editcap -A START -B STOP` cuts a part out",
        )
    flows = [_flow(each, first_ns) for each in kept]
    duration_s = max(flow.end_s for flow in flows)
    tool = f"a capture of {found.packets:,} TCP packets"
    return Measurement(file, tool, duration_s, flows, _notes(found, kept))


def _notes(found: _Capture, kept: list[_Connection]) -> list[str]:
    notes = []
    if found.is_cut:
        notes.append("the capture ends within a packet")
    if len(kept) < len(found.connections):
        left = len(found.connections) - len(kept)
        notes.append(f"{left} connections with less than {_MUCH:.0%} of all bytes are left out")
    receivers = sum(each.at_receiver for each in kept)
    if receivers:
        where = "all flows" if receivers == len(kept) else f"{receivers} flows"
        notes.append(
            f"captured at the receiver of {where}: RTTs are those that it sees, and what arrives"
            " late counts as sent again"
        )
    return notes


def _flow(found: _Connection, first_ns: int) -> MeasuredFlow:
    rows: list[dict[str, Any]] = []
    known = {part.number: part for part in found.intervals}
    for number in range(found.start_ns // _INTERVAL_NS, found.end_ns // _INTERVAL_NS + 1):
        part = known.get(number)
        rtt_ns = None if part is None else part.rtt_mean_ns
        acknowledged = 0 if part is None else part.acknowledged_bytes
        rows.append(
            {
                "time_s": (number + 0.5) * INTERVAL_S - first_ns / NS_PER_S,
                "goodput_mbit_per_s": acknowledged * 8 / INTERVAL_S / 1e6,
                "rtt_ms": None if rtt_ns is None else rtt_ns / 1e6,
                "retransmitted": 0 if part is None else part.again,
            }
        )
    seconds = (found.end_ns - found.start_ns) / NS_PER_S
    return MeasuredFlow(
        f"{found.sender} to {found.receiver}",
        None,
        (found.start_ns - first_ns) / NS_PER_S,
        (found.end_ns - first_ns) / NS_PER_S,
        pl.DataFrame(rows, schema=SAMPLES),
        mss_bytes=found.mss_bytes,
        segments=found.segments,
        retransmitted=found.again,
        rtt_min_ms=None if found.rtt_min_ns is None else found.rtt_min_ns / 1e6,
        goodput_mbit_per_s=found.acknowledged_bytes * 8 / seconds / 1e6 if seconds > 0 else None,
    )
