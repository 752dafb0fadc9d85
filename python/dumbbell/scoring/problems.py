"""Problems of a candidate, for programs: stable codes, places, and remedies."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from dumbbell.algorithms import apart
from dumbbell.base.errors import InputError, shown
from dumbbell.conformance import fuzzing, interface, kernel
from dumbbell.conformance.verdicts import Row

_PLACE: Final = re.compile(r"(?P<file>[^\s:'\"]*\.c):(?P<line>\d+)")
_LOG: Final = re.compile(r"; all of it is in (?P<path>.+)$", re.DOTALL)
_WORK: Final = re.compile(r"[^\s'\"]*/work-\w+/")
"""Temporary folder of a compiler, which differs each time."""

_LOG_MAX: Final = 20_000
"""Characters of a compiler's output that are kept."""


class Code(StrEnum):
    """Codes of problems; they stay the same as long as their meaning does."""

    FILE = "file"
    COMPILE = "compile"
    STATE = "interface.state"
    PARAMETERS = "interface.parameters"
    PRESETS = "interface.presets"
    INTEGERS = "interface.integers"
    CALLS = "interface.calls"
    RULES = "calls.rules"
    WINDOWS = "calls.windows"
    REPEAT = "calls.repeat"
    CRASH = "run.crash"
    EXIT = "run.exit"
    TIME = "run.time"
    CLOCK = "run.clock"
    MEMORY = "run.memory"
    PROCESSES = "run.processes"
    BPF = "kernel.compile"
    VERIFIER = "kernel.verifier"
    PARITY = "kernel.parity"
    UNAVAILABLE = "kernel.unavailable"
    HARM = "harm"


MEANINGS: Final[Mapping[Code, str]] = {
    Code.FILE: "its name cannot be an algorithm's, or its preset file is wrong",
    Code.COMPILE: "the compiler, or the registration in it, refuses the file",
    Code.STATE: "its state is larger than the kernel grants",
    Code.PARAMETERS: "a parameter has no text, or an initial value out of its range",
    Code.PRESETS: "a preset sets what a parameter does not allow",
    Code.INTEGERS: "it calculates with floating point",
    Code.CALLS: "it calls functions from elsewhere, such as the C library's",
    Code.RULES: "random calls break C's rules, such as a division by zero",
    Code.WINDOWS: "random calls end in a window out of bounds",
    Code.REPEAT: "the same random calls end in other bytes",
    Code.CRASH: "its process ended by a signal",
    Code.EXIT: "it ended its process",
    Code.TIME: "a call took more processor time than it may",
    Code.CLOCK: "a call took more time by the clock than it may, as on a busy machine",
    Code.MEMORY: "a run took more memory than it may",
    Code.PROCESSES: "it started more processes than it may",
    Code.BPF: "the compiler for BPF refuses it",
    Code.VERIFIER: "the kernel's verifier refuses it",
    Code.PARITY: "it does something else in the kernel than natively",
    Code.UNAVAILABLE: "this machine cannot check it in the kernel",
    Code.HARM: "it takes more from other flows than the reference does",
}
"""Meaning of each code."""

CHECKS: Final[Mapping[tuple[str, str], Code]] = {
    (interface.PART, "state"): Code.STATE,
    (interface.PART, "parameters"): Code.PARAMETERS,
    (interface.PART, "presets"): Code.PRESETS,
    (interface.PART, "integers only"): Code.INTEGERS,
    (interface.PART, "calls"): Code.CALLS,
    (fuzzing.PART, "C's rules (sanitizers)"): Code.RULES,
    (fuzzing.PART, "windows"): Code.WINDOWS,
    (fuzzing.PART, "the same twice"): Code.REPEAT,
    (kernel.PART, kernel.COMPILES): Code.BPF,
    (kernel.PART, kernel.VERIFIER): Code.VERIFIER,
    (kernel.PART, kernel.PARITY): Code.PARITY,
}
"""Part and name of each check that may fail -> its code."""


