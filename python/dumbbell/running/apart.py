"""Simulations in processes of their own, which an algorithm of a user's own may bring down.

Native code that divides by zero ends the process that runs it. So whatever brings a source of its
own runs in a child, and what ends the child fails one run. Children wait for further scenarios, as
each has to compile an algorithm when it first sees it.
"""

from __future__ import annotations

import atexit
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from dumbbell import _core
from dumbbell.errors import Cancelled, EngineError
from dumbbell.running.cancelling import CancelToken

_SCRIPT: Final = Path(__file__).with_name("apart_child.py")

_MEANS: Final[Mapping[str, str]] = {
    "SIGFPE": "a division by zero, or another that has no result",
    "SIGSEGV": "memory that is not its own",
    "SIGBUS": "memory that is not there",
    "SIGILL": "__builtin_trap, or a jump astray",
    "SIGTRAP": "__builtin_trap, or what C leaves undefined",
    "SIGABRT": "it gave up",
    "SIGKILL": "somebody killed it, or memory ran out",
}
"""What the signals mean that end a process."""


class RawOutput(NamedTuple):
    """What the compiled core returns of a run."""

    summary: str
    tables: Mapping[str, Sequence[tuple[str, str, bytes]]]
    captures: Sequence[bytes] | None


class Died(Exception):  # noqa: N818 - what happened, not what to do
    """A process ended before its run did; the message says how."""


class Child:
    """A process that simulates. It ends when `close` is called, or with the one that started it."""

    def __init__(self) -> None:
        assert _core.__file__ is not None
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_SCRIPT), _core.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def run(self, scenario_json: str) -> RawOutput:
        """Run a resolved scenario; Died if that ends the process, else as `_core.simulate`."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            pickle.dump(scenario_json, process.stdin)
            process.stdin.flush()
            answer = pickle.load(process.stdout)
        except (OSError, EOFError, pickle.UnpicklingError):
            self.close()
            raise Died(_how(process.wait())) from None
        if len(answer) == len(RawOutput._fields):
            return RawOutput(*answer)
        raise _error(*answer)

    def kill(self) -> None:
        """End it now, whatever it does; another thread may wait for it."""
        self._process.kill()

    @property
    def lives(self) -> bool:
        """Whether it can be asked."""
        return self._process.poll() is None

    def close(self) -> None:
        """End it once it has nothing to do."""
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with suppress(OSError):
                pipe.close()
        self._process.wait()


def _how(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        return f"ended by signal {-code}"
    meaning = _MEANS.get(name) or signal.strsignal(-code)
    return f"ended by {name}" + (f" ({meaning})" if meaning else "")


def _error(name: str, args: tuple[Any, ...]) -> Exception:
    match name:
        case "ScenarioError":
            return _core.ScenarioError(*args)
        case "MemoryError":
            return MemoryError(*args)
        case "PanicException":
            return EngineError(f"the simulator stopped on a broken invariant: {args[0]}")
    return EngineError(f"the simulator stopped: {name}: {args}")


class _Idle:
    """Children that wait for another run."""

    def __init__(self) -> None:
        self._children: list[Child] = []
        self._lock = threading.Lock()
        atexit.register(self.close)

    def take(self) -> Child:
        """Return one that lives."""
        with self._lock:
            while self._children:
                child = self._children.pop()
                if child.lives:
                    return child
                child.close()
        return Child()

    def put(self, child: Child) -> None:
        with self._lock:
            self._children.append(child)

    def close(self) -> None:
        with self._lock:
            for child in self._children:
                child.close()
            self._children.clear()


_idle: Final = _Idle()


def simulate(scenario_json: str, cancel: CancelToken | None = None) -> RawOutput:
    """Run a resolved scenario in another process.

    Raises as `_core.simulate`; Died if the run brings the process down, and Cancelled.
    """
    cancel = cancel or CancelToken()
    child = _idle.take()
    try:
        with cancel.stopping(child.kill):
            output = child.run(scenario_json)
    except Died:
        if cancel.cancelled:
            raise Cancelled("the run was cancelled") from None
        raise
    except BaseException:
        child.kill()
        child.close()
        raise
    if cancel.cancelled:
        child.close()
    else:
        _idle.put(child)
    return output
