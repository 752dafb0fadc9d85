"""Structures in Thrift's compact protocol, in which Parquet files describe themselves.

The input may be anybody's: reading takes time and memory in proportion to its bytes.
"""

from __future__ import annotations

from typing import Any, Final

_DEPTH_MAX: Final = 10
_VARINT_BITS_MAX: Final = 63


def struct(content: bytes, at: int) -> tuple[dict[int, Any], int]:
    """Return a structure by the numbers of its fields, and where it ends; ValueError: it is none.

    Texts are bytes, and floating-point numbers are left out.
    """
    try:
        return _struct(content, at, 0)
    except IndexError:
        raise ValueError("it ends too soon") from None


# Every table of every run is read here, mostly integers of a byte: no function is called for these.
def _struct(content: bytes, at: int, depth: int) -> tuple[dict[int, Any], int]:
    if depth > _DEPTH_MAX:
        raise ValueError("nested too deeply")
    fields: dict[int, Any] = {}
    field = 0
    while head := content[at]:
        at += 1
        kind = head & 15
        # The upper 4 bits are the step from the last field's number, if it fits.
        if head > 15:
            field += head >> 4
        else:
            field, at = _integer(content, at)
        if 4 <= kind <= 6 and (byte := content[at]) < 128:
            # Zigzag: 0, 1, 2, 3 stand for 0, -1, 1, -2, so small numbers are short.
            fields[field] = (byte >> 1) ^ -(byte & 1)
            at += 1
        elif kind in (1, 2):
            # A truth value has no separate byte: it is in the type.
            fields[field] = kind == 1
        else:
            fields[field], at = _value(content, at, kind, depth)
    return fields, at + 1


def _value(content: bytes, at: int, kind: int, depth: int) -> tuple[Any, int]:
    if kind == 12:
        return _struct(content, at, depth + 1)
    if kind == 8:
        size, at = _varint(content, at)
        if at + size > len(content):
            raise ValueError("it ends within a text")
        return content[at : at + size], at + size
    if 4 <= kind <= 6:
        return _integer(content, at)
    if kind in (9, 10):
        return _list(content, at, depth)
    if kind == 7:
        return None, at + 8
    if 1 <= kind <= 3:
        return content[at], at + 1
    raise ValueError("it holds what no Parquet file describes itself with")


def _list(content: bytes, at: int, depth: int) -> tuple[list[Any], int]:
    if depth > _DEPTH_MAX:
        raise ValueError("nested too deeply")
    head = content[at]
    # Up to 14 entries the number is in the first byte; 15 means that it follows.
    size, at = (head >> 4, at + 1) if head >> 4 < 15 else _varint(content, at + 1)
    values = []
    for _ in range(size):
        # Each takes a byte at least, so the file ends before a long list does.
        value, at = _value(content, at, head & 15, depth + 1)
        values.append(value)
    return values, at


def _integer(content: bytes, at: int) -> tuple[int, int]:
    value, at = _varint(content, at)
    return (value >> 1) ^ -(value & 1), at


def _varint(content: bytes, at: int) -> tuple[int, int]:
    value = content[at]
    at += 1
    if value < 128:
        return value, at
    value &= 127
    shift = 7
    while True:
        byte = content[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
        if shift > _VARINT_BITS_MAX:
            raise ValueError("a number of more than 64 bits")