@dataclass(frozen=True)
class Problem:
    """A problem of a candidate.

    Attributes
    ----------
    code
        Its code.
    message
        The fault, in words.
    file, line
        Its place; None: not known.
    remedy
        The remedy; empty: the message has it.
    details
        Text of several lines, such as the compiler's output.
    """

    code: Code
    message: str
    file: str | None = None
    line: int | None = None
    remedy: str = ""
    details: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {**asdict(self), "code": self.code.value}

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}: " if self.line else f"{self.file}: " if self.file else ""
        remedy = f"; remedy: {self.remedy}" if self.remedy else ""
        return f"{self.code.value}: {place}{self.message}{remedy}"


class Refused(Exception):  # noqa: N818 - what happened, not what to do
    """A candidate has problems that leave it without a score."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__("; ".join(map(str, problems)))
        self.problems = problems


def of_file(error: InputError, file: str, code: Code) -> Problem:
    """Return what an error about a file states: its name, its source or its preset file."""
    problem, details = _with_log(error.problem)
    if "signal terminated program" in problem:  # that of gcc's own parts, at a limit
        problem = f"the compiler ended early: {problem}"
    key = f"{error.key}: " if error.key else ""
    value = f"{shown(error.value)} is " if error.value is not None else ""
    return Problem(code, f"{key}{value}{problem}", file, error.line, error.valid or "", details)


def _with_log(message: str) -> tuple[str, str]:
    """Return a message without the path of a log, which does not last, and the log."""
    mention = _LOG.search(message)
    if mention is None:
        return message, ""
    try:
        log = Path(mention["path"]).read_text(errors="replace")[-_LOG_MAX:]
    except OSError:
        log = ""
    return message[: mention.start()], _WORK.sub("", log)


def unavailable(row: Row, file: str) -> Problem:
    """Return why a check could not be made in the kernel."""
    return Problem(Code.UNAVAILABLE, row.message, file, remedy=row.remedy)


def of_row(row: Row, file: str) -> Problem:
    """Return the problem that a check has found."""
    message, details = _with_log(row.message)
    place = _PLACE.search(message)
    line = None if place is None else int(place["line"])
    if place is not None and message.startswith(f"{place[0]}: "):
        message = message.removeprefix(f"{place[0]}: ")  # it is in `file` and `line`
    details = row.details or details
    return Problem(CHECKS[row.part, row.check], message, file, line, row.remedy, details)


_TIME_REMEDY: Final = "loops with an end that can be seen"
_CLOCK_REMEDY: Final = "score it again on a quiet machine, or write loops with an end"
_OUT_OF_TIME: Final = -24
"""SIGXCPU on Linux."""


def of_death(
    error: apart.Died | apart.TooLong, limits: apart.Limits, file: str, doing: str
) -> Problem:
    """Return why a process ended that did something with a file."""
    where = Problem(Code.CRASH, "", file)
    if isinstance(error, apart.TooLong):
        return replace(where, code=Code.CLOCK, message=f"{doing} {error}", remedy=_CLOCK_REMEDY)
    if error.code == _OUT_OF_TIME:
        message = f"{doing} took more than {limits.cpu_s} s of processor time"
        return replace(where, code=Code.TIME, message=message, remedy=_TIME_REMEDY)
    if error.code == apart.TOO_MANY:
        message = f"{doing} started more than {limits.processes} processes or threads"
        remedy = "no processes: the kernel has none for an algorithm"
        return replace(where, code=Code.PROCESSES, message=message, remedy=remedy)
    if "memory allocation of" in error.printed:
        message = f"{doing} took more than {limits.memory_bytes / 1e9:g} GB of memory"
        remedy = "windows that no path needs take memory: grow with cc_grow"
        return replace(where, code=Code.MEMORY, message=message, remedy=remedy)
    if error.code >= 0:
        message = f"{doing}: its process {error}"
        return replace(where, code=Code.EXIT, message=message, remedy="never end the process")
    remedy = "guard divisions, shifts, indices and pointers; `dumbbell check` finds the line"
    return replace(where, message=f"{doing}: its process {error}", remedy=remedy)
