"""Main program of a process of `apart`: calls of the compiled core, one after the other.

Python runs this file by its path, without the package: importing all of it takes a second. The path
of the compiled core is its argument. It reads the name of a function and its arguments, and answers
with the outcome, until its input ends.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import pickle
import signal
import sys
import threading
from queue import SimpleQueue
from typing import Any

Question = tuple[str, tuple[Any, ...], Any]
"""The name of a function, its arguments, and what cancels it."""

LEAVE_S = {"testbed_run": 3.0, "testbed_parity": 3.0}
AT_ONCE_S = 0.1
"""Time for a call to end compilers and remove the testbed's set-up, in s, once nobody waits."""


def main() -> None:
    """Answer until the other end of standard input is closed."""
    # Ctrl-C reaches all processes of a terminal; the one that started this one decides.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # an algorithm may print
    core = loaded(sys.argv[1])
    asked: SimpleQueue[Question] = SimpleQueue()
    idle = threading.Event()
    idle.set()
    threading.Thread(target=listen, args=(core, asked, idle), daemon=True).start()
    while True:
        pickle.dump(answer(core, *asked.get()), answers)
        idle.set()
        answers.flush()


def loaded(path: str) -> Any:
    """Return the compiled core."""
    loader = importlib.machinery.ExtensionFileLoader("_core", path)
    spec = importlib.util.spec_from_loader("_core", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def listen(core: Any, asked: SimpleQueue[Question], idle: threading.Event) -> None:
    """Read requests; if the requesting process has gone, so does this one, at once."""
    name, token = "", core.CancelToken()
    try:
        while True:
            name, arguments = pickle.load(sys.stdin.buffer)
            token = core.CancelToken()
            idle.clear()
            asked.put((name, arguments, token))
    except (EOFError, OSError):
        token.cancel()
        idle.wait(LEAVE_S.get(name, AT_ONCE_S))
        os._exit(0)


def answer(core: Any, name: str, arguments: tuple[Any, ...], token: Any) -> tuple[str, Any]:
    """Return "" and what a call returned, or the type of an error and its arguments."""
    try:
        result = getattr(core, name)(*arguments, cancel=token)
    except BaseException as error:
        return type(error).__name__, error.args
    if isinstance(result, core.RunOutput):
        return "", (result.summary, result.tables, result.captures)
    return "", result


main()
