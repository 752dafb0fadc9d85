"""The data files of Flent (``*.flent.gz``; https://flent.org/data-format.html).

Each flow's goodput is a series in Mbit/s. Its RTT and window are from ``ss`` where the test was run
with ``--socket-stats``. The RTT of the path is from the ping next to the flows. Other series are
means and sums of flows, values of their sockets, or no TCP at all.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Final

import msgspec
import polars as pl
from msgspec import Meta, Raw
from msgspec.json import Decoder

from dumbbell.algorithms import catalogue
from dumbbell.base.errors import InputError, placed
from dumbbell.experiments.imports.decoding import MEGABITS_MAX, Seconds, decoded
from dumbbell.experiments.imports.measurement import SAMPLES, MeasuredFlow, Measurement

_FLOW: Final = re.compile(r"^(TCP|UDP)\b")
_PING: Final = re.compile(r"^Ping \(ms\)")
_DERIVED_NAME: Final = re.compile(r"\b(avg|average|mean|sum|totals?|fairness)$", re.IGNORECASE)
_DERIVED_RUNNERS: Final = {
    "AverageRunner",
    "SmoothAverageRunner",
    "SumRunner",
    "DiffMinRunner",
    "FairnessRunner",
}
_RATE_UNITS: Final = {"mbits/s", "mbit/s"}
_MSS_BYTES: Final = 1448

_Values = list[Annotated[float, Meta(ge=0, le=MEGABITS_MAX)] | None]


_NOTHING: Final = Raw()
_TEXT_BYTES_MAX: Final = 10_000


_any_value: Final = Decoder().decode


class _Series(msgspec.Struct, rename="upper"):
    """The metadata of a series.

    Versions of Flent differ in what they write, and in whether numbers are texts.
    """

    runner: Raw = _NOTHING
    units: Raw = _NOTHING
    cong_control: Raw = _NOTHING
    tcp_mss: Raw = _NOTHING
    tcp_retransmit: Raw = _NOTHING
    bytes_sent: Raw = _NOTHING
    command: Raw = _NOTHING

    def number(self, name: str) -> int | None:
        """Return a whole number, given as such or as a text; None: missing, or Flent's -1."""
        try:
            value = int(_text(getattr(self, name)))
        except ValueError:
            return None
        return value if 0 <= value < 2**62 else None


class _Host(msgspec.Struct):
    sysctls: dict[str, Raw] = msgspec.field(default_factory=dict, name="SYSCTLS")


class _Metadata(_Host):
    name: Raw = msgspec.field(default=_NOTHING, name="NAME")
    version: Raw = msgspec.field(default=_NOTHING, name="FLENT_VERSION")
    series: dict[str, _Series] = msgspec.field(default_factory=dict, name="SERIES_META")
    remote: dict[str, _Host] = msgspec.field(default_factory=dict, name="REMOTE_METADATA")
    parameters: dict[str, Raw] = msgspec.field(default_factory=dict, name="TEST_PARAMETERS")


def _text(raw: Raw) -> str:
    """Return a text or a number as a text; "" if it is neither."""
    content = bytes(raw)
    if len(content) > _TEXT_BYTES_MAX:
        return ""
    value = _any_value(content) if content else None
    return str(value) if isinstance(value, str | int | float) else ""


class _File(msgspec.Struct):
    metadata: _Metadata
    results: dict[str, Raw]
    x_values: list[Seconds]

    def meta(self, name: str) -> _Series:
        """Return the metadata of a series."""
        return self.metadata.series.get(name) or _Series()


_read_file: Final = Decoder(_File).decode
_read_values: Final = Decoder(_Values).decode


def read(content: bytes, file: Path) -> Measurement:
    """Read a data file; what is missing or wrong in it is an InputError that names the key."""
    data = decoded(_read_file, content, file, "Flent")
    _check_times(data.x_values, file)
    reader = _Reader(data, file)
    names = [name for name in data.results if _is_flow(data, name)]
    flows = [flow for name in names if (flow := reader.flow(name)) is not None]
    if not flows:
        raise InputError(
            "no TCP flow is in it",
            source=str(file),
            key="results",
            valid="a test with series such as `TCP upload` or `TCP download`, as tcp_nup or rrul",
        )
    words = (_text(data.metadata.version), _text(data.metadata.name))
    tool = " ".join(filter(None, ("Flent", *words)))
    return Measurement(
        file, tool, max(flow.end_s for flow in flows), flows, _notes(data, names, flows)
    )


def _check_times(times_s: Sequence[float], file: Path) -> None:
    for number, (before_s, time_s) in enumerate(pairwise(times_s), start=2):
        if time_s <= before_s:
            raise InputError(
                f"not after the time before it, {before_s:g}",
                source=str(file),
                key=f"x_values.{number}",
                value=time_s,
                valid="times in seconds that rise",
            )


def _notes(file: _File, names: Sequence[str], flows: Sequence[MeasuredFlow]) -> list[str]:
    notes = []
    if any(flow.direction == "reverse" for flow in flows):
        notes.append("downloads: the file has RTTs of the sockets of uploads, not of theirs")
    if all(flow.samples["rtt_ms"].count() == 0 for flow in flows):
        notes.append("without RTTs: run Flent with --socket-stats")
    elif not any(f"{name}::tcp_rtt" in file.results for name in names):
        notes.append("RTTs are those of the ping next to the flows")
    others = {
        name.partition("::")[0]
        for name in file.results
        if not _PING.match(name) and not name.startswith("TCP") and not _is_derived(file, name)
    } - set(names)
    if others:
        notes.append(f"left out, as it is no TCP flow: {', '.join(sorted(others))}")
    return notes


