"""Which tool wrote a file, and what it says."""

from __future__ import annotations

import bz2
import gzip
import stat
import zlib
from pathlib import Path
from typing import Final

import msgspec
from msgspec.json import Decoder

from dumbbell import _core
from dumbbell.errors import InputError
from dumbbell.measured import captured, flent, iperf3
from dumbbell.measured.decoding import documents, malformed
from dumbbell.measured.measurement import Measurement

VALID: Final = (
    "what `iperf3 --json` or --json-stream writes, a data file of Flent (*.flent.gz), or a pcap or"
    " pcapng file"
)

_TEXT_BYTES_MAX: Final = 64_000_000
_COMPRESSED: Final = {b"\x1f\x8b": gzip.GzipFile, b"BZ": bz2.BZ2File}
"""How files begin that another program compressed, and what opens them."""


_NOTHING: Final = msgspec.Raw()


class _Keys(msgspec.Struct):
    """What of an object says who wrote it."""

    start: msgspec.Raw = _NOTHING
    intervals: msgspec.Raw = _NOTHING
    error: msgspec.Raw = _NOTHING
    event: msgspec.Raw = _NOTHING
    metadata: msgspec.Raw = _NOTHING
    results: msgspec.Raw = _NOTHING
    x_values: msgspec.Raw = _NOTHING

    def has(self, *names: str) -> bool:
        """Tell whether all of these are there."""
        return all(bytes(getattr(self, name)) for name in names)


_read_keys: Final = Decoder(_Keys).decode


def read(file: Path) -> Measurement:
    """Read a file of any of the tools; another one is an InputError that says what is read."""
    try:
        found = file.stat()
        if not stat.S_ISREG(found.st_mode):
            raise InputError("not a regular file", source=str(file), valid=VALID)
        with file.open("rb") as opened:
            start = opened.read(4)
        if _core.is_capture(start):
            return captured.read(file)
        text = _text(file, start)
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot read it: {reason}", source=str(file), valid=VALID) from None
    return _read_json(text, file)


def _text(file: Path, start: bytes) -> bytes:
    opener = _COMPRESSED.get(start[:2])
    with opener(file) if opener else file.open("rb") as opened:
        content: bytes = opened.read(_TEXT_BYTES_MAX + 1)
    if len(content) > _TEXT_BYTES_MAX:
        raise InputError(
            "too large", source=str(file), valid=f"at most {_TEXT_BYTES_MAX // 10**6} MB of text"
        )
    return content


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
