"""How long the command takes to answer where it runs nothing: processor time, and memory.

Run by ``make bench-start-up``. Processor time is user and system, of the command and of what it
starts; each figure is the least of several, as other work on the machine only adds to it. The first
two lines are what no command can go below: Python itself, and the libraries that read arguments and
print tables. The last lines repeat commands whose runs are stored, in a folder of their own.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile

WIDTH = 90
COMMAND = ["-m", "dumbbell.cli"]
LINES = {
    "python": ["-c", "pass"],
    "typer and rich": ["-c", "import typer, typer._adapters, rich.console, rich.table"],
    "import dumbbell": ["-c", "import dumbbell"],
    **{
        f"dumbbell {arguments}": [*COMMAND, *arguments.split()]
        for arguments in (
            "--help",
            "list studies",
            "list figures",
            "list algorithms",
            "list stacks",
            "doctor",
            "algorithms show cubic",
            "rnu",
            "run",
            "compare reno",
        )
    },
}


STORED = {
    f"dumbbell {arguments}, stored": [*COMMAND, *arguments.split()]
    for arguments in (
        "compare reno cubic --rate 20mbit --rtt 20ms --duration 5s",
        "compare reno cubic --rate 20mbit --rtt 20ms --duration 5s --json",
        "compare reno cubic --rate 20mbit --rtt 20ms --duration 5s --report site",
    )
}
"""The goal is 0.5 s for the first, and 2 s for the pages of unchanged results."""


def measured(arguments: list[str]) -> tuple[float, float]:
    """Return the processor time of one process in seconds, and its peak memory in MB."""
    quiet = subprocess.DEVNULL
    process = subprocess.Popen([sys.executable, *arguments], stdout=quiet, stderr=quiet)
    _, _, usage = os.wait4(process.pid, 0)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000


def show(name: str, arguments: list[str], times: int) -> None:
    """Print the least of several measurements."""
    took = [measured(arguments) for _ in range(times)]
    print(f"{name:{WIDTH}} {min(took)[0]:13.3f} {min(took)[1]:11.0f}")


def main() -> None:
    """Print one line for each command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=10, help="measurements of each figure")
    times = parser.parse_args().times
    print(f"{'command':{WIDTH}} {'processor (s)':>13} {'memory (MB)':>11}")
    for name, arguments in LINES.items():
        show(name, arguments, times)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for name, arguments in STORED.items():
            measured(arguments)
            show(name, arguments, times)


if __name__ == "__main__":
    main()
