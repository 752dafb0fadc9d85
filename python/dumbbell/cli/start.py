"""Start of the command: it answers Ctrl-C before it imports anything large.

Importing what a long command needs takes a second or two. A KeyboardInterrupt in there may be
swallowed or raised as another error, depending on whose code it meets. Nothing needs cleaning up
yet, so the command ends at once instead. Pydantic builds its schemas in the same way, later too.

Python notices Ctrl-C only between two bytecode instructions. Where one step takes long, as drawing
a figure does, a thread that watches ends the process. However a process ends, it leaves no half
result behind.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from typing import TYPE_CHECKING, Final, NoReturn

if TYPE_CHECKING:
    from types import FrameType

STOPPED: Final = 130
STOPPED_MESSAGE: Final = "stopped by Ctrl-C"
_AT_ONCE: Final = ("<frozen importlib._bootstrap>", f"{os.sep}pydantic{os.sep}_internal{os.sep}")
"""In files whose names have one of these a KeyboardInterrupt may be lost."""

DEAF_S: Final = 0.25
"""Processor time of the process, and time, after which a step is a long one, ...

The step may run in another thread, for which the main one waits: figures are drawn in one.
"""
_DEAF_WALL_S: Final = 2.0
"""... and time for one that uses none; less would be unfair where the machine is busy."""
_LOOK_S: Final = 0.02

_COLUMNS_DIGITS: Final = 10
"""A width of so many digits is no terminal's."""

_heard: Final = threading.Event()
"""That Python has heard of Ctrl-C."""
_hearing: Final = threading.RLock()
"""Either Python hears of Ctrl-C or the thread that watches ends the process: never both."""


def main() -> None:
    """Run the command and exit with its code.

    When it has ended Ctrl-C has nothing to stop. Python would die of it without a word.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)
        watch()
    _check_columns()
    try:
        from dumbbell.base import lazy  # noqa: PLC0415 - Ctrl-C is answered from here on
        from dumbbell.cli import commands  # noqa: PLC0415

        lazy.check_charts_once()
        commands.main()
    except KeyboardInterrupt:
        print(STOPPED_MESSAGE, file=sys.stderr)
        leave(STOPPED)
    finally:
        if signal.getsignal(signal.SIGINT) is _interrupt:
            signal.signal(signal.SIGINT, signal.SIG_IGN)


def _check_columns() -> None:
    """Forget a width of the terminal that is none: in 0 columns tables would be empty lines."""
    columns = os.environ.get("COLUMNS", "")
    is_number = columns.isascii() and columns.isdigit()
    if not (is_number and columns.strip("0") and len(columns) < _COLUMNS_DIGITS):
        os.environ.pop("COLUMNS", None)


def leave(code: int) -> NoReturn:
    """Exit; after Ctrl-C without waiting for threads, children and the end of Python itself."""
    if code == STOPPED and signal.getsignal(signal.SIGINT) is _interrupt:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def _stop() -> NoReturn:
    """End the process at once."""
    os.write(2, f"{STOPPED_MESSAGE}\n".encode())
    os._exit(STOPPED)


def watch() -> None:
    """Have a thread end the process where the main thread does not hear of Ctrl-C soon."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    threading.Thread(target=_listen, args=(reading,), name="ctrl-c", daemon=True).start()


def _listen(pipe: int) -> None:
    while number := os.read(pipe, 1):
        if number[0] != signal.SIGINT:
            continue
        began_s, used_s = time.monotonic(), time.process_time()
        while not _heard.wait(_LOOK_S):
            passed_s = time.monotonic() - began_s
            is_deaf = min(passed_s, time.process_time() - used_s) > DEAF_S
            if is_deaf or passed_s > _DEAF_WALL_S:
                with _hearing:
                    if not _heard.is_set():
                        _stop()
        _heard.clear()


def _interrupt(number: int, frame: FrameType | None) -> None:
    """End the process if it is importing something, else raise KeyboardInterrupt."""
    with _hearing:
        _heard.set()
    below = frame
    while below is not None:
        if any(part in below.f_code.co_filename for part in _AT_ONCE):
            _stop()
        below = below.f_back
    signal.default_int_handler(number, frame)
