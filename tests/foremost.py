"""Run a command that gets processors before the programs of all other sessions.

Linux divides processors between sessions first (sched(7), "The autogroup feature"), so priorities
count only within one. Browsers and notebooks of tests have sessions of their own, and would stop
the testbed's threads for milliseconds. The command has a new session, so nothing is left to undo.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import FrameType


def main() -> int:
    """Run the command of the arguments, hand on signals, and return its exit code."""
    groups: list[int] = []
    early: list[int] = []

    def hand_on(number: int, _: FrameType | None) -> None:
        if not groups:
            early.append(number)
        for group in groups:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(group, number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, hand_on)
    command = subprocess.Popen(sys.argv[1:], start_new_session=True)
    groups.append(command.pid)
    for signal_number in early:
        hand_on(signal_number, None)
    # Only root may do this, and not every kernel has such groups.
    with contextlib.suppress(OSError):
        Path(f"/proc/{command.pid}/autogroup").write_text("-20")
    code = command.wait()
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())
