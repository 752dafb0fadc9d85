"""`make fuzz` runs inputs of every kind, and sees what goes wrong with one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from hostile.cases import Case
from hostile.judging import faults
from hostile.running import MEMORY_MAX_BYTES, Outcome
from hostile.toml_texts import TEXT_CHANGES
from run_rust import ROOT

KINDS = ("scenarios", "studies", "folders", "imports", "series", "commands")


def test_hostile_inputs_of_every_kind_do_no_harm(tmp_path: Path) -> None:
    paths = f"{ROOT / 'tests'}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    command = [sys.executable, "-m", "hostile", "--seed", "3", "--inputs", "12", "--jobs", "1"]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    rows = {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines()[-6:]}
    assert all(int(rows[kind][0]) > 0 for kind in KINDS)
    assert sum(int(row[0]) for row in rows.values()) == 12


@pytest.mark.parametrize(
    ("code", "err", "peak_bytes", "wanted"),
    [
        (0, "", 0, ["accepted"]),
        (1, "Traceback (most recent call last):\n", 0, ["traceback"]),
        (1, "thread panicked at x.rs", 0, ["panic"]),
        (1, "MemoryError", 0, ["memory"]),
        (1, "", MEMORY_MAX_BYTES + 1, ["memory"]),
        (-11, "", 0, ["code"]),
        (130, "stopped by Ctrl-C", 0, ["code"]),
        (2, "error: a.toml: duration: is missing", 0, []),
        (2, "error: is missing", 0, ["message"]),
        (2, "error: a.toml: \x1b[31m", 0, ["message"]),
        (2, "", 0, ["message"]),
    ],
)
def test_what_goes_wrong_is_seen(code: int, err: str, peak_bytes: int, wanted: list[str]) -> None:
    outcome = Outcome(code, "", err, False, False, peak_bytes)
    assert faults(Case(("simulate", "a.toml"), is_wrong=True), outcome) == wanted


@pytest.mark.parametrize("change", TEXT_CHANGES)
def test_a_text_of_any_alphabet_can_be_changed(change: Callable[[Random, bytes], bytes]) -> None:
    text = 'title = "α (segments per RTT)"\nseed = 1\n'.encode()
    assert any(change(Random(seed), text) != text for seed in range(20))
