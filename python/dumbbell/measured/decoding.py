"""JSON of other tools as typed values; what does not fit names its place in the file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from dumbbell.errors import InputError

T = TypeVar("T")


def decoded(read: Callable[[str], T], content: Any, file: Path, tool: str) -> T:
    """Return content as a decoder of msgspec has it; `tool` is who should have written it."""
    try:
        return read(json.dumps(content))
    except msgspec.DecodeError as error:
        problem, _, place = str(error).partition(" - at `$.")
        raise InputError(
            f"not as {tool} writes it: {problem}", source=str(file), key=place.rstrip("`") or None
        ) from None
