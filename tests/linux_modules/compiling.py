"""The machine's C compiler, and what all programs share: the sender and the path."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from linux_modules.places import ALGORITHMS, C

OPTIONS: Final = ("-std=gnu11", "-O2", "-fwrapv", "-fno-strict-aliasing")
STRICT: Final = ("-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter")
LINES_MAX: Final = 40
"""Lines of a compiler's output that are passed on."""

DRIVER: Final = ("events", "path", "scenario", "scoreboard", "state", "transmit")


class BuildError(Exception):
    """Something does not compile; the message is the compiler's."""


def compiled(source: Path, output: Path, *options: str) -> Path:
    """Compile a file; return the object."""
    include = (f"-I{C}", f"-I{ALGORITHMS}")
    _run([*_compiler(), *OPTIONS, *include, *options, "-c", str(source), "-o", str(output)])
    return output


def linked(objects: Iterable[Path], program: Path) -> Path:
    """Link a program."""
    _run([*_compiler(), *map(str, objects), "-o", str(program)])
    return program


def driver(mains: Sequence[str], folder: Path) -> list[Path]:
    """Compile the sender, the path and what makes a program of them."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(
            pool.map(
                lambda name: compiled(C / f"{name}.c", folder / f"{name}.o", *STRICT),
                (*DRIVER, *mains),
            )
        )


def our_side(name: str, code: str, folder: Path, variant: str) -> list[Path]:
    """Compile a file of ours, and what calls it."""
    source = folder / f"{variant}.c"
    source.write_text(f'#include "linux_facts.h"\n{code}')
    table = f"-DALGORITHM=dumbbell_algorithm_{name}"
    return [
        compiled(source, folder / f"{variant}.o"),
        compiled(C / "our_side.c", folder / "our_side.o", table),
    ]


def _compiler() -> list[str]:
    return (os.environ.get("CC") or "cc").split()


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        message = "\n".join(done.stderr.splitlines()[:LINES_MAX])
        raise BuildError(f"{' '.join(command)}\n{message}")
