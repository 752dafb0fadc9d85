"""Lines of tc: the commands that set a queue up, or what `tc qdisc show` prints."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dumbbell.base.errors import InputError, listed
from dumbbell.experiments.imports.described import qdiscs
from dumbbell.experiments.imports.described.draft import Draft
from dumbbell.experiments.imports.described.tc_words import Words

_BEFORE_TC: Final = frozenset({"sudo", "tc", "/sbin/tc", "/usr/sbin/tc"})
_FIRST: Final = frozenset({"qdisc", "class", "filter"})
_ADDING: Final = frozenset({"add", "replace", "change"})
_PLACES_WITH_VALUE: Final = frozenset({"dev", "parent", "handle", "classid", "refcnt"})
_EMPTY: Final = frozenset({"noqueue", "mq"})


@dataclass(frozen=True)
class _Line:
    """One queue discipline or class."""

    number: int
    kind: str
    words: Words
    device: str | None


def is_tc(text: str) -> bool:
    """Return True if the first line that says something is one of tc's."""
    for line in text.splitlines():
        words = line.split("#")[0].split()
        if words:
            return _begins(words)
    return False


def _begins(words: list[str]) -> bool:
    """Return True if words begin a line of tc that describes something."""
    return words[0] in _FIRST | _BEFORE_TC or words[:2] == ["ip", "netns"]


def read(file: Path, text: str) -> Draft:
    """Return the network that the lines describe.

    Raises
    ------
    InputError
        A discipline or an option that is not known, two devices, or a value that is none.
    """
    draft = Draft(file)
    lines = list(_lines(file, text, draft))
    devices = sorted({line.device for line in lines if line.device})
    if len(devices) > 1:
        raise InputError(
            f"describes {len(devices)} devices: {', '.join(devices)}",
            source=str(file), valid="the lines of one device",
        )  # fmt: skip
    for line in lines:
        known = qdiscs.KNOWN.get(line.kind)
        if known is None:
            raise InputError(
                f"{line.kind} has no equal here", source=f"{file}, line {line.number}",
                valid=listed(sorted(qdiscs.KNOWN)),
            )  # fmt: skip
        known(line.words, draft)
    if not lines:
        raise InputError("has no queue discipline", source=str(file), valid="tc qdisc add ...")
    return draft


def _lines(file: Path, text: str, draft: Draft) -> Iterator[_Line]:
    is_shown = False
    for number, whole in _joined(text):
        # `tc -s` prints counters below what it shows.
        if is_shown and whole[:1].isspace() and whole.strip() and not _begins(whole.split()):
            continue
        is_shown = whole.split()[:1] in (["qdisc"], ["class"])
        try:
            words = shlex.split(whole, comments=True)
        except ValueError as error:
            raise InputError(f"{error}", source=f"{file}, line {number}") from None
        words = _without_command(words)
        if not words:
            continue
        line = _line(file, number, words, draft)
        if line is not None:
            yield line


def _without_command(words: list[str]) -> list[str]:
    """Return the words behind `tc` and its own options, and behind what runs it."""
    while words and words[0] in _BEFORE_TC:
        words = words[1:]
    if words[:3] == ["ip", "netns", "exec"]:
        return _without_command(words[4:])
    while words and words[0].startswith("-"):
        # `-n` has the name of a namespace behind it.
        words = words[2 if words[0] in ("-n", "-netns") else 1 :]
    return words


def _joined(text: str) -> Iterator[tuple[int, str]]:
    """Yield lines with the numbers at which they begin; a backslash joins one to the next."""
    begin, kept = 1, ""
    for number, line in enumerate(text.splitlines(), start=1):
        begin = begin if kept else number
        if line.rstrip().endswith("\\"):
            kept += line.rstrip()[:-1] + " "
            continue
        yield begin, kept + line
        kept = ""
    if kept:
        yield begin, kept


def _line(file: Path, number: int, words: list[str], draft: Draft) -> _Line | None:
    """Return what a line sets up; None if that is nothing, with a note where that may matter."""
    what, *rest = words
    if what == "filter":
        draft.note("filters are left out: all packets take the one queue", number)
        return None
    if what not in _FIRST:
        raise InputError(
            f"{what!r} is no line of tc", source=f"{file}, line {number}",
            valid="tc qdisc add dev DEVICE root KIND OPTIONS, or a line of `tc qdisc show`",
        )  # fmt: skip
    if rest[:1] == ["del"]:
        return None
    if rest and rest[0] in _ADDING:
        kind, device, options = _placed(rest[1:])
    else:
        # `qdisc KIND HANDLE: dev DEVICE root refcnt 2 OPTIONS`
        kind, device, options = (
            (rest[0], *_placed(rest[2:], shown=True)[1:]) if rest else ("", None, [])
        )
    if not kind:
        raise InputError("names no discipline", source=f"{file}, line {number}")
    if kind in _EMPTY:
        return None
    return _Line(number, kind, Words(options, file, number), device)


def _placed(words: list[str], *, shown: bool = False) -> tuple[str, str | None, list[str]]:
    """Return the kind, the device, and the options behind the words that say where it is."""
    device = None
    while words and (words[0] in _PLACES_WITH_VALUE or words[0] == "root"):
        word = words.pop(0)
        if word == "root":
            continue
        value = words.pop(0) if words else ""
        device = value if word == "dev" else device
    if shown:
        return "", device, words
    return (words[0] if words else ""), device, words[1:]
