"""Print the share of lines of the crates that their tests reach.

Cargo builds the crates once more for it, with counters. Its arguments come from the command line.
Counters are atomic, so that whole runs of the simulator take ten times as long. The slowest groups
of tests are left out, which alone reach 0.4 % of the lines.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

from run_rust import ROOT, Program, programs

FOLDER: Final = ROOT / "target" / "coverage"
COMPILER: Final = ROOT / "tests" / "rustc_with_counters.sh"
LEFT_OUT: Final = (
    *("behaviour::the_engine_does_what_it_did", "closed_forms::"),
    *("response::", "sanitized::", "extremes::a_queue_of_many_centuries"),
)
OTHERS: Final = r"/registry/|/rustc/|/tests/|/benches/|/build\.rs$"
"""Files that are not counted: of others, and of tests."""


def built(arguments: Sequence[str]) -> list[Program]:
    """Build the tests with counters; the exit code of cargo is raised as SystemExit."""
    environment = {"RUSTC_WORKSPACE_WRAPPER": str(COMPILER), "LLVM_PROFILE_FILE": os.devnull}
    cargo = subprocess.run(
        ["cargo", "test", *arguments, "--no-run", "--message-format=json-render-diagnostics"],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if cargo.returncode:
        raise SystemExit(cargo.returncode)
    return list(programs(cargo.stdout.splitlines()))


def tested(tests: Sequence[Program]) -> bool:
    """Run the tests, which write their counts to `FOLDER`; print the output of those that fail."""
    os.environ["LLVM_PROFILE_FILE"] = str(FOLDER / "%m.profraw")
    # Threads would wait for each other's counters.
    os.environ["RUST_TEST_THREADS"] = "1"
    skipped = [word for name in LEFT_OUT for word in ("--skip", name)]
    has_passed = True
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for program, done in pool.map(lambda program: program.run(skipped), tests):
            if done.returncode != 0:
                print(f"{program.crate}: {program.name}\n{done.stdout.strip()}\n")
                has_passed = False
    return has_passed


def counted(tests: Sequence[Program]) -> dict[str, Any]:
    """Return the totals of llvm-cov."""
    rust = subprocess.check_output(["rustc", "--print", "target-libdir"], text=True)
    tools = Path(rust.strip()).parent / "bin"
    profile = FOLDER / "merged.profdata"
    counts = sorted(FOLDER.glob("*.profraw"))
    subprocess.run([tools / "llvm-profdata", "merge", "-o", profile, *counts], check=True)
    first, *others = (program.file for program in tests)
    objects = [word for file in others for word in ("--object", file)]
    options = ["--summary-only", f"--instr-profile={profile}", f"--ignore-filename-regex={OTHERS}"]
    line = [str(tools / "llvm-cov"), "export", *options, first, *objects]
    exported = subprocess.check_output(line)
    totals: dict[str, Any] = json.loads(exported)["data"][0]["totals"]
    return totals


def main() -> int:
    """Print the figure; 1 if a test fails."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    tests = built(sys.argv[1:])
    has_passed = tested(tests)
    lines = counted(tests)["lines"]
    print(f"Rust: tests reach {lines['percent']:.1f} % of {lines['count']:,} lines")
    return int(not has_passed)


if __name__ == "__main__":
    sys.exit(main())
