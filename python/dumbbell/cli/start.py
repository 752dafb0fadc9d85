"""Where the command starts: Ctrl-C is answered before anything large is imported.

Importing what a long command needs takes a second or two. A KeyboardInterrupt in there may be
swallowed or come out as another error, depending on whose code it meets; nothing is to be tidied up
yet, so the command ends at once instead.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from typing import TYPE_CHECKING, Final, NoReturn

if TYPE_CHECKING:
    from types import FrameType

STOPPED: Final = 130
SAID: Final = "stopped by Ctrl-C"
_IMPORTING: Final = "<frozen importlib._bootstrap>"


def main() -> None:
    """Run the command and exit with its code."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)
    try:
        from dumbbell.cli import commands  # noqa: PLC0415 - Ctrl-C is answered from here on

        commands.main()
    except KeyboardInterrupt:
        print(SAID, file=sys.stderr)
        leave(STOPPED)


def leave(code: int) -> NoReturn:
    """Exit; after Ctrl-C without waiting for threads that still write what nobody waits for.

    However a process ends, it leaves no half result behind.
    """
    if code == STOPPED and any(
        thread is not threading.main_thread() and not thread.daemon
        for thread in threading.enumerate()
    ):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def _interrupt(number: int, frame: FrameType | None) -> None:
    """End the process if it is importing something, else raise KeyboardInterrupt."""
    below = frame
    while below is not None:
        if below.f_code.co_filename == _IMPORTING:
            os.write(2, f"{SAID}\n".encode())
            os._exit(STOPPED)
        below = below.f_back
    signal.default_int_handler(number, frame)
