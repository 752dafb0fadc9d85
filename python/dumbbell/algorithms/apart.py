"""Separate processes for user-defined code, which may crash them.

Native code that divides by zero, or a constructor that crashes, ends the process that loads it. So
the process that a user has started never loads user-defined code. Children compile it, describe it,
run it and check it, and the end of a child is the failure of its task. Children wait for further
questions, as each has to compile an algorithm when it first sees it.

This keeps faults apart, not attackers: a child has the rights of its user (docs/trust.md). Within
`bounded`, children also have limits, and nothing of them is left at the end.
"""

from __future__ import annotations

import atexit
import os
import pickle
import selectors
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import IO, Any, Final, NamedTuple, Protocol

from dumbbell import _core
from dumbbell.algorithms.patience import Patience
from dumbbell.base.errors import Cancelled, EngineError
from dumbbell.base.units import NS_PER_S

_SCRIPT: Final = Path(__file__).with_name("apart_child.py")

_SAID_MAX: Final = 4_000
"""Characters of what a child's code prints that are shown; an algorithm may print for ever."""

_SIGNAL_LATENCY_S: Final = 0.1

_CANCELLED: Final = "Cancelled"
"""Error of a call that was going on when the child's input ended."""

_STALLED: Final = "Stalled"
"""Answer of a child whose run comes no further."""

STALLED_S: Final = 10.0
"""Processor time that a run may take without progress, in seconds; good ones take milliseconds."""

_GRACE_S: Final = 5.0
"""Time after which a child is killed that has not ended on request, in seconds."""

_MEANS: Final[Mapping[str, str]] = {
    "SIGFPE": "a division by zero, or another that has no result",
    "SIGSEGV": "memory that is not its own",
    "SIGBUS": "memory that is not there",
    "SIGILL": "__builtin_trap, or a jump astray",
    "SIGTRAP": "__builtin_trap, or what C leaves undefined",
    "SIGABRT": "it gave up",
    "SIGKILL": "somebody killed it, or memory ran out",
}
"""Meaning of the signals that end a process."""


class RawOutput(NamedTuple):
    """Output of the compiled core for a run."""

    summary: str
    tables: Mapping[str, Sequence[tuple[str, str, bytes]]]
    captures: Sequence[bytes] | None


class Limits(NamedTuple):
    """Limits of a process; systems other than Linux have none of them.

    Attributes
    ----------
    memory_bytes
        Its address space; programs that it starts to fuzz an algorithm have no such limit.
    cpu_s
        Processor time of one call, in seconds.
    processes
        Processes and threads at the same time, compilers among them. There is no such limit where
        the system grants no namespace of processes.
    """

    memory_bytes: int = 2_000_000_000
    cpu_s: int = 10
    processes: int = 200


TOO_MANY: Final = 97
"""Exit code of a child that has started too many processes."""


class Died(Exception):  # noqa: N818 - what happened, not what to do
    """A process ended before its call did; the message names the signal or the exit code.

    Attributes
    ----------
    code
        The exit code; below 0 it is the signal.
    printed
        Its last words on standard error, of a child with limits.
    """

    def __init__(self, code: int, printed: str = "") -> None:
        super().__init__(_how(code))
        self.code = code
        self.printed = printed


class TooLong(Exception):  # noqa: N818 - what happened, not what to do
    """A call had not ended after the time that it was given."""

    def __init__(self, patience_s: float) -> None:
        super().__init__(f"has not ended after {patience_s:g} s")


class Stalled(Exception):  # noqa: N818 - what happened, not what to do
    """A run took processor time and came no further: a callback never returns."""

    def __init__(self, reached_ns: int, cpu_s: float) -> None:
        super().__init__(
            f"took {cpu_s:g} s of processor time after {reached_ns / NS_PER_S:.3g} s of its run "
            "and came no further, as if a loop in a callback had no end"
        )


class Cancelling(Protocol):
    """Cancellation of a call; see `engines.cancelling`."""

    @property
    def cancelled(self) -> bool:
        """True once cancellation was requested."""
        ...

    def stopping(self, stop: Callable[[], None]) -> AbstractContextManager[None]:
        """Have `stop` called if it is cancelled before or while the block runs."""
        ...


