"""Processes of this machine, by /proc."""

from __future__ import annotations

from pathlib import Path


def is_running(pid: int) -> bool:
    """Return whether a process is there and has not ended, even if nobody has waited for it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def with_temporary_folder(folder: Path) -> list[int]:
    """Return the processes whose environment names the folder as the one for temporary files."""
    mark = f"TMPDIR={folder}".encode()
    processes = []
    for file in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark in file.read_bytes():
                processes.append(int(file.parent.name))
        except OSError:  # it has ended, or is another user's
            continue
    return processes
