"""Main program of a process of `apart`: calls of the compiled core, one after the other.

Python runs this file by its path, without the package: importing all of it takes a second. The path
of the compiled core is its argument. It reads the name of a function and its arguments, and answers
with the outcome, until its input ends.

Three more arguments are limits (`apart.Limits`). On Linux it then works in a namespace of
processes, if the system grants one: the kernel ends all in it with its first process, the watch.
"""

from __future__ import annotations

import contextlib
import importlib.machinery
import importlib.util
import os
import pickle
import signal
import sys
import threading
import time
from queue import Empty, SimpleQueue
from typing import Any

Call = tuple[str, tuple[Any, ...], Any]
"""The name of a function, its arguments, and what cancels it."""
Question = tuple[Call, float | None]
"""A call, and the processor time that it may take without progress, in s."""
Outcome = tuple[str, Any]
"""An empty text and what a call returned, or the type of an error and its arguments."""

IN_REAL_TIME = ("testbed_run", "testbed_parity")
LEAVE_S = 3.0
AT_ONCE_S = 0.1
"""Time for calls to remove the testbed's set-up or to end compilers, in s, once nobody waits."""

NO_MEMORY_LIMIT = ("fuzz_algorithm",)
"""Calls that start programs with sanitizers, which reserve more memory than there is."""
FILE_BYTES_MAX = 256 << 20
TOO_MANY = 97
"""Exit code of a process that has started too many; as `apart.TOO_MANY`."""
STALLED = "Stalled"
"""Name of the answer for a call without progress; as `apart._STALLED`."""
LOOK_S = 0.02
_SIGNALLED = 128
_NEW_USER, _NEW_PROCESSES = 0x10000000, 0x20000000
_SET_DEATH_SIGNAL, _DROP_CAPABILITY = 1, 24
_CAPABILITIES, _SYS_ADMIN, _SYS_RESOURCE = 0x20080522, 21, 24
"""Of sched.h, sys/prctl.h and linux/capability.h."""
_NOBODY_FROM = 0x7FFF0000
_SPARE = 20
"""Processes beyond the limit, so that the watch sees it exceeded before forks fail."""
STARTED_MAX = 5000
"""Processes one after the other; the fuzzer needs a thousand to shorten what fails."""


def main() -> None:
    """Answer until the other end of standard input is closed."""
    limits = [int(argument) for argument in sys.argv[2:]] if sys.platform == "linux" else []
    if limits:
        confine(limits[2])
    # Ctrl-C reaches all processes of a terminal; the one that started this one decides.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # an algorithm may print
    die_first()
    core = loaded(sys.argv[1])
    questions: SimpleQueue[Question] = SimpleQueue()
    calls: SimpleQueue[Call] = SimpleQueue()
    outcomes: SimpleQueue[Outcome] = SimpleQueue()
    idle = threading.Event()
    idle.set()
    threading.Thread(target=listen, args=(core, questions, idle), daemon=True).start()
    threading.Thread(target=work, args=(core, calls, outcomes), daemon=True).start()
    while True:
        call, stalled_s = questions.get()
        if limits:
            limit(call[0], *limits[:2])
        come_first(call[0] in IN_REAL_TIME)
        calls.put(call)
        error, outcome = awaited(outcomes, call[2], stalled_s)
        if not error and isinstance(outcome, core.RunOutput):
            outcome = (outcome.summary, outcome.tables, outcome.captures)
        pickle.dump((error, outcome), answers)
        del outcome  # it may be large, and the next question late
        idle.set()
        answers.flush()
        if error == STALLED:
            os._exit(0)


