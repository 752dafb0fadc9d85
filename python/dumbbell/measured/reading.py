"""Which tool wrote a file, and what it says."""

from __future__ import annotations

import gzip
import json
import stat
import zlib
from pathlib import Path
from typing import Any, Final

from dumbbell import _core
from dumbbell.errors import InputError
from dumbbell.measured import captured, flent, iperf3
from dumbbell.measured.measurement import Measurement

VALID: Final = (
    "what `iperf3 --json` or --json-stream writes, a data file of Flent (*.flent.gz), or a pcap or"
    " pcapng file"
)

_TEXT_BYTES_MAX: Final = 500_000_000
_GZIP: Final = b"\x1f\x8b"


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
    content = _content(text)
    if flent.is_one(content):
        return flent.read(content, file)
    if iperf3.is_one(content):
        return iperf3.read(content, file)
    raise InputError("nothing that is known here", source=str(file), valid=VALID)


def _text(file: Path, start: bytes) -> str:
    with gzip.open(file) if start.startswith(_GZIP) else file.open("rb") as opened:
        content = opened.read(_TEXT_BYTES_MAX + 1)
    if len(content) > _TEXT_BYTES_MAX:
        raise InputError(
            "too large", source=str(file), valid=f"at most {_TEXT_BYTES_MAX // 10**6} MB of text"
        )
    return content.decode(errors="replace")


def _content(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return iperf3.joined(text.splitlines())
