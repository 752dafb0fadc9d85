"""Files of any tool, decompressed if another program compressed them."""

from __future__ import annotations

import bz2
import gzip
import lzma
import stat
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final, cast

from dumbbell.base.errors import InputError

_START_BYTES: Final = 8
_READ_BYTES: Final = 1 << 20

_COMPRESSED_TO_MAX: Final = 4_000_000_000
"""Bytes that a compressed file may have: more are taken for a bomb."""

_OPENERS: Final[dict[bytes, Callable[[Path], object]]] = {
    b"\x1f\x8b": gzip.GzipFile,
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
}
"""First bytes of compressed files, and the classes that open them."""

_OTHERS: Final = {
    b"\x28\xb5\x2f\xfd": "zstd -d",
    b"\x04\x22\x4d\x18": "lz4 -d",
    b"PK\x03\x04": "unzip",
    b"7z\xbc\xaf": "7z x",
}
"""First bytes of files that are not decompressed here, and the programs that do it."""


class Source:
    """The content of a file, in order, each byte once.

    The end of a compressed file may be missing, as if its program was stopped: `is_cut` is then
    True.
    """

    def __init__(self, file: Path, opened: BinaryIO, *, is_compressed: bool) -> None:
        self.file = file
        self.is_cut = False
        self.failure: Exception | None = None
        self._opened = opened
        self._left = _COMPRESSED_TO_MAX if is_compressed else None
        self._start = b""
        self._start = self.read(_START_BYTES)

    @property
    def start(self) -> bytes:
        """Return the first bytes, before any other is read."""
        return self._start

    def read(self, most: int) -> bytes:
        """Return up to so many bytes: none at the end, or once there is a `failure`."""
        if self._start:
            content, self._start = self._start[:most], self._start[most:]
            return content
        if self.failure is not None:
            return b""
        try:
            # `read` would wait for as much, and lose what a cut file has before its end.
            content = cast("gzip.GzipFile", self._opened).read1(most)
        except EOFError:
            self.is_cut = True
            return b""
        except (OSError, zlib.error, lzma.LZMAError) as error:
            self.failure = error
            return b""
        if self._left is not None:
            # Counted as it comes: a bomb of a few kilobytes expands to more than there is memory.
            self._left -= len(content)
            if self._left < 0:
                self.failure = self._too_large()
                return b""
        return content

    def whole(self, most: int) -> bytes:
        """Return all of it; more than so many bytes are an InputError."""
        parts, size = [], 0
        while content := self.read(_READ_BYTES):
            parts.append(content)
            size += len(content)
            if size > most:
                raise InputError(
                    "too large",
                    source=str(self.file),
                    valid=f"at most {most // 10**6} MB of text",
                )
        self.check()
        if self.is_cut:
            raise InputError("the compressed file has no end", source=str(self.file))
        return b"".join(parts)

    def check(self) -> None:
        """Raise what made reading end early."""
        if self.failure is not None:
            raise self.failure

    def _too_large(self) -> InputError:
        return InputError(
            "too large once it is decompressed",
            source=str(self.file),
            valid=f"at most {_COMPRESSED_TO_MAX // 10**9} GB; decompress it before, if it is right",
        )


@contextmanager
def opened(file: Path, valid: str) -> Iterator[Source]:
    """Open a regular file; what cannot be read or decompressed is an InputError.

    `valid` describes the files that would be right.
    """
    try:
        if not stat.S_ISREG(file.stat().st_mode):
            raise InputError("not a regular file", source=str(file), valid=valid)
        with file.open("rb") as plain:
            start = plain.read(_START_BYTES)
        for magic, command in _OTHERS.items():
            if start.startswith(magic):
                raise InputError(
                    "compressed in a way that is not read here",
                    source=str(file),
                    valid=f"the file that `{command}` makes of it",
                )
        opener = next(
            (opener for magic, opener in _OPENERS.items() if start.startswith(magic)), None
        )
        with cast("BinaryIO", file.open("rb") if opener is None else opener(file)) as content:
            yield Source(file, content, is_compressed=opener is not None)
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot read it: {reason}", source=str(file), valid=valid) from None
