"""Measurements to import: of iperf3 and Flent, captures, and what is compressed."""

from __future__ import annotations

import bz2
import functools
import gzip
import json
import lzma
import math
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, Final

import made_captures
import measured_files
from hostile.cases import Case

_COMPRESSED: Final[tuple[tuple[str, Callable[[bytes], bytes]], ...]] = (
    (".gz", gzip.compress),
    (".bz2", bz2.compress),
    (".xz", lzma.compress),
)
_BOMBS: Final = (b"[],", b"{},", b"0,", b"\n", b"[", b" ", b'{"a":', b"\0", b'{"start":{},"end":')
_BOMB_BYTES: Final = 200_000_000


@functools.cache
def _bomb(which: int) -> bytes:
    """Return a small file of a great deal of the same."""
    piece = _BOMBS[which] * 1000
    return gzip.compress(b"[" + piece * (_BOMB_BYTES // len(piece)), 1)


@functools.cache
def _captures() -> tuple[bytes, ...]:
    return tuple(made_captures.samples())


def _wrong(random: Random) -> bytes:
    """Return what iperf3 never writes: numbers below -1 (one not known), or none."""
    content = measured_files.iperf3()
    entry: dict[str, Any] = random.choice(content["intervals"])["streams"][0]
    key = random.choice(("bytes", "rtt", "start", "end"))
    entry[key] = random.choice((-2, -1e9, math.nan, math.inf, -math.inf))
    return json.dumps(content).encode()


def _measured(random: Random) -> bytes:
    make = random.choice((measured_files.iperf3, measured_files.flent))
    return measured_files.mutated(make(), random).encode()


def _captured(random: Random) -> bytes:
    return made_captures.mutated(random.choice(_captures()), random)


def _text(random: Random) -> bytes:
    """Return a whole file as other tools would hand it on: recoded, repeated, deep."""
    whole = json.dumps(random.choice((measured_files.iperf3, measured_files.flent))())
    return random.choice(
        (
            whole.encode("utf-16"),
            b"\xef\xbb\xbf" + whole.encode(),
            whole.encode() * random.choice((2, 40)),
            b"[" * random.choice((100, 100_000)) + whole.encode(),
            b'{"start":' * random.choice((100, 3_000, 100_000)),
            whole.replace("1", "9" * 5000, 1).encode(),
            b"",
            random.randbytes(5000),
        )
    )


def prepared(random: Random, box: Path) -> Case:
    """Write a measurement, which `import` is to fit."""
    is_wrong = random.random() < 0.1
    make = _wrong if is_wrong else random.choice((_measured,) * 4 + (_captured,) * 4 + (_text,))
    content, name = make(random), "measured"
    if random.random() < 0.15:
        ending, compress = random.choice(_COMPRESSED)
        content, name = compress(content), name + ending
        if not is_wrong and random.random() < 0.5:
            content = made_captures.mutated(content, random)
    elif not is_wrong and random.random() < 0.02:
        content, name = _bomb(random.randrange(len(_BOMBS))), "measured.gz"
    (box / "mine" / name).write_bytes(content)
    more = random.choice(
        (("--fit-only",),) * 4 + (("--fit-only", "--json"), ("--runs", "1", "--jobs", "1"))
    )
    return Case(("import", name, *more), is_wrong)
