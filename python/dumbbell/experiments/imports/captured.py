"""Captures of packets: pcap and pcapng files, as tcpdump and Wireshark write them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, Literal

import msgspec
import polars as pl
from msgspec.json import Decoder

from dumbbell import _core
from dumbbell.base.errors import InputError
from dumbbell.base.units import NS_PER_S
from dumbbell.engines.cancelling import CancelToken, crew
from dumbbell.execution.executor import in_order_of_completion
from dumbbell.experiments.imports.decoding import SECONDS_MAX
from dumbbell.experiments.imports.measurement import SAMPLES, Direction, MeasuredFlow, Measurement
from dumbbell.experiments.imports.opening import Source

STEP_S: Final = 0.1

_STEP_NS: Final = int(STEP_S * NS_PER_S)

_LEAST_SHARE: Final = 0.01
"""A flow that carries a smaller share of all bytes is ignored."""

_LINKS: Final = "Ethernet, IP, PPP, loopback or Linux cooked packets"

Place = Literal["sender", "receiver", "between"]


class _Steps(msgspec.Struct):
    """Columns, with a row for each step in which anything happened."""

    number: list[int]
    delivered_bytes: list[int]
    again: list[int]
    in_flight_bytes: list[int | None]
    window_bytes: list[int | None]
    rtt_mean_ns: list[int | None]
    rtt_max_ns: list[int | None]


class _Connection(msgspec.Struct):
    """One direction of a connection."""

    sender: str
    receiver: str
    start_ns: int
    end_ns: int
    is_opened: bool
    is_answered: bool
    mss_bytes: int
    segments: int
    again: int
    reordered: int
    delivered_bytes: int
    missed_bytes: int
    place: Place
    place_is_guess: bool
    rtt_min_ns: int | None
    no_rtt: str | None
    steps: _Steps


class _Capture(msgspec.Struct):
    packets: int
    copies: int
    too_short: int
    unknown: int
    unknown_link: int | None
    clock_steps: int
    too_late: int
    is_cut: bool
    step_ns: int
    left_out: int
    connections: list[_Connection]


_read_capture: Final = Decoder(_Capture).decode


def read(source: Source) -> Measurement:
    """Follow the connections of a capture; what is none, or damaged, is an InputError."""
    capture = _read(source)
    kept = capture.connections
    if not kept:
        raise _nothing(capture, source)
    first_ns = min(connection.start_ns for connection in kept)
    last_ns = max(connection.end_ns for connection in kept)
    if last_ns - first_ns > SECONDS_MAX * NS_PER_S:
        raise InputError(
            f"its connections last {(last_ns - first_ns) / NS_PER_S:,.0f} s",
            source=str(source.file),
            valid=f"at most {SECONDS_MAX:,} s; `editcap -A START -B STOP` cuts a part out",
        )
    names = _labels(kept)
    ways = _directions(kept)
    flows = [
        _flow(connection, name, way, first_ns, capture.step_ns)
        for connection, name, way in zip(kept, names, ways, strict=True)
    ]
    duration_s = max(flow.end_s for flow in flows)
    tool = f"a capture of {capture.packets:,} TCP packets"
    notes = list(_notes(capture, is_cut=capture.is_cut or source.is_cut))
    return Measurement(source.file, tool, duration_s, flows, notes)


def _read(source: Source) -> _Capture:
    cancel = CancelToken()
    try:
        with crew("capture", 1) as pool, cancel.on_error():
            future = pool.submit(
                _core.read_capture, source, _STEP_NS, _LEAST_SHARE, cancel=cancel.core
            )
            # In another thread: a capture may have gigabytes, and this one hears Ctrl-C.
            (content,) = in_order_of_completion([future])
    except ValueError as error:
        # If reading failed, that is the better reason.
        source.check()
        raise InputError(
            str(error), source=str(source.file), valid="a pcap or pcapng file"
        ) from None
    source.check()
    return _read_capture(content)


def _nothing(capture: _Capture, source: Source) -> InputError:
    """Say why there is nothing to measure."""
    problem = f"no connection in its {capture.packets:,} TCP packets carries data"
    valid = "a capture of a TCP transfer"
    if capture.left_out:
        problem = (
            f"none of its {capture.left_out:,} connections has {_LEAST_SHARE:.0%} of all bytes"
        )
        valid = "a capture of up to 100 connections; `tcpdump -r FILE -w PART FILTER` takes a part"
    elif not capture.packets and capture.too_short:
        problem = f"all {capture.too_short:,} TCP packets are cut before the end of their header"
        valid = "`tcpdump -s 100`, or more"
    elif not capture.packets and capture.unknown:
        problem = f"its packets are of link type {capture.unknown_link}, which is not read"
        valid = f"a capture of {_LINKS}"
    return InputError(problem, source=str(source.file), valid=valid)


def _notes(capture: _Capture, *, is_cut: bool) -> Iterator[str]:
    if is_cut:
        yield "the file ends within a packet, and what is before it is used"
    if capture.too_short:
        yield f"{capture.too_short:,} TCP packets are cut before the end of their header"
    if capture.unknown:
        yield f"{capture.unknown:,} packets of link type {capture.unknown_link} are left out"
    if capture.copies:
        yield f"{capture.copies:,} packets were captured twice, and count once"
    if capture.clock_steps:
        yield f"the clock was set back {capture.clock_steps} times: time continues from there"
    if capture.too_late:
        yield (
            f"{capture.too_late:,} packets are stored far behind later ones, which falsifies"
            " retransmissions and RTTs: sort the file with `reordercap FILE SORTED`"
        )
    if capture.left_out:
        share = f"{_LEAST_SHARE:.0%}"
        yield f"{capture.left_out:,} connections with less than {share} of all bytes are left out"
    if capture.step_ns > _STEP_NS:
        yield f"steps of {capture.step_ns / NS_PER_S:g} s, as it is long"
    yield from _of_connections(capture.connections)


def _of_connections(kept: Sequence[_Connection]) -> Iterator[str]:
    places = Counter(connection.place for connection in kept if connection.is_answered)
    for place, count in places.items():
        where = "between the hosts" if place == "between" else f"at the {place}"
        yield f"captured {where} of {_all_or(count, len(kept))}"
    guesses = sum(connection.place_is_guess and connection.is_answered for connection in kept)
    if guesses:
        yield (
            f"the point of capture is a guess for {_all_or(guesses, len(kept))}: neither a"
            " handshake nor the sender's answers show the other part of the round trip"
        )
    for reason, count in Counter(
        connection.no_rtt for connection in kept if connection.no_rtt
    ).items():
        yield f"no RTT of {_all_or(count, len(kept))}: {reason}"
    one_way = sum(not connection.is_answered for connection in kept)
    if one_way:
        yield f"goodput of {_all_or(one_way, len(kept))} is of data seen, not acknowledged"
    reordered = sum(connection.reordered for connection in kept)
    if reordered:
        yield f"{reordered:,} segments were overtaken on their way, which is no loss"
    missed = sum(connection.missed_bytes for connection in kept)
    if missed:
        yield f"{missed:,} bytes were acknowledged that are not in the capture"


def _all_or(count: int, all_of_them: int) -> str:
    if count == all_of_them:
        return "all flows" if count > 1 else "the flow"
    return f"{count} of {all_of_them} flows"


def _labels(kept: Sequence[_Connection]) -> list[str]:
    """Name each flow by its ends; ports may be used again."""
    seen = Counter[str]()
    names = []
    for connection in kept:
        name = f"{connection.sender} to {connection.receiver}"
        seen[name] += 1
        names.append(name if seen[name] == 1 else f"{name}, {seen[name]}")
    return names


def _directions(kept: Sequence[_Connection]) -> list[Direction]:
    """Return which way each flow's data goes: that of the largest is the way forward."""
    main = max(kept, key=lambda connection: connection.delivered_bytes)
    return ["forward" if _goes_with(main, connection) else "reverse" for connection in kept]


