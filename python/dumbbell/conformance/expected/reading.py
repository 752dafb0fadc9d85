"""Reading a script of expected states."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from dumbbell.algorithms.catalogue import Algorithm
from dumbbell.base.errors import InputError, unknown
from dumbbell.base.units import parse_rate, parse_time
from dumbbell.conformance.expected.script import (
    SSTHRESH_INFINITE,
    STATES,
    Ack,
    Action,
    Case,
    Expect,
    Expectation,
    Idle,
    Loss,
    Recovered,
    Round,
    Script,
    Start,
    Step,
    Timeout,
    Undo,
    Wait,
)

BYTES_MAX: Final = 1_000_000
TIMES_MAX: Final = 10_000
NUMBER_MAX: Final = 0xFFFFFFFF
INFINITE: Final = "infinite"

NUMBERS: Final = ("cwnd", "ssthresh", "credit")
"""Numbers of the connection that can be expected."""

_COMMENT: Final = re.compile(r"(?:^|\s)#.*")

Read = Callable[[str], Any]
"""Turns a word into what it means; InputError if it means nothing."""


def read(text: str, shown: str, algorithm: Algorithm) -> Script:
    """Read a script for an algorithm, whose names it may use.

    Everything that is wrong in it is one InputError with the lines.
    """
    lines = text.splitlines()
    reader = _Reader(algorithm)
    problems = []
    for number, line in enumerate(lines, start=1):
        try:
            reader.take(number, _COMMENT.sub("", line).split())
        except InputError as error:
            problems.append(replace(error, source=shown, line=number))
    if not problems and not reader.cases:
        problems.append(InputError("has no case", source=shown, valid="lines that begin with case"))
    if problems:
        raise replace(problems[0], others=problems[1:])
    return Script(shown, lines, reader.cases)


class _Reader:
    """Takes lines one after the other."""

    def __init__(self, algorithm: Algorithm) -> None:
        self.cases: list[Case] = []
        self._algorithm = algorithm

    def take(self, line: int, words: Sequence[str]) -> None:
        if not words:
            return
        verb, *rest = words
        if verb == "case":
            if not rest:
                raise InputError("a case without a title", valid="case TITLE")
            self.cases.append(Case(line, " ".join(rest)))
            return
        if verb not in _FIRST and verb not in _ACTIONS and verb != "expect":
            raise unknown("step", verb, ["case", *_FIRST, *_ACTIONS, "expect"])
        if not self.cases:
            raise InputError("comes before the first case", value=verb, valid="case TITLE")
        case = self.cases[-1]
        if verb in _FIRST:
            if case.steps:
                raise InputError("comes after the first step of its case", value=verb)
            getattr(self, f"_{verb}")(case, rest)
            return
        action = self._expect(rest) if verb == "expect" else _ACTIONS[verb](rest)
        case.steps.append(Step(line, action))

    def _preset(self, case: Case, words: Sequence[str]) -> None:
        (name,) = _exactly(1, words, "preset NAME")
        case.preset = self._algorithm.preset(name).name

    def _parameter(self, case: Case, words: Sequence[str]) -> None:
        name, value = _exactly(2, words, "parameter NAME VALUE")
        self._algorithm.parameter(name)
        self._algorithm.check_parameter(name, _number(value))
        case.parameters[name] = int(value)

    def _start(self, case: Case, words: Sequence[str]) -> None:
        case.start = Start(**_options(words, _START))

    def _expect(self, words: Sequence[str]) -> Expect:
        parts = [part.split() for part in " ".join(words).split(",")]
        return Expect([self._expectation(part) for part in parts])

    def _expectation(self, words: Sequence[str]) -> Expectation:
        form = "expect NAME VALUE, or expect NAME VALUE within NUMBER (or N%), with commas between"
        if len(words) not in (2, 4) or (len(words) == 4 and words[2] != "within"):
            raise InputError("is no expectation", value=" ".join(words), valid=form)
        name, value = words[:2]
        wanted = self._wanted(name, value)
        if len(words) == 2:
            return Expectation(name, wanted, value)
        if isinstance(wanted, str):
            raise InputError("has no tolerance: it is a name", value=name)
        return Expectation(name, wanted, " ".join(words[1:]), _tolerance(words[3], wanted))

    def _wanted(self, name: str, value: str) -> int | str:
        algorithm = self._algorithm
        if name == "state":
            return _one_of("state", value, STATES)
        if name == "mode" and algorithm.modes:
            return _one_of(f"mode of {algorithm.name}", value, algorithm.modes)
        if name == "pacing":
            return 0 if value == "none" else int(parse_rate(value))
        if name == "ssthresh":
            return _threshold(value)
        if name not in NUMBERS and name not in algorithm.info:
            raise unknown("value to expect", name, expectable(algorithm))
        return _number(value)


def expectable(algorithm: Algorithm) -> list[str]:
    """Return the names of what a script can expect of an algorithm."""
    numbers = [name for name in algorithm.info if name not in NUMBERS]
    return [*NUMBERS, "state", "pacing", *numbers]


def _exactly(count: int, words: Sequence[str], form: str) -> Sequence[str]:
    if len(words) != count:
        raise InputError("is no such line", value=" ".join(words), valid=form)
    return words


def _one_of(what: str, value: str, names: Sequence[str]) -> str:
    if value not in names:
        raise unknown(what, value, names)
    return value


def _number(word: str) -> int:
    if not re.fullmatch(r"[0-9]{1,10}", word) or int(word) > NUMBER_MAX:
        raise InputError("not a whole number", value=word, valid=f"0 to {NUMBER_MAX}")
    return int(word)


def _count(word: str, of: str = "segments") -> int:
    number = _number(word)
    if not 1 <= number <= SSTHRESH_INFINITE:
        raise InputError(f"no number of {of}", value=word, valid=f"1 to {SSTHRESH_INFINITE}")
    return number


def _bytes(word: str) -> int:
    return _count(word, "bytes")


def _times(word: str) -> int:
    number = _number(word)
    if not 1 <= number <= TIMES_MAX:
        raise InputError("no number of times", value=word, valid=f"1 to {TIMES_MAX}")
    return number


def _threshold(word: str) -> int:
    return SSTHRESH_INFINITE if word == INFINITE else _count(word)


def _time_us(word: str) -> int:
    time_us, rest = divmod(parse_time(word), 1000)
    if rest or time_us > SSTHRESH_INFINITE:
        raise InputError("no time in whole microseconds", value=word, valid="100ms, 1s, 250us")
    return time_us


def _rtt_us(word: str) -> int:
    time_us = _time_us(word)
    if not time_us:
        raise InputError("no RTT", value=word, valid="1us or more")
    return time_us


def _tolerance(word: str, wanted: int) -> Fraction:
    number, percent = word.removesuffix("%"), word.endswith("%")
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", number):
        raise InputError("no tolerance", value=word, valid="a number such as 1, or 2%")
    return Fraction(number) * wanted / 100 if percent else Fraction(number)


_START: Final[Mapping[str, tuple[str, Read | None]]] = {
    "cwnd": ("cwnd_segs", _count),
    "ssthresh": ("ssthresh_segs", _threshold),
    "clamp": ("clamp_segs", _count),
    "rtt": ("rtt_us", _rtt_us),
    "mss": ("mss_bytes", _bytes),
    "at": ("at_us", _time_us),
    "random": ("random", _number),
}
_ACK: Final[Mapping[str, tuple[str, Read | None]]] = {
    "rtt": ("rtt_us", _rtt_us),
    "delay": ("delay_us", _time_us),
    "app-limited": ("app_limited", None),
    "times": ("times", _times),
}
_FIRST: Final = ("preset", "parameter", "start")
"""Lines that come before the steps of a case."""


def _options(
    words: Sequence[str], options: Mapping[str, tuple[str, Read | None]]
) -> dict[str, Any]:
    """Return what the words set: a name and its value, or a name alone."""
    chosen: dict[str, Any] = {}
    left: Iterator[str] = iter(words)
    for word in left:
        name = word.removesuffix(",")
        if name not in options:
            raise unknown("option of this step", name, options)
        key, reads = options[name]
        if key in chosen:
            raise InputError("is there twice", value=name)
        if reads is None:
            chosen[key] = True
            continue
        value = next(left, None)
        if value is None:
            raise InputError("has no value", value=name)
        chosen[key] = reads(value.removesuffix(","))
    return chosen


def _ack(words: Sequence[str]) -> Ack:
    if not words:
        raise InputError("acknowledges nothing", valid="ack SEGMENTS, such as ack 2 rtt 100ms")
    more = {
        "after": ("after_us", _time_us),
        "lost": ("lost", _count),
        "marked": ("marked", None),
    }
    return Ack(_count(words[0]), **_options(words[1:], {**_ACK, **more}))


def _round(words: Sequence[str]) -> Round:
    more = {"every": ("every", _count), "marked": ("marked", _count)}
    return Round(**_options(words, {**_ACK, **more}))


def _loss(words: Sequence[str]) -> Loss:
    if not words:
        return Loss()
    (segs,) = _exactly(1, words, "loss, or loss SEGMENTS")
    return Loss(_count(segs))


def _after(action: Callable[..., Action]) -> Callable[[Sequence[str]], Action]:
    return lambda words: action(**_options(words, {"after": ("after_us", _time_us)}))


def _for(verb: str, action: Callable[[int], Action]) -> Callable[[Sequence[str]], Action]:
    return lambda words: action(_time_us(*_exactly(1, words, f"{verb} TIME, such as {verb} 1s")))


def _undo(words: Sequence[str]) -> Undo:
    return Undo(*_exactly(0, words, "undo"))


_ACTIONS: Final[Mapping[str, Callable[[Sequence[str]], Action]]] = {
    "ack": _ack,
    "round": _round,
    "loss": _loss,
    "recovered": _after(Recovered),
    "timeout": _after(Timeout),
    "undo": _undo,
    "idle": _for("idle", Idle),
    "wait": _for("wait", Wait),
}