def _is_flow(file: _File, name: str) -> bool:
    """Return True if a series is the goodput of one flow, not a mean or a value of its socket."""
    if not _FLOW.match(name) or _is_derived(file, name):
        return False
    units = _text(file.meta(name).units).lower()
    if units and units not in _RATE_UNITS:
        return False
    return not any(
        name.startswith(f"{other}::") and other in file.results
        for other in (name[: place.start()] for place in re.finditer("::", name))
    )


def _is_derived(file: _File, name: str) -> bool:
    runner = _text(file.meta(name).runner)
    return runner in _DERIVED_RUNNERS if runner else bool(_DERIVED_NAME.search(name))


class _Reader:
    """Reads requested series of a file, each once."""

    def __init__(self, file: _File, source: Path) -> None:
        self._file = file
        self._source = source
        self._pings = [name for name in file.results if _PING.match(name)]

    def flow(self, name: str) -> MeasuredFlow | None:
        """Return a flow, or None if nothing of it arrived."""
        file = self._file
        goodputs = self._values(name)
        lives = [t for t, value in zip(file.x_values, goodputs, strict=True) if value]
        if not lives:
            return None
        meta = file.meta(name)
        mss_bytes = meta.number("tcp_mss") or None
        every = self._samples(name, goodputs, mss_bytes or _MSS_BYTES)
        samples = every.filter(pl.col("time_s").is_between(lives[0], lives[-1]))
        # Pings also see the path before the flows begin.
        mean, least = samples["goodput_mbit_per_s"].mean(), every["rtt_ms"].min()
        sent, again = meta.number("bytes_sent"), meta.number("tcp_retransmit")
        segments = sent // mss_bytes + again if sent and again is not None and mss_bytes else None
        is_udp = name.startswith("UDP")
        return MeasuredFlow(
            re.sub(r"^TCP (?=\S)", "", name),
            None if is_udp else _algorithm(file, name),
            lives[0],
            lives[-1],
            samples,
            mss_bytes=mss_bytes,
            segments=segments,
            retransmitted=None if segments is None else again,
            rtt_min_ms=least if isinstance(least, float) else None,
            goodput_mbit_per_s=mean if isinstance(mean, float) else None,
            direction="reverse" if _is_download(file, name) else "forward",
            transport="udp" if is_udp else "tcp",
        )

    def _samples(self, name: str, goodputs: Sequence[float | None], mss_bytes: int) -> pl.DataFrame:
        """Return all samples of a flow; the file has windows in segments."""
        columns = {
            "time_s": self._file.x_values,
            "goodput_mbit_per_s": goodputs,
            "rtt_ms": self._rtts(name),
            "congestion_window_bytes": self._of_socket(name, "tcp_cwnd"),
        }
        frame = pl.DataFrame(columns, schema={key: SAMPLES[key] for key in columns})
        missing = [pl.lit(None, kind).alias(key) for key, kind in SAMPLES.items()]
        return frame.with_columns(
            pl.col("congestion_window_bytes") * mss_bytes,
            *(column for column in missing if column.meta.output_name() not in columns),
        ).select(*SAMPLES)

    def _of_socket(self, name: str, what: str) -> Sequence[float | None]:
        series = f"{name}::{what}"
        if series in self._file.results:
            return self._values(series)
        return [None] * len(self._file.x_values)

    def _rtts(self, name: str) -> Sequence[float | None]:
        """Return a flow's RTTs, in ms: of its socket, or of the ping that is most like it."""
        of_socket = self._of_socket(name, "tcp_rtt")
        if any(of_socket):
            return [value or None for value in of_socket]
        if not self._pings:
            return of_socket
        words = set(re.split(r"[\s:]+", name))
        likest = max(self._pings, key=lambda ping: _likeness(ping, words))
        return [value or None for value in self._values(likest)]

    def _values(self, name: str) -> list[float | None]:
        """Return the values of a series, one for each time."""
        key = f"results.{name}"
        with placed(key=key):
            values: list[float | None] = decoded(
                _read_values, bytes(self._file.results[name]), self._source, "Flent"
            )
        if len(values) != len(self._file.x_values):
            raise InputError(
                f"has {len(values)} values for {len(self._file.x_values)} times",
                source=str(self._source),
                key=key,
            )
        return values


def _likeness(ping: str, words: set[str]) -> tuple[bool, int, bool]:
    """Order pings: no mean, most words in common with the flow (its host, its class), ICMP."""
    return (
        not _DERIVED_NAME.search(ping),
        len(words & set(re.split(r"[\s:]+", ping))),
        "ICMP" in ping,
    )


def _is_download(file: _File, name: str) -> bool:
    command = re.search(r"\b(TCP_MAERTS|TCP_STREAM)\b", _text(file.meta(name).command))
    return command[1] == "TCP_MAERTS" if command else "download" in name.lower()


def _senders(file: _File, name: str) -> Sequence[_Host]:
    """Return the hosts that may have sent a flow; the command names the one of a download."""
    if not _is_download(file, name):
        return [file.metadata]
    remote = file.metadata.remote
    host = re.search(r" -H (\S+)", _text(file.meta(name).command))
    return [remote[host[1]]] if host and host[1] in remote else list(remote.values())


def _algorithm(file: _File, name: str) -> str | None:
    """Return the algorithm of a flow in the file: from the flow, its name, or its sender."""
    known = catalogue.algorithms()
    sysctls = {
        _text(host.sysctls.get("net.ipv4.tcp_congestion_control", _NOTHING))
        for host in _senders(file, name)
    }
    names = (
        _text(file.meta(name).cong_control),
        *(word for word in re.split(r"[\s:]+", name.lower()) if word in known),
        _text(file.metadata.parameters.get("tcp_cong_control", _NOTHING)),
        *(sysctls if len(sysctls) == 1 else ()),
    )
    return next(filter(None, names), None)