def _goes_with(main: _Connection, other: _Connection) -> bool:
    ends = [end.rpartition(":") for end in (main.sender, main.receiver)]
    others = [end.rpartition(":") for end in (other.sender, other.receiver)]
    # Of two ends on one host, the ports say which is which.
    place = 2 if ends[0][0] == ends[1][0] else 0
    sender, receiver = (end[place] for end in ends)
    from_, to = (end[place] for end in others)
    if from_ == sender or to == receiver:
        return True
    if from_ == receiver or to == sender:
        return False
    return other.place == main.place


def _flow(
    connection: _Connection, label: str, direction: Direction, first_ns: int, step_ns: int
) -> MeasuredFlow:
    seconds = (connection.end_ns - connection.start_ns) / NS_PER_S
    return MeasuredFlow(
        label,
        None,
        (connection.start_ns - first_ns) / NS_PER_S,
        (connection.end_ns - first_ns) / NS_PER_S,
        _samples(connection.steps, first_ns, step_ns),
        mss_bytes=connection.mss_bytes if connection.segments else None,
        segments=connection.segments or None,
        retransmitted=connection.again if connection.segments else None,
        rtt_min_ms=None if connection.rtt_min_ns is None else connection.rtt_min_ns / 1e6,
        no_rtt=connection.no_rtt,
        goodput_mbit_per_s=connection.delivered_bytes * 8 / seconds / 1e6 if seconds > 0 else None,
        direction=direction,
    )


def _samples(steps: _Steps, first_ns: int, step_ns: int) -> pl.DataFrame:
    """Return a row for each step in which anything happened, and for those at either side."""
    step_s = step_ns / NS_PER_S
    counted = pl.DataFrame(
        {name: pl.Series(getattr(steps, name), dtype=pl.Int64) for name in _Steps.__struct_fields__}
    )
    # The steps at either side are silent: a line falls to 0 there, and long silences need no rows.
    around = (
        pl.concat([counted["number"] - 1, counted["number"], counted["number"] + 1]).unique().sort()
    )
    inner = around.filter(around.is_between(steps.number[0], steps.number[-1]))
    rows = pl.DataFrame({"number": inner}).join(counted, on="number", how="left")
    milliseconds = 1e6
    return (
        rows.sort("number")
        .select(
            time_s=(pl.col("number") + 0.5) * step_s - first_ns / NS_PER_S,
            goodput_mbit_per_s=pl.col("delivered_bytes").fill_null(0) * 8 / step_s / 1e6,
            rtt_ms=pl.col("rtt_mean_ns") / milliseconds,
            retransmitted=pl.col("again").fill_null(0).cast(pl.Float64),
            rtt_high_ms=pl.col("rtt_max_ns") / milliseconds,
            congestion_window_bytes=pl.lit(None, dtype=pl.Float64),
            receive_window_bytes=pl.col("window_bytes").cast(pl.Float64),
            in_flight_bytes=pl.col("in_flight_bytes").cast(pl.Float64),
        )
        .select(*SAMPLES)
    )
