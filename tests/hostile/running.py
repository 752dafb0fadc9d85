"""Run a command in a separate process, with limits of memory and time.

The process is forked from this one, which has imported everything, so that it starts at once.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import resource
import signal
import sys
import time
import traceback
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NoReturn

import dumbbell
import process_table

MEMORY_MAX_BYTES: Final = 4 << 30
CPU_MAX_S: Final = 20.0
QUIET_MAX_S: Final = 60.0
"""A process that uses no processor for so long waits for what never comes."""
OBEY_MAX_S: Final = 10.0
"""Processor time in which Ctrl-C must end what runs."""
FILE_MAX_BYTES: Final = 1 << 30
_LOOK_S: Final = 0.01
_TICKS_PER_S: Final = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Outcome:
    """The end of a command.

    Attributes
    ----------
    code
        Exit code; below 0 the signal that ended it.
    is_stopped
        It had not ended after `CPU_MAX_S` and was asked to stop.
    is_hanging
        It waited for ever, or did not stop when asked to.
    peak_bytes
        The most memory that it, or a process it started, had.
    """

    code: int
    out: str
    err: str
    is_stopped: bool
    is_hanging: bool
    peak_bytes: int


def import_all() -> None:
    """Import the whole package and build the command, for all processes that are forked later."""
    for module in pkgutil.walk_packages(dumbbell.__path__, "dumbbell."):
        if not module.name.endswith(("__main__", "apart_child")):
            importlib.import_module(module.name)
    commands = importlib.import_module("dumbbell.cli.commands")
    commands.built(commands.app)


def ran(arguments: tuple[str, ...], folder: Path, place: Path) -> Outcome:
    """Run `dumbbell` in a folder; `place` gets its output."""
    out, err = place / "stdout", place / "stderr"
    child = os.fork()
    if child == 0:
        _be_the_command(arguments, folder, place, out, err)
    try:
        status, peak_kib, is_stopped, is_hanging = _awaited(child)
    finally:
        _kill_group(child)  # what it has started and left behind
    return Outcome(
        os.waitstatus_to_exitcode(status),
        out.read_text(errors="replace"),
        err.read_text(errors="replace"),
        is_stopped,
        is_hanging,
        peak_kib * 1024,
    )


def _be_the_command(
    arguments: tuple[str, ...], folder: Path, place: Path, out: Path, err: Path
) -> NoReturn:
    code = 99
    try:
        os.setsid()
        for number, file in enumerate((Path(os.devnull), out, err)):
            opened = os.open(file, os.O_RDWR | os.O_CREAT | os.O_TRUNC if number else os.O_RDONLY)
            os.dup2(opened, number)
        os.chdir(folder)
        os.environ.update(HOME=str(place / "home"), TMPDIR=str(place / "tmp"))
        for limit, most in (
            # Not of addresses: what draws figures reserves some gigabytes and uses few.
            (resource.RLIMIT_DATA, MEMORY_MAX_BYTES),
            (resource.RLIMIT_FSIZE, FILE_MAX_BYTES),
            (resource.RLIMIT_CORE, 0),
        ):
            resource.setrlimit(limit, (most, most))
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.argv = ["dumbbell", *arguments]
        code = _code_of_main()
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


def _code_of_main() -> int:
    """Return the exit code of the command, as Python itself would end."""
    from dumbbell.cli import start  # noqa: PLC0415 - the command, in its own process

    try:
        start.main()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def _awaited(child: int) -> tuple[int, int, bool, bool]:
    """Wait for a child; return its status, peak in KiB, whether it was stopped and whether it hung.

    First it is asked to stop, as by Ctrl-C, then it is killed.
    """
    allowed_s = CPU_MAX_S
    is_stopped = is_hanging = False
    used_s, busy_s = 0.0, time.monotonic()
    while True:
        ended, status, usage = os.wait4(child, os.WNOHANG)
        if ended:
            return status, usage.ru_maxrss, is_stopped, is_hanging
        time.sleep(_LOOK_S)
        now_s = _cpu_s(child)
        if now_s > used_s or (time.monotonic() - busy_s > QUIET_MAX_S and _is_waiting(child)):
            used_s, busy_s = now_s, time.monotonic()
        if used_s > allowed_s and not is_stopped:
            is_stopped, allowed_s = True, used_s + OBEY_MAX_S
            os.kill(child, signal.SIGINT)
        elif used_s > allowed_s or time.monotonic() - busy_s > QUIET_MAX_S:
            is_hanging = True
            _kill_group(child)


def _cpu_s(child: int) -> float:
    """Return the processor time of a process and of those it has waited for."""
    try:
        process = process_table.process(child)
    except OSError:
        return 0.0
    return (process.ticks + process.waited_ticks) / _TICKS_PER_S


def _is_waiting(child: int) -> bool:
    """Return whether a process, or one of its session, only waits for a busy processor or disk."""
    for file in Path("/proc").glob("[0-9]*/task/*/stat"):
        with suppress(OSError):
            thread = process_table.read(file)
            if thread.session == child and thread.state in "RD":
                return True
    return False


def _kill_group(child: int) -> None:
    """Kill a process that leads a group, and those that it has started."""
    try:
        os.killpg(child, signal.SIGKILL)
    except ProcessLookupError:
        return
