"""Every algorithm compiles for the kernel: the same file, as BPF, without a warning.

Tests of the kernel's programs are in crates/testbed/tests/it/kernel_*.rs.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ALGORITHMS = ROOT / "algorithms"
ADAPTERS = ROOT / "crates" / "testbed" / "bpf"
FILES = sorted(ALGORITHMS.glob("*.c"))
TARGET = (
    *("-target", "bpf", "-mcpu=v3", "-O2", "-g", "-Wall", "-Wextra", "-Werror"),
    *("-fno-strict-aliasing", f"-I{ALGORITHMS}", f"-I{ADAPTERS}", "-include", "adapter.h"),
)


@pytest.fixture(scope="session")
def clang() -> str:
    """Path of clang 19; where it can be installed, its absence is a failure."""
    compiler = shutil.which("clang-19")
    if compiler is None and sys.platform == "linux" and os.geteuid() == 0:
        pytest.fail("clang-19 is not installed: apt-get install clang-19")
    if compiler is None:
        pytest.skip("clang-19 is not installed, and cannot be without being root on Linux")
    return compiler


def hooks_of(file: Path) -> set[str]:
    """Names of the hooks that a file registers."""
    source = file.read_text()
    return set(re.findall(rf"\bH\({file.stem}, (\w+)\)", source))


def test_there_are_algorithms() -> None:
    assert {file.stem for file in FILES} >= {
        "bic", "cubic", "fast", "highspeed", "htcp", "reno", "scalable",
    }  # fmt: skip


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_compiles_to_a_program_of_struct_ops_for_each_hook(clang: str, file: Path) -> None:
    command = [clang, *TARGET, "-S", "-fno-verbose-asm", str(file), "-o", "-"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    assembly = run.stdout
    # The kernel asks a BPF algorithm for no info, and demands undo_cwnd of every algorithm;
    # what receives marks is told of them in cwnd_event, and a slow start of ACKs in in_ack_event;
    # init switches the connection to Accurate ECN, whatever the algorithm itself does there.
    hooks = hooks_of(file) - {"info"} | {"init", "undo_cwnd", "cwnd_event", "in_ack_event"}
    assert {"ssthresh"} < hooks
    functions = set(re.findall(r"\.type\s+(on_\w+),@function", assembly))
    programs = {f"on_{hook}" for hook in hooks}
    assert functions == programs
    called = set(re.findall(r"\bcall ([a-z_]\w+)", assembly))
    assert called <= set(re.findall(r"^(\w+):", assembly, re.M))
    # Its memory is the connection's: no globals but those of the adapters.
    sections = set(re.findall(r"\.section\s+\"?(\.(?:data|bss)[\w.]*)", assembly))
    assert sections <= {".bss.dumbbell"}
    assert not re.findall(r"^\s*\.(?:data|bss|comm)\b.*", assembly, flags=re.MULTILINE)
