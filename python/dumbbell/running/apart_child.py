"""What runs in a process of `apart`: simulations one after the other, until nobody asks any more.

Python runs this file by its path, without the package: importing all of it takes a second. The
path of the compiled core is its argument. It reads scenarios and answers what became of them.
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


def main() -> None:
    """Answer until the other end of standard input is closed."""
    # Ctrl-C reaches all processes of a terminal; the one that started this one decides.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # an algorithm may print
    core = loaded(sys.argv[1])
    asked: SimpleQueue[str] = SimpleQueue()
    threading.Thread(target=listen, args=(asked,), daemon=True).start()
    while True:
        pickle.dump(answer(core, asked.get()), answers)
        answers.flush()


def loaded(path: str) -> Any:
    """Return the compiled core."""
    loader = importlib.machinery.ExtensionFileLoader("_core", path)
    spec = importlib.util.spec_from_loader("_core", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def listen(asked: SimpleQueue[str]) -> None:
    """Take what is asked for; if the process that asks has gone, so does this one, at once."""
    try:
        while True:
            asked.put(pickle.load(sys.stdin.buffer))
    except (EOFError, OSError):
        os._exit(0)


def answer(core: Any, scenario_json: str) -> tuple[Any, ...]:
    """Return summary, tables and captures of a run, or the type of an error and what it says."""
    try:
        output = core.simulate(scenario_json)
    except BaseException as error:
        return (type(error).__name__, error.args)
    return (output.summary, output.tables, output.captures)


main()
