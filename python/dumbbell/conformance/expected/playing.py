"""Playing a script on an algorithm, and what differs from what it expects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from dumbbell.algorithms.catalogue import Algorithm
from dumbbell.base.errors import InputError
from dumbbell.conformance.expected.calls import Calls, Hooks, values_of
from dumbbell.conformance.expected.connection import Connection
from dumbbell.conformance.expected.script import (
    SSTHRESH_INFINITE,
    STATES,
    Ack,
    Case,
    Expect,
    Expectation,
    Idle,
    Loss,
    Recovered,
    Round,
    Script,
    Step,
    Timeout,
    Undo,
    Values,
    Wait,
)

ACKS_MAX: Final = 50_000
"""ACKs of a script: what takes longer is no short script."""

_AROUND: Final = 3
"""Lines of a script that are shown before and after one at fault."""

_BITS: Final = 8


@dataclass(frozen=True)
class Miss:
    """An expectation that is not met.

    Attributes
    ----------
    line
        Its line.
    case
        Its case.
    expectation
        The expectation.
    value
        The value instead.
    """

    line: int
    case: Case
    expectation: Expectation
    value: int | str

    @property
    def words(self) -> str:
        """The difference in words."""
        name, value = self.expectation.name, shown(self.expectation.name, self.value)
        return f"{name} is {value}, expected {self.expectation.written}"


@dataclass
class Played:
    """Outcome of a script.

    Attributes
    ----------
    script
        The script.
    calls
        The calls that it made, one entry for each case.
    misses
        The first expectation that is not met, of each case that has one.
    expectations
        Their number.
    after
        State after each line that did something.
    """

    script: Script
    calls: list[Calls] = field(default_factory=list)
    misses: list[Miss] = field(default_factory=list)
    expectations: int = 0
    after: dict[int, Values] = field(default_factory=dict)


def play(script: Script, algorithm: Algorithm) -> Played:
    """Play all cases.

    A step that cannot be made, such as an ACK of more than is in flight, is an InputError.
    """
    played = Played(script)
    budget = iter(range(ACKS_MAX))
    for case in script.cases:
        _play(case, algorithm, played, budget)
    return played


def _play(case: Case, algorithm: Algorithm, played: Played, budget: Iterator[int]) -> None:
    calls = Calls(algorithm, values_of(algorithm, case.preset, case.parameters))
    played.calls.append(calls)
    hooks = Hooks(calls, line=case.line)
    connection = Connection(hooks, case.start)
    for step in case.steps:
        hooks.line = step.line
        if isinstance(step.action, Expect):
            values = _values(algorithm, connection, hooks)
            played.expectations += len(step.action.expectations)
            miss = _miss(step, case, values)
            if miss is not None:
                played.misses.append(miss)
                played.after[step.line] = values
                return
            continue
        try:
            _do(step, connection, budget)
        except InputError as error:
            raise replace(error, source=played.script.shown, line=step.line) from None
        played.after[step.line] = _values(algorithm, connection, hooks)


def _do(step: Step, connection: Connection, budget: Iterator[int]) -> None:
    match step.action:
        case Ack() as ack:
            for _ in range(ack.times):
                _spend(budget)
                connection.wait(ack.after_us)
                connection.ack(
                    ack.segs,
                    ack.rtt_us,
                    ack.delay_us,
                    lost=ack.lost,
                    marked=ack.marked,
                    app_limited=ack.app_limited,
                )
        case Round() as rounds:
            for _ in range(rounds.times):
                _round(rounds, connection, budget)
        case Loss(segs):
            connection.lose(segs)
        case Recovered(after_us):
            connection.wait(after_us)
            connection.recover()
        case Timeout(after_us):
            connection.wait(after_us)
            connection.time_out()
        case Undo():
            connection.undo()
        case Idle(for_us):
            connection.idle(for_us)
        case Wait(for_us):
            connection.wait(for_us)


def _spend(budget: Iterator[int]) -> None:
    if next(budget, None) is None:
        raise InputError(f"the script has more than {ACKS_MAX} ACKs", valid="fewer or larger ones")


def _round(rounds: Round, connection: Connection, budget: Iterator[int]) -> None:
    left, began_us, marked = connection.flight_segs, connection.conn["now_us"], rounds.marked
    rtt_us = rounds.rtt_us or connection.rtt_us
    count = -(-left // rounds.every)
    for number in range(1, count + 1):
        _spend(budget)
        segs = min(rounds.every, left)
        left -= segs
        connection.wait(began_us + rtt_us * number // count - connection.conn["now_us"])
        connection.ack(
            segs,
            rtt_us,
            rounds.delay_us,
            marked=marked > 0,
            app_limited=rounds.app_limited,
        )
        marked -= segs


def _values(algorithm: Algorithm, connection: Connection, hooks: Hooks) -> Values:
    """Return all that can be expected."""
    conn = connection.conn
    numbers: dict[str, int | str] = dict(zip(algorithm.info, hooks.report, strict=False))
    if "mode" in numbers and algorithm.modes:
        mode = int(numbers["mode"])
        numbers["mode"] = algorithm.modes[mode] if mode < len(algorithm.modes) else mode
    return {
        **numbers,
        "cwnd": conn["cwnd_segs"],
        "ssthresh": conn["ssthresh_segs"],
        "credit": conn["cwnd_cnt"],
        "state": STATES[conn["state"]],
        "pacing": conn["pacing_rate_bytes_per_s"] * _BITS,
    }


def _miss(step: Step, case: Case, values: Values) -> Miss | None:
    assert isinstance(step.action, Expect)
    for expectation in step.action.expectations:
        if not expectation.is_met_by(values[expectation.name]):
            return Miss(step.line, case, expectation, values[expectation.name])
    return None


def shown(name: str, value: int | str) -> str:
    """Return a value as a script would have it."""
    if name == "ssthresh" and value == SSTHRESH_INFINITE:
        return "infinite"
    if name == "pacing":
        return f"{value}bit" if value else "none"
    return str(value)


def excerpt(played: Played, miss: Miss) -> str:
    """Return the lines around a miss, with what was found after each that did something."""
    script = played.script
    first, last = max(miss.line - _AROUND, miss.case.line), _last_shown(script, miss)
    numbers = range(first, last + 1)
    texts = {number: script.lines[number - 1].rstrip() for number in numbers}
    left = {number: _summary(played.after.get(number), miss) for number in numbers}
    wide = max(len(texts[number]) for number in numbers if left[number])
    lines = [f"{script.shown}:{miss.line}: {miss.words}"]
    lines += [f"  {miss.case.line:4} case {miss.case.title}"] if first > miss.case.line else []
    for number in numbers:
        mark = ">" if number == miss.line else " "
        lines.append(f"{mark} {number:4} {texts[number]:{wide}}  {left[number]}".rstrip())
    return "\n".join(lines)


def _last_shown(script: Script, miss: Miss) -> int:
    """Return the last line to show: it is of the same case."""
    ends = [case.line - 1 for case in script.cases if case.line > miss.line]
    last = min([miss.line + _AROUND, len(script.lines), *ends])
    while not script.lines[last - 1].strip():
        last -= 1
    return last


_ALWAYS: Final = ("cwnd", "ssthresh", "state")


def _summary(values: Values | None, miss: Miss) -> str:
    if values is None:
        return ""
    more = miss.expectation.name
    names: Sequence[str] = _ALWAYS if more in _ALWAYS else (*_ALWAYS, more)
    return "-> " + ", ".join(f"{name} {shown(name, values[name])}" for name in names)


def difference(
    native: Mapping[str, object], kernel: Mapping[str, object], where: str = ""
) -> Iterator[str]:
    """Yield what two outcomes differ in, by the names of the fields."""
    for name, value in native.items():
        other = kernel[name]
        if isinstance(value, Mapping) and isinstance(other, Mapping):
            yield from difference(value, other, f"{name}.")
        elif value != other:
            yield f"{where}{name}: native {value}, kernel {other}"
