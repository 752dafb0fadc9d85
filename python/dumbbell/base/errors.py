"""Everything a user or the system can get wrong, as typed errors with an exit code."""

from __future__ import annotations

import difflib
import errno
import json
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Final

_LINES_MAX: Final = 10
"""Errors of one source that are shown."""


class DumbbellError(Exception):
    """Base of all errors that the command line reports without a traceback."""

    exit_code = 1


@dataclass(eq=False)
class InputError(DumbbellError, ValueError):
    """Something that the user wrote cannot be used.

    `dataclasses.replace` makes another one of it that differs in some fields.

    Parameters
    ----------
    problem
        The fault, as the end of a sentence that starts with the value.
    source
        The file, or the option of the command, that holds the value.
    key
        Dotted path inside the source, such as ``flow.1.start``: entries of arrays count from 1.
    value
        The value found there; None if there was nothing.
    valid
        Valid values.
    near
        The valid name that resembles the value, if there is one.
    line
        Line of the file, from 1, where the value or what holds it begins.
    others
        Further errors found in the same source.
    """

    exit_code = 2

    problem: str
    _: KW_ONLY
    source: str | None = None
    key: str | None = None
    value: Any = None
    valid: str | None = None
    near: str | None = None
    line: int | None = None
    others: Sequence[InputError] = ()

    def __post_init__(self) -> None:
        super().__init__(self.problem)

    def __str__(self) -> str:
        lines = [error._line() for error in self._all()]
        more = [f"and {len(lines) - _LINES_MAX} more"] if len(lines) > _LINES_MAX else []
        return "\n".join([*lines[:_LINES_MAX], *more])

    def _all(self) -> Iterator[InputError]:
        yield self
        for other in self.others:
            yield from other._all()

    def _line(self) -> str:
        subject = printable(self.key or "")
        if self.value is not None and self.value != (self.key or "").rpartition(".")[2]:
            subject += (" = " if subject else "") + shown(self.value)
        source = printable(self.source or "")
        if source != source.strip():
            source = repr(source)
        if source and self.line is not None:
            source += f":{self.line}"
        line = ": ".join(part for part in (source, subject, self.problem) if part)
        if self.near is not None:
            line += f" (did you mean {shown(self.near)}?)"
        if self.valid is not None:
            line += f"; valid: {self.valid}"
        return line

    @property
    def names_a_key(self) -> bool:
        """Return True if the source is known and has keys: its key and value are of that file."""
        return self.source is not None and self.source.endswith(".toml")

    def at(self, *, source: str | None = None, key: str | None = None) -> InputError:
        """Return the same error with its place filled in; `key` goes before its own.

        Where the source is known already and has keys, it is the whole key in it.
        """
        whole = ".".join(part for part in (key, self.key) if part) or None
        return replace(
            self,
            source=self.source or source,
            key=self.key if self.names_a_key else whole,
            others=[other.at(source=source, key=key) for other in self.others],
        )


@contextmanager
def placed(*, source: str | None = None, key: str | None = None) -> Iterator[None]:
    """Fill in the place of an InputError that the block raises; see `InputError.at`."""
    try:
        yield
    except InputError as error:
        raise error.at(source=source, key=key) from None


class StoreError(DumbbellError):
    """The system lets a file or a folder not be read or written: disk full, no permission."""

    exit_code = 2


_WAYS: Final[Mapping[int, str]] = {
    errno.ENOSPC: "free some room, or name a place elsewhere",
    errno.EDQUOT: "free some room, or name a place elsewhere",
    errno.EFBIG: "raise the limit of file sizes (ulimit -f)",
    errno.EACCES: "name a place that you may use, or change its permissions",
    errno.EPERM: "name a place that you may use, or change its permissions",
    errno.EROFS: "name a place that can be written",
    errno.ENOENT: "name a place whose folder exists",
    errno.ENOTDIR: "name a folder, not a file",
    errno.EISDIR: "name a file, not a folder",
    errno.EEXIST: "name a folder, not a file",
    errno.ENAMETOOLONG: "name a shorter one",
    errno.ELOOP: "name a place that is no circle of links",
    errno.EMFILE: "raise the limit of open files (ulimit -n)",
    errno.ENOTEMPTY: "let nothing else write there meanwhile",
}
"""Remedies for refusals of the system."""


def refusal(error: OSError, doing: str = "read or write it", place: object = None) -> StoreError:
    """Return a refusal of the system as a StoreError: the place, the action, the remedy."""
    # Only the current folder is looked for without a name.
    nameless = "the current folder" if error.errno == errno.ENOENT else "output"
    where = place or error.filename or nameless
    inner = f" ({error.filename})" if error.filename and str(error.filename) != str(where) else ""
    reason = error.strerror or printable(str(error))
    way = _WAYS.get(error.errno or 0, "remove the cause and try again")
    return StoreError(f"{printable(str(where))}: cannot {doing}: {reason}{printable(inner)}; {way}")