class Child:
    """A process that calls the core. It ends when it is closed, or with the one that started it.

    With limits it has `scratch` for its temporary files, and prints nothing.
    """

    def __init__(self, limits: Limits | None = None, scratch: str | None = None) -> None:
        assert _core.__file__ is not None
        self._is_limited = limits is not None
        self._printed = ""
        environment = None if scratch is None else {**os.environ, "TMPDIR": scratch}
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_SCRIPT), _core.__file__, *map(str, limits or ())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            start_new_session=self._is_limited,
        )
        assert self._process.stderr is not None
        show = self._keep if self._is_limited else _show
        self._relay = threading.Thread(
            target=_relay, args=(self._process.stderr, show), daemon=True
        )
        self._relay.start()

    def _keep(self, text: str) -> None:
        self._printed += text

    def call(self, function: str, *arguments: Any) -> Any:
        """Return what a function of the core does; raises as that does, Died and Stalled."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            pickle.dump((function, arguments, self._stalled_s(function)), process.stdin)
            process.stdin.flush()
            _await(process.stdout)
            error, answer = pickle.load(process.stdout)
        except (OSError, EOFError, ValueError, pickle.UnpicklingError):
            self.close()
            raise Died(process.wait(), self._printed) from None
        if not error:
            return answer
        if error == _CANCELLED:
            # The answer of a child that is being killed, if it finds the time for one.
            self.close()
            raise Died(self._process.wait(), self._printed)
        if error == _STALLED:
            self.close()
            raise Stalled(*answer)
        raise _error(error, answer)

    def _stalled_s(self, function: str) -> float | None:
        """Return the limit of a call without progress: only runs report any.

        With limits the whole call has one.
        """
        return STALLED_S if function == "simulate" and not self._is_limited else None

    def simulate(self, scenario_json: str) -> RawOutput:
        """Run a resolved scenario; raises as `call`."""
        return RawOutput(*self.call("simulate", scenario_json))

    def kill(self) -> None:
        """End it now, whatever it does, with the compilers that it has; another thread may wait."""
        assert self._process.stdin is not None
        with suppress(OSError, ValueError):
            self._process.stdin.close()
        if self._is_limited:
            self._kill_group()
            return
        last = threading.Timer(_GRACE_S, self._process.kill)
        last.daemon = True
        last.start()

    def _kill_group(self) -> None:
        """End all processes of its session; those of its namespace end with it."""
        if not hasattr(os, "killpg"):
            self._process.kill()
            return
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    @property
    def lives(self) -> bool:
        """True if it can answer."""
        return self._process.poll() is None

    def close(self) -> None:
        """End it once it has nothing to do."""
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with suppress(OSError):
                pipe.close()
        if self._is_limited:
            self._kill_group()
        try:
            self._process.wait(_GRACE_S)
        except subprocess.TimeoutExpired:
            # One that a busy or swapping machine does not let run would keep the command waiting.
            self._process.kill()
            self._process.wait()
        self._relay.join(_GRACE_S)


def _await(pipe: IO[bytes]) -> None:
    """Wait until there is something to read, and never be deaf to Ctrl-C for long.

    The system may deliver a signal to another thread, after which a plain read would continue.
    """
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while not selector.select(_SIGNAL_LATENCY_S):
            pass


def _show(text: str) -> None:
    print(text, end="", file=sys.stderr, flush=True)


def _relay(pipe: IO[bytes], show: Callable[[str], None]) -> None:
    """Show what a child prints: not for ever, and nothing that a terminal would obey."""
    left = _SAID_MAX
    with pipe, suppress(OSError, ValueError):
        while chunk := pipe.read1(4096):  # type: ignore[attr-defined]
            if left <= 0:
                continue
            message = "".join(
                character if character.isprintable() or character in "\n\t" else "?"
                for character in chunk.decode(errors="replace")[:left]
            )
            left -= len(message)
            more = "" if left > 0 else "\n(what the algorithm prints further is left out)\n"
            show(message + more)


def _how(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        return f"ended by signal {-code}"
    meaning = _MEANS.get(name) or signal.strsignal(-code)
    return f"ended by {name}" + (f" ({meaning})" if meaning else "")


_CORE_ERRORS: Final = (_core.ScenarioError, _core.AlgorithmError, _core.TestbedError, _core.GivenUp)
"""Errors with which the core refuses a call; the child stays alive."""


def _error(name: str, args: tuple[Any, ...]) -> Exception:
    for kind in (*_CORE_ERRORS, MemoryError):
        if kind.__name__ == name:
            return kind(*args)
    if name == "PanicException":
        return EngineError(f"the simulator stopped on a broken invariant: {args[0]}")
    return EngineError(f"the simulator stopped: {name}: {args}")


class _Idle:
    """Children that wait for another run."""

    def __init__(self, limits: Limits | None = None, scratch: str | None = None) -> None:
        self.limits = limits
        self._scratch = scratch
        self._children: list[Child] = []
        self._lock = threading.Lock()

    def take(self) -> Child:
        """Return one that lives."""
        with self._lock:
            while self._children:
                child = self._children.pop()
                if child.lives:
                    return child
                child.close()
        return Child(self.limits, self._scratch)

    def put(self, child: Child) -> None:
        with self._lock:
            self._children.append(child)

    def close(self) -> None:
        with self._lock:
            for child in self._children:
                child.close()
            self._children.clear()


_idle: Final = _Idle()
atexit.register(_idle.close)
_chosen: ContextVar[_Idle] = ContextVar("children", default=_idle)


@contextmanager
def bounded(limits: Limits) -> Iterator[Path]:
    """Give all children of the block limits, and end them with it; yield their temporary folder.

    A thread has these children if it runs in a copy of the block's context. Threads that call a
    child have to end before the block does.
    """
    with tempfile.TemporaryDirectory(prefix="dumbbell-", ignore_cleanup_errors=True) as scratch:
        children = _Idle(limits, scratch)
        before = _chosen.set(children)
        try:
            yield Path(scratch)
        finally:
            _chosen.reset(before)
            children.close()


def is_bounded() -> bool:
    """Return True within `bounded`."""
    return _chosen.get().limits is not None


def ask(
    function: str,
    *arguments: Any,
    cancel: Cancelling | None = None,
    patience_s: float | None = None,
) -> Any:
    """Return what a function of the core does in another process.

    Raises as the function; Died if it brings the process down, Stalled, TooLong and Cancelled.
    """
    idle = _chosen.get()
    child = idle.take()
    patience = Patience(patience_s, child.kill)
    try:
        with patience, nullcontext() if cancel is None else cancel.stopping(child.kill):
            answer = child.call(function, *arguments)
    except Died:
        if cancel is not None and cancel.cancelled:
            raise Cancelled("it was cancelled") from None
        if patience.is_over and patience_s is not None:
            raise TooLong(patience_s) from None
        raise
    except _CORE_ERRORS:
        idle.put(child)
        raise
    except BaseException:
        child.kill()
        raise
    if patience.is_over or (cancel is not None and cancel.cancelled):
        child.kill()
    else:
        idle.put(child)
    return answer


def simulate(scenario_json: str, cancel: Cancelling | None = None) -> RawOutput:
    """Run a resolved scenario in another process; raises as `ask`."""
    return RawOutput(*ask("simulate", scenario_json, cancel=cancel))
