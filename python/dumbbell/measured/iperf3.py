"""What ``iperf3 --json`` and ``--json-stream`` write.

Samples are those of the sender's socket in each interval: bytes, `tcpi_rtt` and retransmissions.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
import polars as pl
from msgspec.json import Decoder

from dumbbell.errors import InputError
from dumbbell.measured.decoding import decoded
from dumbbell.measured.measurement import SAMPLES, MeasuredFlow, Measurement

_BITS: Final = 8
_MEGA: Final = 1e6


class _Stream(msgspec.Struct):
    """A stream in an interval, or over the whole test."""

    socket: int
    start: float
    end: float
    bytes: int
    retransmits: int | None = None
    rtt: int | None = None
    """Microseconds."""
    min_rtt: int | None = None
    omitted: bool = False
    sender: bool | None = None

    @property
    def goodput_mbit_per_s(self) -> float | None:
        return (
            self.bytes * _BITS / (self.end - self.start) / _MEGA if self.end > self.start else None
        )


class _Interval(msgspec.Struct):
    streams: list[_Stream]


class _Test(msgspec.Struct):
    protocol: str
    omit: float = 0
    reverse: int = 0
    bidirectional: int = 0


class _Start(msgspec.Struct):
    test_start: _Test
    version: str = "iperf3"
    tcp_mss_default: int | None = None
    tcp_mss: int | None = None


class _Total(msgspec.Struct):
    sender: _Stream | None = None


class _End(msgspec.Struct):
    streams: list[_Total] = []
    sender_tcp_congestion: str | None = None


class _Report(msgspec.Struct):
    start: _Start
    intervals: list[_Interval]
    end: _End = msgspec.field(default_factory=_End)
    server_output_json: Any = None


_read_report: Final = Decoder(_Report, strict=False).decode


def is_one(content: Any) -> bool:
    """Tell whether JSON is what iperf3 writes."""
    return isinstance(content, dict) and "start" in content and "intervals" in content


def joined(lines: Iterable[str]) -> dict[str, Any] | None:
    """Return the events of ``--json-stream`` as one report, or None if that is something else."""
    report: dict[str, Any] = {"intervals": []}
    for line in lines:
        try:
            event = json.loads(line)
            kind, data = event["event"], event["data"]
        except (ValueError, KeyError, TypeError):
            return None
        if kind == "interval":
            report["intervals"].append(data)
        elif kind in ("start", "end", "error", "server_output_json"):
            report[kind] = data
    return report if is_one(report) else None


def read(content: dict[str, Any], file: Path) -> Measurement:
    """Read a report; what is missing in it is an InputError that names the key."""
    if "error" in content:
        raise InputError(f"iperf3 failed: {content['error']}", source=str(file))
    report = _converted(content, file)
    test = report.start.test_start
    if test.protocol.upper() != "TCP":
        raise InputError(
            "a test of datagrams says nothing of congestion control",
            source=str(file),
            key="start.test_start.protocol",
            value=test.protocol,
            valid="TCP: iperf3 without --udp",
        )
    if test.reverse and not test.bidirectional:
        report = _of_server(report, file)
    flows = _flows(report)
    if not flows:
        raise InputError(
            "no stream has an interval that a sender measured",
            source=str(file),
            key="intervals",
            valid="the report of whoever sends, with --interval above 0",
        )
    notes = ["RTTs are the kernel's smoothed ones, one at the end of each interval"]
    if test.omit:
        notes.append(f"the first {test.omit:g} s were omitted when it was measured")
    duration_s = max(flow.end_s for flow in flows)
    return Measurement(file, report.start.version, duration_s, flows, notes)


def _converted(content: Any, file: Path) -> _Report:
    return decoded(_read_report, content, file, "iperf3")


def _of_server(report: _Report, file: Path) -> _Report:
    """Return what the server measured, where it was the one who sent."""
    if report.server_output_json is None:
        raise InputError(
            "the server sent, and its side is not in the file",
            source=str(file),
            key="server_output_json",
            valid="iperf3 --reverse with --get-server-output",
        )
    return _converted(report.server_output_json, file)


def _flows(report: _Report) -> list[MeasuredFlow]:
    by_socket: dict[int, list[_Stream]] = {}
    for interval in report.intervals:
        for stream in interval.streams:
            if not stream.omitted and stream.sender is not False:
                by_socket.setdefault(stream.socket, []).append(stream)
    totals = {each.sender.socket: each.sender for each in report.end.streams if each.sender}
    # What was omitted is before 0 in some versions, and before the first interval in others.
    first_s = min((parts[0].start for parts in by_socket.values()), default=0.0)
    return [
        _flow(report, f"stream {number}", parts, first_s, totals.get(socket))
        for number, (socket, parts) in enumerate(by_socket.items(), start=1)
    ]


def _flow(
    report: _Report, label: str, parts: Sequence[_Stream], first_s: float, total: _Stream | None
) -> MeasuredFlow:
    rows = [
        {
            "time_s": (part.start + part.end) / 2 - first_s,
            "goodput_mbit_per_s": part.goodput_mbit_per_s,
            "rtt_ms": part.rtt / 1000 if part.rtt else None,
            "retransmitted": part.retransmits,
        }
        for part in parts
    ]
    counted = [part.retransmits for part in parts if part.retransmits is not None]
    sent_bytes, seconds = sum(part.bytes for part in parts), parts[-1].end - parts[0].start
    rtts_ms = [part.rtt / 1000 for part in parts if part.rtt]
    if total is not None and total.min_rtt:
        rtts_ms.append(total.min_rtt / 1000)
    mss_bytes = report.start.tcp_mss_default or report.start.tcp_mss
    return MeasuredFlow(
        label,
        report.end.sender_tcp_congestion,
        parts[0].start - first_s,
        parts[-1].end - first_s,
        pl.DataFrame(rows, schema=SAMPLES),
        mss_bytes=mss_bytes,
        segments=-(-sent_bytes // mss_bytes) + sum(counted) if mss_bytes else None,
        retransmitted=sum(counted) if counted else None,
        rtt_min_ms=min(rtts_ms, default=None),
        goodput_mbit_per_s=sent_bytes * _BITS / seconds / _MEGA if seconds > 0 else None,
    )
