"""Detection of the tool that wrote a file, and reading of its content."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec
from msgspec.json import Decoder

from dumbbell import _core
from dumbbell.base.errors import InputError
from dumbbell.experiments.imports import captured, flent, iperf3
from dumbbell.experiments.imports.decoding import documents, malformed
from dumbbell.experiments.imports.measurement import Measurement
from dumbbell.experiments.imports.opening import opened

VALID: Final = (
    "the output of `iperf3 --json` or --json-stream, a data file of Flent (*.flent.gz), a pcap or"
    " pcapng file, lines of `tc qdisc`, or a CSV trace of TheaterQ (KEEP,LATENCY,RATE,LOSS,LIMIT)"
)

_TEXT_BYTES_MAX: Final = 64_000_000

_NOTHING: Final = msgspec.Raw()


class _Keys(msgspec.Struct):
    """Keys of an object that identify its tool."""

    start: msgspec.Raw = _NOTHING
    intervals: msgspec.Raw = _NOTHING
    error: msgspec.Raw = _NOTHING
    event: msgspec.Raw = _NOTHING
    metadata: msgspec.Raw = _NOTHING
    results: msgspec.Raw = _NOTHING
    x_values: msgspec.Raw = _NOTHING

    def has(self, *names: str) -> bool:
        """Return True if all of these are there."""
        return all(bytes(getattr(self, name)) for name in names)


_read_keys: Final = Decoder(_Keys).decode


def read(file: Path) -> Measurement:
    """Read a file of any of the tools; another one is an InputError that lists the valid ones."""
    with opened(file, VALID) as source:
        if _core.is_capture(source.start):
            return captured.read(source)
        return _read_json(source.whole(_TEXT_BYTES_MAX), file)


def _read_json(text: bytes, file: Path) -> Measurement:
    if text.lstrip()[:1] != b"{":
        raise InputError("not recognised", source=str(file), valid=VALID)
    parts = documents(text)
    try:
        keys = _read_keys(parts[0])
    except msgspec.DecodeError as error:
        raise malformed(error, parts[0], file) from None
    except RecursionError:
        raise InputError("nested too deeply", source=str(file), valid=VALID) from None
    if keys.has("metadata", "results", "x_values"):
        return flent.read(text, file)
    if keys.has("event"):
        return iperf3.read_events(parts, file)
    if keys.has("start") and (keys.has("intervals") or keys.has("error")):
        return iperf3.read(parts, file)
    raise InputError("not recognised", source=str(file), valid=VALID)
