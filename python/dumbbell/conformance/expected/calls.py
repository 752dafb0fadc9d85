"""Calls of an algorithm's hooks: made in the engine, kept, and made again in the kernel."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from dumbbell import _core
from dumbbell.algorithms import apart
from dumbbell.algorithms.catalogue import Algorithm

_READ: Final = msgspec.json.Decoder().decode

PATIENCE_S: Final = 60.0
"""Time for compiling a file and for one call, in seconds; a call that takes longer never ends."""

KERNEL_PATIENCE_S: Final = 200.0
"""Time for compiling for the kernel and for all calls there, in seconds."""

STATE_WORDS: Final = 13
INFO_MAX: Final = 16
"""Sizes of what an algorithm remembers and of what it reports (``cc.h``)."""

WRITABLE: Final = (
    "cwnd_segs",
    "cwnd_cnt",
    "ssthresh_segs",
    "cwnd_clamp_segs",
    "pacing_rate_bytes_per_s",
    "app_limited_segs",
)
"""Fields of a connection that an algorithm may write (``cc.h``)."""

HookCall = str | Mapping[str, Any]
"""A hook with its arguments, as ``crates/algorithm/src/call.rs`` reads it."""


@dataclass
class Calls:
    """Calls of one algorithm with one set of parameters, in order, and their outcomes."""

    algorithm: Algorithm
    values: Sequence[int]
    made: list[Mapping[str, Any]] = field(default_factory=list)
    outcomes: list[Mapping[str, Any]] = field(default_factory=list)
    places: list[tuple[int, str]] = field(default_factory=list)
    """Of each call the line of the script, and the hook."""

    @functools.cached_property
    def hooks(self) -> frozenset[str]:
        """The hooks that can be called."""
        return self.algorithm.hooks | {"undo_cwnd"}

    @property
    def _code(self) -> str | None:
        return self.algorithm.code if self.algorithm.is_own else None

    def make(self, line: int, call: Mapping[str, Any]) -> tuple[Mapping[str, Any], Sequence[int]]:
        """Make a call natively; return its outcome and what the algorithm then reports."""
        arguments = (self.algorithm.name, self._code, list(self.values), _json(call))
        if self._code is None:
            answer, report = _core.call_algorithm(*arguments)
        else:
            answer, report = apart.ask("call_algorithm", *arguments, patience_s=PATIENCE_S)
        outcome: Mapping[str, Any] = _READ(answer)
        self.made.append(call)
        self.outcomes.append(outcome)
        self.places.append((line, _hook(call["input"])))
        return outcome, report

    def in_kernel(self) -> Sequence[Mapping[str, Any]]:
        """Make all of them again in the kernel, and return their outcomes there."""
        arguments = (self.algorithm.name, self._code, list(self.values), _json(self.made))
        answer = apart.ask("testbed_calls", *arguments, patience_s=KERNEL_PATIENCE_S)
        outcomes: Sequence[Mapping[str, Any]] = _READ(answer)
        return outcomes


@dataclass
class Hooks:
    """An algorithm attached to one connection.

    Attributes
    ----------
    calls
        Keeps what is called.
    state
        The algorithm's own memory, in words.
    report
        The numbers that it reports, as of its last call.
    line
        The line of the script that is being played.
    """

    calls: Calls
    state: Sequence[int] = (0,) * STATE_WORDS
    report: Sequence[int] = (0,) * INFO_MAX
    line: int = 0

    def call(self, conn: dict[str, int], hook_call: HookCall) -> int:
        """Call a hook, which may write to `conn`; return its answer, 0 if it has none.

        A hook that the algorithm lacks does nothing, but undo_cwnd, in whose place Reno's is.
        """
        if _hook(hook_call) not in self.calls.hooks:
            return 0
        before = {"conn": dict(conn), "state": self.state}
        outcome, self.report = self.calls.make(self.line, {"input": hook_call, "before": before})
        after = outcome["after"]
        self.state = after["state"]
        conn.update((name, after["conn"][name]) for name in WRITABLE)
        return int(outcome["answer"])


def values_of(algorithm: Algorithm, preset: str | None, set_: Mapping[str, int]) -> list[int]:
    """Return the values of the parameters, in their order."""
    chosen = {**(algorithm.preset(preset).values if preset else {}), **set_}
    return [chosen.get(parameter.name, parameter.initial) for parameter in algorithm.parameters]


def _hook(hook_call: HookCall) -> str:
    return hook_call if isinstance(hook_call, str) else next(iter(hook_call))


def _json(value: object) -> str:
    """Return it as JSON; a script may make thousands of calls, and this is most of their time."""
    return msgspec.json.encode(value).decode()
