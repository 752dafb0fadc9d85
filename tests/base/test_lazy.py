"""Commands that draw nothing do not import what draws."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from command_line import Command

SCRIPT = """
import sys
from dumbbell.cli import commands
try:
    commands.main()
finally:
    print("altair" in sys.modules, file=sys.stderr)
"""


def test_a_comparison_of_stored_runs_does_not_import_altair(
    dumbbell: Command, tmp_path: Path
) -> None:
    command = ("compare", "reno", "vegas", "--rate", "5mbit", "--rtt", "20ms", "--duration", "2s",
               "--runs", "2")  # fmt: skip
    assert dumbbell(*command).code == 0
    again = subprocess.run(
        [sys.executable, "-c", SCRIPT, *command], capture_output=True, text=True, cwd=tmp_path,
        check=True,
    )  # fmt: skip
    assert "0 run, 4 reused" in again.stderr
    assert again.stderr.splitlines()[-1] == "False"
