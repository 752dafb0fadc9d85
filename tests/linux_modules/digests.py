"""Digests of long runs of our files alone, by which `make test` knows them without Linux's modules.

A line has the algorithm, the number of calls in the first few of the runs that `make linux-modules`
compares, and a hash of what became of each of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from linux_modules import compiling
from linux_modules.places import ALGORITHMS, DIGESTS
from linux_modules.runs import run
from linux_modules.scenarios import drawn

RUNS: Final = 8


def digest(name: str, driver: list[Path], folder: Path) -> str:
    """Run our file; return its line."""
    folder.mkdir(parents=True, exist_ok=True)
    code = (ALGORITHMS / f"{name}.c").read_text()
    objects = compiling.our_side(name, code, folder, "ours")
    program = compiling.linked([*objects, *driver], folder / "ours")
    calls, whole = 0, hashlib.sha256()
    for seed in range(1, RUNS + 1):
        outcome = run(program, drawn(seed, exact_marks=name == "dctcp"))
        calls += outcome["calls"]
        whole.update(outcome["digest"].encode())
    return f"{calls} {whole.hexdigest()[:16]}"


def read() -> dict[str, str]:
    """Return what is kept, by algorithm."""
    lines = (line.split(maxsplit=1) for line in DIGESTS.read_text().splitlines())
    return {name: rest for name, rest in lines if name != "#"}


def write(digests: Mapping[str, str]) -> None:
    """Keep them."""
    head = "# Algorithm, calls, digest; written by `make linux-modules` (digests.py)\n"
    DIGESTS.write_text(head + "".join(f"{name} {rest}\n" for name, rest in digests.items()))
