"""JSON that is written again in one form: piece by piece, as the whole may have 200 MB.

As plain data, or as one list of pieces, such a text would take several times its room.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import msgspec

from dumbbell.scenario.resolve import canonical_json

_PIECE_BYTES: Final = 20_000
"""Bytes that are decoded as a whole."""

_OBJECT: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_ARRAY: Final = msgspec.json.Decoder(list[msgspec.Raw]).decode
"""Made here because of threads; see `contract.reading`."""

Texts = Mapping[str, "bytes | msgspec.Raw"]
"""The values of an object as JSON, by their keys."""


@dataclass(frozen=True)
class Form:
    """A form of JSON with sorted keys: each value in a separate line, or without any space.

    JSON that is `sorted` already is not decoded: only its spaces change.
    """

    indented: bool
    sorted: bool = False

    def of(self, texts: Texts) -> Iterator[bytes]:
        """Yield the pieces of an object that is not empty."""
        return self._object(texts, 0)

    def of_value(self, text: bytes | msgspec.Raw) -> Iterator[bytes]:
        """Yield the pieces of any value."""
        return self._value(text, 0)

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
        for group in _groups(texts):
            yield separator + self._line(depth + 1)
            if len(group) == 1:
                yield from self._value(group[0], depth + 1)
            else:
                yield self._elements(group, depth)
            separator = b","
        yield self._line(depth) + b"]"

    def _elements(self, texts: list[msgspec.Raw], depth: int) -> bytes:
        """Render neighbours in an array, without the brackets around it."""
        array = self._rendered(b"[" + b",".join(texts) + b"]", depth)
        return array[len(b"[" + self._line(depth + 1)) : -len(self._line(depth) + b"]")]

    def _value(self, text: bytes | msgspec.Raw, depth: int) -> Iterator[bytes]:
        raw = memoryview(text)
        begins = bytes(raw[:1])
        if len(raw) <= _PIECE_BYTES or begins not in (b"{", b"["):
            yield self._rendered(bytes(raw), depth)
        elif begins == b"{":
            yield from self._object(_OBJECT(raw), depth)
        else:
            yield from self._array(_ARRAY(raw), depth)

    def _rendered(self, text: bytes, depth: int) -> bytes:
        if not self.sorted:
            text = canonical_json(json.loads(text)).encode()
        # The encoder of Python indents by Python code, which takes several times as long.
        rendered = msgspec.json.format(text, indent=1 if self.indented else -1)
        return rendered.replace(b"\n", self._line(depth))

    def _line(self, depth: int) -> bytes:
        return b"\n" + b" " * depth if self.indented else b""


def _groups(texts: list[msgspec.Raw]) -> Iterator[list[msgspec.Raw]]:
    """Yield neighbours in an array that together are small enough to be decoded as a whole.

    A call for each of 100,000 flows would take most of the time.
    """
    group: list[msgspec.Raw] = []
    left_bytes = _PIECE_BYTES
    for text in texts:
        left_bytes -= len(memoryview(text))
        if group and left_bytes < 0:
            yield group
            group, left_bytes = [], _PIECE_BYTES - len(memoryview(text))
        group.append(text)
    if group:
        yield group


CANONICAL: Final = Form(indented=False)
"""The form that is hashed; see `canonical_json`."""
IN_FILES: Final = Form(indented=True)
"""The form of files."""
CANONICAL_AGAIN: Final = Form(indented=False, sorted=True)
IN_FILES_AGAIN: Final = Form(indented=True, sorted=True)
"""The same of what is known to be in one of the two forms."""


def texts(content: bytes) -> dict[str, msgspec.Raw]:
    """Return the values of an object as JSON, by their keys; ValueError if it is none."""
    return _OBJECT(content)
