"""JSON that is written again in one form: piece by piece, as the whole may have 200 MB.

As plain data, or as one list of pieces, such a text would take several times its room.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from dumbbell.scenario.resolve import canonical_json

_PIECE_BYTES: Final = 20_000
"""What is decoded as a whole."""

_OBJECT: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_ARRAY: Final = msgspec.json.Decoder(list[msgspec.Raw]).decode
"""Made here because of threads; see `contract.reading`."""

Texts = Mapping[str, "bytes | msgspec.Raw"]
"""The values of an object as JSON, by their keys."""


@dataclass(frozen=True)
class Form:
    """A form of JSON with sorted keys: each value in a line of its own, or without any space."""

    indented: bool

    def of(self, texts: Texts) -> Iterator[bytes]:
        """Yield the pieces of an object that is not empty."""
        return self._object(texts, 0)

    def _object(self, texts: Texts, depth: int) -> Iterator[bytes]:
        separator = b"{"
        for key in sorted(texts):
            yield separator + self._line(depth + 1)
            yield json.dumps(key).encode() + (b": " if self.indented else b":")
            yield from self._value(texts[key], depth + 1)
            separator = b","
        yield self._line(depth) + b"}"

    def _array(self, texts: list[msgspec.Raw], depth: int) -> Iterator[bytes]:
        separator = b"["
        for text in texts:
            yield separator + self._line(depth + 1)
            yield from self._value(text, depth + 1)
            separator = b","
        yield self._line(depth) + b"]"

    def _value(self, text: bytes | msgspec.Raw, depth: int) -> Iterator[bytes]:
        raw = memoryview(text)
        begins = bytes(raw[:1])
        if len(raw) <= _PIECE_BYTES or begins not in (b"{", b"["):
            yield self._rendered(json.loads(bytes(raw)), depth)
        elif begins == b"{":
            yield from self._object(_OBJECT(raw), depth)
        else:
            yield from self._array(_ARRAY(raw), depth)

    def _rendered(self, value: Any, depth: int) -> bytes:
        if not self.indented:
            return canonical_json(value).encode()
        text = json.dumps(value, sort_keys=True, indent=1)
        return text.encode().replace(b"\n", self._line(depth))

    def _line(self, depth: int) -> bytes:
        return b"\n" + b" " * depth if self.indented else b""


CANONICAL: Final = Form(indented=False)
"""The form that is hashed; see `canonical_json`."""
IN_FILES: Final = Form(indented=True)
"""The form of files."""


def texts(content: bytes) -> dict[str, msgspec.Raw]:
    """Return the values of an object as JSON, by their keys; ValueError if it is none."""
    return _OBJECT(content)
