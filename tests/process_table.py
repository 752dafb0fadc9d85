"""Processes of this machine, by /proc."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

_END_S: Final = 30
"""Time in which a busy machine lets a killed process end."""


def is_running(pid: int) -> bool:
    """Return whether a process is there and has not ended, even if nobody has waited for it."""
    try:
        return process(pid).state != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def with_temporary_folder(folder: Path) -> list[int]:
    """Return the processes whose environment names the folder as the one for temporary files.

    Those that were killed have time to end.
    """
    last_s = time.monotonic() + _END_S
    while (processes := _with_temporary_folder(folder)) and time.monotonic() < last_s:
        time.sleep(0.05)
    return processes


def ticks_of_others() -> dict[int, int]:
    """Return the processor time of each process, in clock ticks.

    Processes of this session, of the idle class, and of the kernel are left out.
    """
    return {
        process.pid: process.ticks
        for process in _processes()
        if process.session not in (0, os.getsid(0)) and process.policy != os.SCHED_IDLE
    }


def children() -> list[int]:
    """Return the processes that this one has started and that have not ended."""
    return [process.pid for process in _processes() if process.parent == os.getpid()]


def stolen_ticks() -> int:
    """Return the time that the host of this machine gave to others since the start, in ticks."""
    return int(Path("/proc/stat").read_text().split(maxsplit=9)[8])


class Process(NamedTuple):
    """A line of /proc/PID/stat (proc(5)), in part."""

    pid: int
    state: str
    parent: int
    session: int
    ticks: int
    """Processor time, in clock ticks."""
    waited_ticks: int
    """That of the children that it has waited for."""
    policy: int


def process(pid: int) -> Process:
    """Return the present state of a process; OSError if it has ended."""
    return read(Path(f"/proc/{pid}/stat"))


def read(file: Path) -> Process:
    """Return the state of the process or the thread whose ``stat`` this is."""
    fields = file.read_text().rpartition(")")[2].split()
    # The state, which follows the name, is field 3 of proc(5).
    numbers = (int(fields[number - 3]) for number in (4, 6, 14, 15, 16, 17, 41))
    parent, session, user, system, waited_user, waited_system, policy = numbers
    ticks, waited_ticks = user + system, waited_user + waited_system
    pid = int(file.parent.name)
    return Process(pid, fields[0], parent, session, ticks, waited_ticks, policy)


def _processes() -> Iterator[Process]:
    for file in Path("/proc").glob("[0-9]*/stat"):
        # A process may end meanwhile.
        with suppress(FileNotFoundError, ProcessLookupError):
            yield read(file)


def _with_temporary_folder(folder: Path) -> list[int]:
    mark = f"TMPDIR={folder}".encode()
    processes = []
    for file in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark in file.read_bytes():
                processes.append(int(file.parent.name))
        except OSError:  # it has ended, or is another user's
            continue
    return processes