@contextmanager
def refusing(doing: str, place: object) -> Iterator[None]:
    """Turn what the system refuses into a StoreError: it cannot do that there."""
    try:
        yield
    except OSError as error:
        raise refusal(error, doing, place) from error


class MissingResult(DumbbellError, KeyError):  # noqa: N818 - what the store lacks
    """There is no stored result under this key."""

    def __str__(self) -> str:
        return f"no result is stored under {self.args[0]}"


class DamagedResult(DumbbellError):  # noqa: N818 - what the store holds, not what went wrong
    """A stored result does not match its digest; it counts as absent."""

    exit_code = 2


class EngineError(DumbbellError):
    """The engine broke one of its invariants: a bug in Dumbbell."""


class BroughtDown(DumbbellError):  # noqa: N818 - what happened, not what to do
    """An algorithm of a user's own ended the process that ran it."""


class TestbedError(DumbbellError):
    """The testbed cannot do it on this machine; `dumbbell doctor` explains more."""

    __test__ = False  # not a test, whatever pytest makes of its name
    exit_code = 2


class Cancelled(DumbbellError):  # noqa: N818 - a state, not a failure
    """A run was cancelled before its end; nothing of it is kept."""

    exit_code = 130


class GivenUp(DumbbellError):  # noqa: N818 - a state, not a failure
    """A run in real time ended early: nothing that was to come could have made it valid."""


DECIMAL_BITS_MAX: Final = 4096
"""Larger numbers are shown in hexadecimal: Python refuses to print thousands of digits."""


def shown(value: Any) -> str:
    """Render a value as in a TOML file, on one line, shortened if it is long."""
    text = printable(as_toml(value))
    return text if len(text) <= 80 else text[:77] + "..."


def printable(text: str) -> str:
    """Return a text as one line that any terminal shows: what it would not print is escaped."""
    if text.isprintable():
        return text
    return "".join(
        character
        if character.isprintable() or unicodedata.category(character) == "Zs"
        else character.encode("unicode_escape").decode()
        for character in text
    )


def refused(file: str | None, line: int | None, cause: str) -> InputError:
    """Return what the core has against a user's algorithm, as an error of ours."""
    return InputError(printable(cause), source=file, line=line if file else None)


def as_toml(value: Any) -> str:
    """Render a value as in a TOML file."""
    match value:
        case Mapping():
            pairs = ", ".join(f"{key} = {as_toml(item)}" for key, item in value.items())
            return f"{{ {pairs} }}" if pairs else "{}"
        case list() | tuple():
            return f"[{', '.join(as_toml(item) for item in value)}]"
        case str() | bool() | None:
            return json.dumps(value, ensure_ascii=False)
        case float():
            return repr(value).replace("e-0", "e-")
        case int() if value.bit_length() > DECIMAL_BITS_MAX:
            return hex(value)
        case _:
            return str(value)


_BEGINNING_MIN: Final = 3
"""A name that begins with so many letters of another may be meant by them."""


def alike(name: str, names: Iterable[str]) -> list[str]:
    """Return those of `names` that `name` may mean, the likeliest first.

    Those that begin with it come before those that are spelt like it, both in the order of `names`
    or of their likeness. The part before an ``@`` counts, too: ``hctp`` may mean
    ``htcp@li2007``.
    """
    plain = name.lower()
    by_lower = {candidate.lower(): candidate for candidate in names}
    same = [plain] if plain in by_lower else []
    begun = [
        lower for lower in by_lower if len(plain) >= _BEGINNING_MIN and lower.startswith(plain)
    ]
    spelt = difflib.get_close_matches(plain, list(by_lower), cutoff=0.6)
    heads = {lower.partition("@")[0]: lower for lower in reversed(by_lower)}
    headed = [heads[head] for head in difflib.get_close_matches(plain, list(heads), cutoff=0.6)]
    return [by_lower[lower] for lower in dict.fromkeys([*same, *begun, *spelt, *headed])]


def near(name: str, names: Iterable[str]) -> str | None:
    """Return the one of `names` that `name` was probably meant to be; None if none is like it."""
    return next(iter(alike(name, names)), None)


SUGGESTIONS_MAX: Final = 10
"""Nobody reads more names than these in an error message."""


def listed(names: Iterable[str], more: str = "") -> str:
    """Render the valid names of an error message; `more` is the command or place that lists all."""
    every = list(names)
    left = len(every) - SUGGESTIONS_MAX
    if left <= 1:
        return ", ".join(every) or "none exist"
    where = f": {more}" if more else ""
    return f"{', '.join(every[:SUGGESTIONS_MAX])} and {left} more{where}"


def unknown(what: str, name: str, names: Iterable[str], more: str = "") -> InputError:
    """Return the error for a name that is not one of `names`, those first that are like it.

    See `listed`.
    """
    names = list(names)
    similar = alike(name, names)
    valid = listed(dict.fromkeys([*similar, *names]), more)
    return InputError(f"unknown {what}", value=name, valid=valid, near=next(iter(similar), None))