def die_first() -> None:
    """Have Linux end this process before others, such as a notebook, if memory runs out."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:  # noqa: PTH123 - pathlib takes long
        file.write("1000")


def come_first(in_real_time: bool) -> None:
    """Get processors before the programs of other sessions, or as they do.

    Linux divides processors between sessions before it looks at priorities (sched(7), "The
    autogroup feature"). So this process needs a separate session, which ends with it.
    """
    if sys.platform != "linux":
        return
    if in_real_time and os.getsid(0) != os.getpid():
        os.setsid()
    if os.getsid(0) == os.getpid():
        # Only root may come first, and not every kernel has such groups.
        with contextlib.suppress(OSError), open("/proc/self/autogroup", "w") as file:  # noqa: PTH123 - pathlib takes long
            file.write("-20" if in_real_time else "0")


def confine(processes: int) -> None:
    """Return in a process whose namespace ends with it, or here if the system grants none."""
    import ctypes  # noqa: PLC0415 - it takes as long as all the rest

    libc = ctypes.CDLL(None, use_errno=True)
    user, group = os.geteuid(), os.getegid()
    if libc.unshare(_NEW_PROCESSES) != 0:
        if libc.unshare(_NEW_USER | _NEW_PROCESSES) != 0:
            return
        for name, line in (
            ("setgroups", "deny"),
            ("uid_map", f"{user} {user} 1"),
            ("gid_map", f"{group} {group} 1"),
        ):
            with open(f"/proc/self/{name}", "w") as file:  # noqa: PTH123 - pathlib takes long
                file.write(line)
    first = os.fork()
    if first:
        end_as(os.waitpid(first, 0)[1])
    libc.prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)
    worker = os.fork()
    if worker:
        watch(worker, processes)
    count_alone(libc, user, processes + _SPARE)


def count_alone(libc: Any, user: int, processes: int) -> None:
    """Have forks fail beyond a number of processes, other processes of the user not counted.

    The system counts by the real user and namespace, but never limits root or who has these
    capabilities. So the real user is another one then; the effective user, whose files these are,
    stays.
    """
    import ctypes  # noqa: PLC0415 - as above
    import resource  # noqa: PLC0415 - Windows has none

    if user == 0:
        os.setresuid(_NOBODY_FROM + time.monotonic_ns() % 0x8000, 0, 0)
        header = (ctypes.c_uint32 * 2)(_CAPABILITIES, 0)
        data = (ctypes.c_uint32 * 6)()
        libc.capget(header, data)
        for capability in (_SYS_ADMIN, _SYS_RESOURCE):
            libc.prctl(_DROP_CAPABILITY, capability)
            data[0] &= ~(1 << capability)
            data[1] &= ~(1 << capability)
        libc.capset(header, data)
    resource.setrlimit(resource.RLIMIT_NPROC, (processes, processes))


def end_as(status: int) -> None:
    """End as the process did that watched, by the signal if one ended the worker."""
    import resource  # noqa: PLC0415 - Windows has none

    code = os.waitstatus_to_exitcode(status)
    if code > _SIGNALLED:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with contextlib.suppress(OSError):  # of SIGKILL there is no handler
            signal.signal(code - _SIGNALLED, signal.SIG_DFL)
        os.kill(os.getpid(), code - _SIGNALLED)
    os._exit(code if code >= 0 else TOO_MANY)


def watch(worker: int, processes: int) -> None:
    """Wait for the worker, and end all if more processes exist than allowed.

    This is the first process of the namespace, which is the parent of all that lose theirs.
    """
    while True:
        ended, status = os.waitpid(-1, os.WNOHANG)
        if ended == worker:
            code = os.waitstatus_to_exitcode(status)
            os._exit(code if code >= 0 else _SIGNALLED - code)
        if ended == 0:
            last = started()
            if last > STARTED_MAX or (last > processes and alive(last) > processes):
                os._exit(TOO_MANY)
            time.sleep(LOOK_S)


def started() -> int:
    """Return the number of processes and threads of this namespace so far; 0: not known."""
    try:
        with open("/proc/sys/kernel/ns_last_pid") as file:  # noqa: PTH123 - as above
            return int(file.read())
    except OSError:
        return 0


def alive(last: int) -> int:
    """Return how many of the processes and threads of this namespace up to a number exist."""
    count = 0
    for number in range(1, last + 1):
        try:
            os.kill(number, 0)
        except ProcessLookupError:
            continue
        except PermissionError:
            pass
        count += 1
    return count


def limit(call: str, memory_bytes: int, cpu_s: int) -> None:
    """Limit what a call may take, besides the time that was taken before."""
    import resource  # noqa: PLC0415 - Windows has none

    def soft(kind: int, value: int) -> None:
        hard = resource.getrlimit(kind)[1]
        resource.setrlimit(kind, (value if hard < 0 else min(value, hard), hard))

    used = resource.getrusage(resource.RUSAGE_SELF)
    soft(resource.RLIMIT_CPU, int(used.ru_utime + used.ru_stime) + 1 + cpu_s)
    is_free = call in NO_MEMORY_LIMIT
    soft(resource.RLIMIT_AS, resource.getrlimit(resource.RLIMIT_AS)[1] if is_free else memory_bytes)
    soft(resource.RLIMIT_FSIZE, FILE_BYTES_MAX)
    soft(resource.RLIMIT_CORE, 0)


def loaded(path: str) -> Any:
    """Return the compiled core."""
    loader = importlib.machinery.ExtensionFileLoader("_core", path)
    spec = importlib.util.spec_from_loader("_core", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def listen(core: Any, questions: SimpleQueue[Question], idle: threading.Event) -> None:
    """Read requests; if the requesting process has gone, so does this one, at once."""
    name, token = "", core.CancelToken()
    try:
        while True:
            name, arguments, stalled_s = pickle.load(sys.stdin.buffer)
            token = core.CancelToken()
            idle.clear()
            questions.put(((name, arguments, token), stalled_s))
    except (EOFError, OSError):
        token.cancel()
        idle.wait(LEAVE_S if name in IN_REAL_TIME else AT_ONCE_S)
        os._exit(0)


def work(core: Any, calls: SimpleQueue[Call], outcomes: SimpleQueue[Outcome]) -> None:
    """Make calls: in a thread of its own, as one of them may never return."""
    while True:
        name, arguments, token = calls.get()
        try:
            outcomes.put(("", getattr(core, name)(*arguments, cancel=token)))
        except BaseException as error:
            outcomes.put((type(error).__name__, error.args))


def awaited(outcomes: SimpleQueue[Outcome], token: Any, stalled_s: float | None) -> Outcome:
    """Return the outcome of a call; also if it takes processor time without progress.

    Time by the clock does not count, so that a busy machine stops nothing. Compilers are processes
    of their own, so their time does not count either.
    """
    reached_ns, since_s = -1, 0.0
    while True:
        try:
            return outcomes.get(timeout=None if stalled_s is None else LOOK_S)
        except Empty:
            used_s = time.process_time()
        if token.reached_ns != reached_ns:
            reached_ns, since_s = token.reached_ns, used_s
        elif stalled_s is not None and used_s - since_s >= stalled_s:
            return STALLED, (reached_ns, stalled_s)


main()
