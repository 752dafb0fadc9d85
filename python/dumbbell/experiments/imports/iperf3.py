"""Output of ``iperf3 --json`` and ``--json-stream``, from version 3.1 on.

A sender's intervals have what it wrote into its socket, `tcpi_rtt`, windows and retransmissions; a
receiver's have what arrived, and nothing else. Where a file has both, each contributes the values
that it measures best.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Annotated, Any, Final

import msgspec
import polars as pl
from msgspec import Meta
from msgspec.json import Decoder

from dumbbell.base.errors import InputError
from dumbbell.base.keys import numbered
from dumbbell.experiments.imports.decoding import (
    MEGABITS_MAX,
    Bytes,
    Count,
    Seconds,
    decoded,
    malformed,
)
from dumbbell.experiments.imports.measurement import SAMPLES, Direction, MeasuredFlow, Measurement
from dumbbell.experiments.imports.together import in_order

_BITS: Final = 8
_MEGA: Final = 1e6
_BLOCK_BYTES: Final = 131_072
"""Size of the block that iperf3 writes at once to a TCP socket by default."""

_SHORT: Final = 0.1
"""A last interval of less than this share of the others is useless for the rate."""

_LEAST_S: Final = 1e-4
"""Shorter than any interval that iperf3 offers."""

_UDP_HEADER_BYTES: Final = 28

# What a system's kernel does not say is -1 in some versions, and 0 or missing in others.
_KernelNumber = Annotated[float, Meta(ge=-1, le=1e15)]


class _Stream(msgspec.Struct):
    """A stream in an interval, or over the whole test."""

    socket: int
    start: Seconds
    end: Seconds
    bytes: Bytes
    retransmits: _KernelNumber | None = None
    rtt: Annotated[float, Meta(ge=-1, le=3.6e9)] | None = None
    """Microseconds."""
    min_rtt: Annotated[float, Meta(ge=-1, le=3.6e9)] | None = None
    snd_cwnd: _KernelNumber | None = None
    snd_wnd: _KernelNumber | None = None
    omitted: bool = False
    sender: bool | None = None
    packets: Count | None = None
    lost_percent: Annotated[float, Meta(le=100)] | None = None

    @property
    def seconds(self) -> float:
        return self.end - self.start

    @property
    def goodput_mbit_per_s(self) -> float:
        return self.bytes * _BITS / self.seconds / _MEGA


class _Interval(msgspec.Struct):
    streams: list[_Stream]


class _Test(msgspec.Struct):
    protocol: str
    blksize: Bytes = 0
    omit: Seconds = 0
    reverse: int = 0
    target_bitrate: Bytes = 0
    fqrate: Bytes = 0


class _Clock(msgspec.Struct):
    timesecs: Annotated[float, Meta(ge=0, le=1e11)]


class _Start(msgspec.Struct):
    test_start: _Test | None = None
    version: str = "iperf3"
    tcp_mss_default: Annotated[int, Meta(ge=0, le=65_535)] = 0
    tcp_mss: Annotated[int, Meta(ge=0, le=65_535)] = 0
    target_bitrate: Bytes = 0
    fq_rate: Bytes = 0
    timestamp: _Clock | None = None
    accepted_connection: Any = None
    """Of a server alone."""


class _Total(msgspec.Struct):
    sender: _Stream | None = None
    receiver: _Stream | None = None
    udp: _Stream | None = None


class _End(msgspec.Struct):
    streams: list[_Total] = []
    sender_tcp_congestion: str | None = None
    receiver_tcp_congestion: str | None = None


class _Report(msgspec.Struct):
    start: _Start
    intervals: list[_Interval] = []
    end: _End = msgspec.field(default_factory=_End)
    error: str | None = None
    server_output_json: msgspec.Raw = msgspec.Raw()
    server_output_text: str | None = None

    @property
    def test(self) -> _Test:
        """The test, which must have begun."""
        assert self.start.test_start is not None
        return self.start.test_start

    def sends(self, stream: _Stream) -> bool:
        """Return True if the host that wrote the report sent this stream."""
        if stream.sender is not None:
            return stream.sender
        return self.is_of_server == bool(self.test.reverse)

    @property
    def is_of_server(self) -> bool:
        return self.start.accepted_connection is not None


class _Event(msgspec.Struct):
    event: str
    data: msgspec.Raw


_read_report: Final = Decoder(_Report).decode
_read_event: Final = Decoder(_Event).decode
_read_data: Final[dict[str, Callable[[bytes], Any]]] = {
    "start": Decoder(_Start).decode,
    "interval": Decoder(_Interval).decode,
    "end": Decoder(_End).decode,
    "error": Decoder(str).decode,
    "server_output_json": Decoder(msgspec.Raw).decode,
    "server_output_text": Decoder(str).decode,
}


@dataclass(frozen=True)
class _Side:
    """A stream as one of its ends saw it."""

    flow: MeasuredFlow
    sends: bool


def read(parts: Sequence[bytes], file: Path) -> Measurement:
    """Read reports, one after the other; what is wrong in one is an InputError with its key."""
    return _joined([decoded(_read_report, part, file, "iperf3") for part in parts], [], file)


def read_events(lines: Sequence[bytes], file: Path) -> Measurement:
    """Read the events of ``--json-stream``; the last may be cut, if iperf3 was killed."""
    reports: list[_Report] = []
    notes = []
    for number, line in enumerate(lines, start=1):
        try:
            event = _read_event(line)
        except msgspec.DecodeError as error:
            if number < len(lines) or isinstance(error, msgspec.ValidationError):
                raise malformed(error, line, file) from None
            notes.append("the file ends within an event, which is left out")
            break
        if event.event not in _read_data:
            continue
        data = decoded(
            _read_data[event.event], bytes(event.data), file, f"iperf3, in event {number},"
        )
        if event.event == "start":
            reports.append(_Report(data))
        elif not reports:
            raise InputError("no event `start` before the others", source=str(file))
        elif event.event == "interval":
            reports[-1].intervals.append(data)
        else:
            setattr(reports[-1], event.event, data)
    return _joined(reports, notes, file)


def _joined(reports: Sequence[_Report], notes: Sequence[str], file: Path) -> Measurement:
    """Return one measurement of all reports that have something, or say why there is none."""
    parts = []
    failed = []
    for report in reports:
        if report.error is not None and not report.intervals:
            failed.append(f"iperf3 failed: {report.error}")
            continue
        clock = report.start.timestamp
        parts.append((None if clock is None else clock.timesecs, _measurement(report, file)))
    if not parts:
        raise InputError("; ".join(dict.fromkeys(failed)) or "no report", source=str(file))
    measurement = in_order(parts)
    return replace(measurement, notes=[*measurement.notes, *dict.fromkeys(failed), *notes])


def _measurement(report: _Report, file: Path) -> Measurement:
    if report.start.test_start is None:
        raise InputError("is missing", source=str(file), key="start.test_start")
    other, notes = _of_server(report, file)
    sides = list(_sides(report, file))
    flows = _merged(sides, list(_sides(other, file)) if other else [])
    if not flows:
        raise InputError(
            "no stream has an interval of 0.1 ms or more",
            source=str(file),
            key="intervals",
            valid="a report of a test that began, with --interval above 0",
        )
    if any(flow.samples["rtt_ms"].count() for flow in flows):
        notes.append("RTTs are the kernel's smoothed ones, one at the end of each interval")
    if report.error is not None:
        notes.append(f"iperf3 ended early ({report.error}): what it had measured by then is read")
    if report.test.omit:
        notes.append(f"the first {report.test.omit:g} s were omitted when it was measured")
    duration_s = max(flow.end_s for flow in flows)
    return Measurement(file, report.start.version, duration_s, flows, notes)


def _of_server(report: _Report, file: Path) -> tuple[_Report | None, list[str]]:
    """Return what the server measured, if that is in the file, and what to say of it."""
    output = bytes(report.server_output_json)
    if not output:
        notes = []
        if report.server_output_text is not None:
            notes = ["the server's output is a text, without RTTs: start the server with --json"]
        return None, notes
    server = decoded(_read_report, output, file, "iperf3, in server_output_json,")
    if server.start.test_start is None or not server.intervals:
        return None, [f"the server measured nothing ({server.error or 'no interval'})"]
    server.start.accepted_connection = True
    return server, []


def _sides(report: _Report, file: Path) -> Iterator[_Side]:
    """Yield the streams of a report, without what was omitted."""
    by_socket: dict[int, list[_Stream]] = {}
    for key, interval in numbered("intervals", report.intervals):
        for place, stream in numbered(f"{key}.streams", interval.streams):
            if not stream.omitted:
                parts = by_socket.setdefault(stream.socket, [])
                last_s = parts[-1].end if parts else 0.0
                _check(stream, last_s, file, place)
                parts.append(stream)
    # What was omitted is before 0 in some versions, and before the first interval in others.
    first_s = min((parts[0].start for parts in by_socket.values()), default=0.0)
    totals = {
        stream.socket: total
        for total in report.end.streams
        for stream in (total.sender, total.receiver, total.udp)
        if stream
    }
    for number, (socket, parts) in enumerate(by_socket.items(), start=1):
        sends = report.sends(parts[0])
        samples = _samples(parts, first_s, _arrived_share(report, parts, totals.get(socket)))
        if samples.is_empty():
            continue
        one = _one(report, sends, parts, totals.get(socket, _Total()))
        yield _Side(
            replace(
                one,
                label=f"stream {number}",
                start_s=parts[0].start - first_s,
                end_s=parts[-1].end - first_s,
                samples=samples,
            ),
            sends,
        )


def _check(stream: _Stream, last_s: float, file: Path, key: str) -> None:
    if stream.start < last_s - _LEAST_S or stream.end < stream.start:
        raise InputError(
            f"time goes back from {max(last_s, stream.start):g} s",
            source=str(file),
            key=f"{key}.start" if stream.start < last_s else f"{key}.end",
            value=stream.start if stream.start < last_s else stream.end,
            valid="intervals in order of time",
        )
    if stream.bytes * _BITS > MEGABITS_MAX * _MEGA * max(stream.seconds, _LEAST_S):
        raise InputError(
            f"in {stream.seconds:g} s that is more than {MEGABITS_MAX / _MEGA:g} Tbit/s",
            source=str(file),
            key=f"{key}.bytes",
            value=stream.bytes,
            valid="intervals of at least 0.1 ms, as iperf3 writes them",
        )


def _arrived_share(report: _Report, parts: Sequence[_Stream], total: _Total | None) -> float:
    """Return the share of what a sender counted that arrived: the rest waits in its socket."""
    if total is None or not report.sends(parts[0]):
        return 1.0
    if total.udp is not None:
        return 1.0 - max(total.udp.lost_percent or 0.0, 0.0) / 100
    counted = sum(part.bytes for part in parts)
    arrived = total.receiver.bytes if total.receiver is not None else 0.0
    return min(arrived / counted, 1.0) if counted and arrived else 1.0


def _samples(parts: Sequence[_Stream], first_s: float, arrived: float) -> pl.DataFrame:
    usual_s = median(part.seconds for part in parts)
    rows = [
        {
            "time_s": (part.start + part.end) / 2 - first_s,
            "goodput_mbit_per_s": part.goodput_mbit_per_s * arrived,
            "rtt_ms": part.rtt / 1000 if part.rtt and part.rtt > 0 else None,
            "retransmitted": _known(part.retransmits),
            "congestion_window_bytes": _known(part.snd_cwnd) or None,
            "receive_window_bytes": _known(part.snd_wnd) or None,
        }
        for part in parts
        if part.seconds > max(_SHORT * usual_s, _LEAST_S / 2)
    ]
    return pl.DataFrame(rows, schema=SAMPLES)


def _known(value: float | None) -> float | None:
    return None if value is None or value < 0 else value


def _one(report: _Report, sends: bool, parts: Sequence[_Stream], total: _Total) -> MeasuredFlow:
    """Return a stream without its samples and times."""
    counted = [value for part in parts if (value := _known(part.retransmits)) is not None]
    share = _arrived_share(report, parts, total)
    whole = share * sum(part.bytes for part in parts), parts[-1].end - parts[0].start
    arrived = total.receiver
    if arrived is not None and arrived.bytes and arrived.seconds > _LEAST_S:
        whole = arrived.bytes, arrived.seconds
    rtts_us = [part.rtt for part in parts] if sends else []
    rtts_us += [total.sender.min_rtt] if sends and total.sender else []
    is_udp = report.test.protocol.upper() == "UDP"
    mss_bytes = report.start.tcp_mss or report.start.tcp_mss_default or None
    target = report.test.target_bitrate or report.start.target_bitrate
    paced = report.test.fqrate or report.start.fq_rate
    forward = sends != report.is_of_server
    return MeasuredFlow(
        "",
        None if is_udp else _algorithm(report, sends),
        0.0,
        0.0,
        pl.DataFrame(schema=SAMPLES),
        mss_bytes=int(report.test.blksize) or None if is_udp else mss_bytes,
        segments=round(whole[0] / mss_bytes + sum(counted)) if mss_bytes and sends else None,
        retransmitted=round(sum(counted)) if counted and sends else None,
        rtt_min_ms=min((rtt / 1000 for rtt in rtts_us if rtt and rtt > 0), default=None),
        goodput_mbit_per_s=whole[0] * _BITS / whole[1] / _MEGA if whole[1] > 0 else None,
        direction="forward" if forward else "reverse",
        transport="udp" if is_udp else "tcp",
        target_mbit_per_s=(min(filter(None, (target, paced)), default=0) or 0) / _MEGA or None,
        granule_bytes=int(report.test.blksize or _BLOCK_BYTES) if sends and not is_udp else 0,
    )


def _algorithm(report: _Report, sends: bool) -> str | None:
    """Return the algorithm of a sender; with both directions the other end's is the receiver's."""
    end = report.end
    mixed = any(
        report.sends(stream) != sends for part in report.intervals for stream in part.streams
    )
    other = end.receiver_tcp_congestion if mixed and not sends else None
    return other or end.sender_tcp_congestion


def _merged(sides: Sequence[_Side], others: Sequence[_Side]) -> list[MeasuredFlow]:
    """Return the flows: goodput as it was received, the rest as the sender knows it."""
    waiting: dict[tuple[Direction, bool], list[_Side]] = {}
    for side_of_server in others:
        waiting.setdefault((side_of_server.flow.direction, side_of_server.sends), []).append(
            side_of_server
        )
    flows = []
    for side in sides:
        match = waiting.get((side.flow.direction, not side.sends))
        flows.append(_both(side, match.pop(0)) if match else side.flow)
    return flows


def _both(one: _Side, other: _Side) -> MeasuredFlow:
    sent, received = (one.flow, other.flow) if one.sends else (other.flow, one.flow)
    arrived = received.samples.select("time_s", "goodput_mbit_per_s").sort("time_s")
    step_s = arrived["time_s"].diff().median()
    step_s = step_s if isinstance(step_s, float) else 1.0
    # The ends sample at different moments, so the nearest within a step is taken.
    met = sent.samples.sort("time_s").join_asof(
        arrived, on="time_s", strategy="nearest", suffix="_received", tolerance=step_s
    )
    samples = met.with_columns(
        pl.coalesce("goodput_mbit_per_s_received", "goodput_mbit_per_s").alias("goodput_mbit_per_s")
    ).drop("goodput_mbit_per_s_received")
    return replace(
        sent,
        label=one.flow.label,
        algorithm=sent.algorithm or received.algorithm,
        samples=samples,
        goodput_mbit_per_s=received.goodput_mbit_per_s,
        granule_bytes=0,
    )
