"""Processes of this machine, by /proc."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final

_END_S: Final = 30
"""Time in which a busy machine lets a killed process end."""


def is_running(pid: int) -> bool:
    """Return whether a process is there and has not ended, even if nobody has waited for it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
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
