"""The testbed's tests have a session that gets processors first."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

FOREMOST: Final = (sys.executable, str(Path(__file__).parents[1] / "foremost.py"))
GROUP: Final = Path("/proc/self/autogroup")


@pytest.mark.skipif(os.geteuid() != 0 or not GROUP.exists(), reason="root and groups of sessions")
def test_its_session_comes_first_and_ours_stays() -> None:
    before = GROUP.read_text()
    # The group is raised while the command already runs.
    shown = subprocess.run(
        [*FOREMOST, "sh", "-c", f"sleep 0.5; cat {GROUP}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stdout.endswith("nice -20\n")
    assert GROUP.read_text() == before


@pytest.mark.parametrize(("script", "code"), [("exit 3", 3), ("kill -9 $$", 128 + 9)])
def test_its_exit_code_is_the_commands(script: str, code: int) -> None:
    assert subprocess.run([*FOREMOST, "sh", "-c", script], check=False).returncode == code


def test_ctrl_c_reaches_the_command() -> None:
    script = "trap 'echo stopped; exit 5' INT; echo begun; sleep 60 & wait"
    with subprocess.Popen(
        [*FOREMOST, "sh", "-c", script], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "stopped\n"
        assert process.wait(60) == 5
