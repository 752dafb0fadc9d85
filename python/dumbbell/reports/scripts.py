"""Data for pages as scripts: a page that is opened from disk may load those, and nothing else."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

_LEVEL = 9


def as_json(data: Any) -> str:
    """Return compact JSON, safe for a script."""
    return json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def assignment(name: str, data: Any) -> str:
    """Return a script that sets a variable."""
    return f"{name} = {as_json(data)};\n"


def call(function: str, *arguments: Any) -> str:
    """Return a script that calls a function of the page."""
    return f"{function}({','.join(map(as_json, arguments))});\n"


def packed(data: Any) -> str:
    """Return data as text a browser can unpack: JSON, compressed (RFC 1950), in base64."""
    return base64.b64encode(zlib.compress(as_json(data).encode(), _LEVEL)).decode()


def rounded(value: float | None, digits: int) -> float | int | None:
    """Return a number with few digits and without a needless point; None stays None."""
    if value is None:
        return None
    short = float(f"{value:.{digits}g}")
    return int(short) if short.is_integer() and abs(short) < 1e15 else short
