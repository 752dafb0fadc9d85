"""How long the command takes to say what needs no run: processor time, and memory.

Run by ``make bench-start-up``. Processor time is user and system, of the command and of what it
starts; each figure is the least of several, as other work on the machine only adds to it. The first
two lines are what no command can go below: Python itself, and the libraries that read arguments and
print tables.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys

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


def measured(arguments: list[str]) -> tuple[float, float]:
    """Return the processor time of one process in seconds, and its peak memory in MB."""
    quiet = subprocess.DEVNULL
    process = subprocess.Popen([sys.executable, *arguments], stdout=quiet, stderr=quiet)
    _, _, usage = os.wait4(process.pid, 0)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000


def main() -> None:
    """Print one line for each command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=10, help="measurements of each figure")
    times = parser.parse_args().times
    print(f"{'command':30} {'processor (s)':>13} {'memory (MB)':>11}")
    for name, arguments in LINES.items():
        took = [measured(arguments) for _ in range(times)]
        print(f"{name:30} {min(took)[0]:13.3f} {min(took)[1]:11.0f}")


if __name__ == "__main__":
    main()
