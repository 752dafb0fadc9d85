"""Processes by the hundred, to be killed: forked from one that has imported all that they need.

`Nursery` starts that one and talks to it in lines of JSON. It never computes anything, so no thread
of it holds a lock when it is forked; and it can live in a separate mount namespace.
"""

from __future__ import annotations

import gc
import json
import os
import shutil
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import dumbbell.cli.campaign  # noqa: F401 - what `run` imports
from dumbbell.cli import commands
from dumbbell.engines.engine import SimulatorEngine
from dumbbell.execution.executor import execute
from dumbbell.store import failures
from dumbbell.store.store import Store
from sample_runs import output, resolved

STEPS: Final = frozenset(
    ("open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "shutil.rmtree", "fcntl.flock")
)
"""Audit events of what may change a results folder."""


class Nursery:
    """Starts processes; `prefix` is a command that the first of them is to be started by."""

    def __init__(self, prefix: Sequence[str] = ()) -> None:
        paths = os.pathsep.join([str(Path(__file__).parent), *sys.path])
        # Libraries of linear algebra start threads when they are imported.
        environment = {**os.environ, "PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1"}
        self._server = subprocess.Popen(
            [*prefix, sys.executable, __file__],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def start(self, task: str, *arguments: Any, err: Path | None = None, kill_at: int = 0) -> int:
        """Start a task and return its process; it is killed at its `kill_at`th step.

        Steps are what may change the folder that is the task's first argument.
        """
        request = {
            "task": task,
            "arguments": [
                str(argument) if isinstance(argument, Path) else argument for argument in arguments
            ],
            "err": str(err or os.devnull),
            "kill_at": kill_at,
        }
        return int(self._ask(request)["pid"])

    def wait(self, pid: int) -> int:
        """Wait for the end of a process; a negative number is the signal that killed it."""
        return int(self._ask({"wait": pid})["code"])

    def run(self, task: str, *arguments: Any, err: Path | None = None, kill_at: int = 0) -> int:
        """Start a task and wait for its end."""
        return self.wait(self.start(task, *arguments, err=err, kill_at=kill_at))

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.write(json.dumps(request) + "\n")
        self._server.stdin.flush()
        answer: dict[str, Any] = json.loads(self._server.stdout.readline())
        return answer

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.communicate()


def campaign(root: str, first: int, last: int, jobs: int) -> None:
    """Run the seeds from `first` to before `last` in the simulator."""
    runs = [resolved({"duration": "1s", "seed": seed}) for seed in range(first, last)]
    outcome = execute(runs, Store(root), SimulatorEngine(), jobs)
    assert not outcome.failed
    assert not outcome.warnings or "damaged" in outcome.warnings[0]


def put(root: str, seed: int) -> None:
    """Put one result into a store, and clean up before."""
    store, scenario = Store(root), resolved({"seed": seed})
    store.clean()
    store.put(scenario, output(scenario))


def share(root: str, count: int) -> None:
    """Put results into a store that others use, with a look at each."""
    store = Store(root)
    for seed in range(count):
        put(root, seed)
        store.get(resolved({"seed": seed}).key)


def fail(root: str, seed: int) -> None:
    """Record a failure, and forget it."""
    store, scenario = Store(root), resolved({"seed": seed})
    failures.record(store, scenario, None, ValueError("out of luck"))
    failures.forget(store, scenario.key)


def command(folder: str, *arguments: str) -> None:
    """Run the command in a folder."""
    os.chdir(folder)
    sys.argv = ["dumbbell", *arguments]
    commands.main()


def shell(*arguments: str) -> None:
    """Run a program."""
    subprocess.run(arguments, check=True)


def copy(source: str, target: str) -> None:
    """Copy a folder, perhaps out of a mount namespace."""
    shutil.copytree(source, target)


_TASKS: Final[dict[str, Callable[..., None]]] = {
    task.__name__: task for task in (campaign, put, share, fail, command, shell, copy)
}


def _serve() -> None:
    # What each would build anew: Pydantic's schemas. It starts no thread.
    resolved()
    # Otherwise the first collection of each would copy all pages.
    gc.freeze()
    for line in sys.stdin:
        request = json.loads(line)
        if "wait" in request:
            _, status = os.waitpid(request["wait"], 0)
            answer = {"code": os.waitstatus_to_exitcode(status)}
        else:
            pid = os.fork()
            if pid == 0:
                _child(request)
            answer = {"pid": pid}
        print(json.dumps(answer), flush=True)


def _child(request: dict[str, Any]) -> None:
    for number, name in ((0, os.devnull), (1, os.devnull), (2, request["err"])):
        flags = os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        os.dup2(os.open(name, flags), number)
    if request["kill_at"]:
        _kill_at(request["kill_at"], request["arguments"][0])
    code = 0
    try:
        _TASKS[request["task"]](*request["arguments"])
    except SystemExit as stopped:
        code = int(stopped.code or 0)
    except BaseException:
        traceback.print_exc()
        code = 70
    sys.stderr.flush()
    os._exit(code)


def _kill_at(last: int, folder: str) -> None:
    """Kill this process before its `last`th step in a folder."""
    steps = 0

    def count(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal steps
        if event not in STEPS:
            return
        path = str(arguments[0])
        if not path.startswith("/") or path.startswith(folder):
            steps += 1
            if steps == last:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)


if __name__ == "__main__":
    _serve()
