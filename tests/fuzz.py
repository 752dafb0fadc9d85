"""Let property tests draw new examples for some minutes, and keep those that fail.

proptest keeps them in ``proptest-regressions`` of the crate. Those of Hypothesis become decorators
``@example`` of their tests. Both are run by every ``make test`` once they are checked in.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from run_rust import ROOT, Program, programs

PATCHES: Final = ROOT / ".hypothesis" / "patches"
CASES: Final = "2000"
"""Of each property of Rust that does not say itself how many."""


def modules(program: Program) -> Iterator[str]:
    """Yield the modules of a program that have properties, as they begin names of tests."""
    sources = program.folder / ("tests/it" if program.name == "it" else "src")
    for file in sorted(sources.rglob("*.rs")):
        if "proptest! {" in file.read_text():
            parts = file.relative_to(sources).with_suffix("").parts
            yield "".join(f"{part}::" for part in parts if part not in ("mod", "lib", "main"))


def rust(tested: list[tuple[Program, list[str]]], stop: Callable[[], bool]) -> str:
    """Draw until it is time to stop; return the output of the first failure."""
    for program, names in itertools.cycle(tested):
        seed = {"PROPTEST_RNG_SEED": str(random.getrandbits(64)), "PROPTEST_CASES": CASES}
        command = [program.file, *names]
        failure = _failure(command, program.folder, {**program.environment, **seed}, stop)
        if failure or stop():
            return failure
    return ""


def python(stop: Callable[[], bool]) -> str:
    """Draw until it is time to stop; return the output of the first failure."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-x",
        "-m",
        "hypothesis",
        "--hypothesis-profile=fuzz",
    ]
    while not stop():
        seed = f"--hypothesis-seed={random.getrandbits(64)}"
        failure = _failure([*command, seed], ROOT, dict(os.environ), stop)
        if failure:
            _keep()
            return failure
    return ""


def _failure(
    command: list[str], folder: Path, environment: dict[str, str], stop: Callable[[], bool]
) -> str:
    """Return the output of a command that fails; empty if it succeeds or its time is over."""
    with tempfile.TemporaryFile("w+") as log:
        running = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT
        )
        while running.poll() is None:
            time.sleep(0.2)
            if stop():
                running.kill()
        log.seek(0)
        return log.read() if running.returncode > 0 else ""


def _keep() -> None:
    """Turn what failed into decorators of its test."""
    patches = sorted(PATCHES.glob("*.patch"), key=lambda file: file.stat().st_mtime)
    if not patches:
        return
    changed = re.findall(r"^\+\+\+ \./(.*)$", patches[-1].read_text(), re.MULTILINE)
    subprocess.run(["git", "apply", str(patches[-1])], cwd=ROOT, check=True)
    patches[-1].unlink()
    for name in changed:
        file = ROOT / name
        imported = re.sub(
            r"^(from hypothesis import (?!.*\bexample\b).*?)\bgiven\b",
            r"\1example, given",
            file.read_text(),
            flags=re.MULTILINE,
        )
        file.write_text(imported)
        subprocess.run(
            [sys.executable, "-m", "ruff", "format", "--quiet", name], cwd=ROOT, check=True
        )


def main() -> int:
    """Draw in Rust and in Python side by side; 1 if anything failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("messages", type=Path, help="what cargo said when it built the tests")
    parser.add_argument("--minutes", type=float, default=10)
    wanted = parser.parse_args()
    built = programs(wanted.messages.read_text().splitlines())
    tested = [(program, names) for program in built if (names := list(modules(program)))]
    end_s = time.monotonic() + 60 * wanted.minutes
    failures: list[str] = []

    def over() -> bool:
        return time.monotonic() >= end_s or any(failures)

    lanes = [lambda: failures.append(rust(tested, over)), lambda: failures.append(python(over))]
    threads = [threading.Thread(target=lane) for lane in lanes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print("\n".join(filter(None, failures)) or "no property failed")
    return int(any(failures))


if __name__ == "__main__":
    sys.exit(main())
