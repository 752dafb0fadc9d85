"""The data files of Flent (``*.flent.gz``; https://flent.org/data-format.html).

Each flow's goodput is a series with values in Mbit/s; RTT and window come from `ss` where the test
was run with ``--socket-stats``, and the RTT of the path from the ping beside the flows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
import polars as pl
from msgspec.json import Decoder

from dumbbell.errors import InputError
from dumbbell.measured.decoding import decoded
from dumbbell.measured.measurement import SAMPLES, MeasuredFlow, Measurement

_FLOW: Final = re.compile(r"^TCP (upload|download)")
_PING: Final = re.compile(r"^Ping \(ms\)")
_AGGREGATES: Final = ("avg", "sum", "totals")


class _File(msgspec.Struct):
    metadata: dict[str, Any]
    results: dict[str, list[float | None]]
    x_values: list[float]


_read_file: Final = Decoder(_File).decode


def is_one(content: Any) -> bool:
    """Tell whether JSON is what Flent writes."""
    return isinstance(content, dict) and {"metadata", "results", "x_values"} <= content.keys()


def read(content: Mapping[str, Any], file: Path) -> Measurement:
    """Read a data file; what is missing in it is an InputError that names the key."""
    found = decoded(_read_file, content, file, "Flent")
    for name, values in found.results.items():
        if len(values) != len(found.x_values):
            raise InputError(
                f"has {len(values)} values for {len(found.x_values)} times",
                source=str(file),
                key=f"results.{name}",
            )
    names = [name for name in found.results if _is_flow(name)]
    flows = [flow for name in names if (flow := _flow(found, name)) is not None]
    if not flows:
        raise InputError(
            "no TCP flow is in it",
            source=str(file),
            key="results",
            valid="a test with series such as `TCP upload` or `TCP download`, as tcp_nup or rrul",
        )
    notes = []
    if any(name.startswith("TCP download") for name in names):
        notes.append("downloads: what their senders did is not in the file")
    if all(flow.samples["rtt_ms"].null_count() == flow.samples.height for flow in flows):
        notes.append("without RTTs of the flows: run Flent with --socket-stats")
    elif not any(f"{name}::tcp_rtt" in found.results for name in names):
        notes.append("RTTs are those of the ping beside the flows")
    version = found.metadata.get("FLENT_VERSION", "")
    test = found.metadata.get("NAME", "")
    tool = " ".join(filter(None, ("Flent", str(version), str(test))))
    return Measurement(file, tool, max(flow.end_s for flow in flows), flows, notes)


def _is_flow(name: str) -> bool:
    """Tell whether a series is the goodput of one flow, not a mean or a figure of its socket."""
    base = name.removeprefix("TCP ")
    socket = "::tcp_" in base
    return bool(_FLOW.match(name)) and not socket and not base.endswith(_AGGREGATES)


def _flow(file: _File, name: str) -> MeasuredFlow | None:
    goodputs = file.results[name]
    lives = [time_s for time_s, value in zip(file.x_values, goodputs, strict=True) if value]
    if not lives:
        return None
    rtts = _rtts(file, name)
    rows = [
        {"time_s": time_s, "goodput_mbit_per_s": goodput, "rtt_ms": rtt, "retransmitted": None}
        for time_s, goodput, rtt in zip(file.x_values, goodputs, rtts, strict=True)
        if lives[0] <= time_s <= lives[-1]
    ]
    samples = pl.DataFrame(rows, schema=SAMPLES)
    mean = samples["goodput_mbit_per_s"].mean()
    least = samples["rtt_ms"].min()
    return MeasuredFlow(
        name.removeprefix("TCP "),
        _algorithm(file, name),
        lives[0],
        lives[-1],
        samples,
        rtt_min_ms=least if isinstance(least, float) else None,
        goodput_mbit_per_s=mean if isinstance(mean, float) else None,
    )


def _rtts(file: _File, name: str) -> Sequence[float | None]:
    own = file.results.get(f"{name}::tcp_rtt")
    if own is not None:
        return own
    pings = [values for ping, values in file.results.items() if _PING.match(ping)]
    return pings[0] if pings else [None] * len(file.x_values)


def _algorithm(file: _File, name: str) -> str | None:
    """Return what the file says of a flow's algorithm: of the flow, or of the host that sends."""
    of_flow = _under(_under(file.metadata, "SERIES_META"), name)
    found = of_flow.get("CONG_CONTROL")
    if found is None and name.startswith("TCP upload"):
        found = _under(file.metadata, "SYSCTLS").get("net.ipv4.tcp_congestion_control")
    return found if isinstance(found, str) else None


def _under(table: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = table.get(key)
    return found if isinstance(found, Mapping) else {}
