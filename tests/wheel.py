"""Hold a wheel to the sources (`make wheel`): it has all files, and works without a compiler.

It is unpacked and used as it would be installed, with the packages of the Python that runs this.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from zipfile import ZipFile

ROOT: Final = Path(__file__).resolve().parents[1]
PACKAGE: Final = ROOT / "python" / "dumbbell"
COMPARE: Final = "compare reno cubic --rate 10mbit --rtt 20ms --duration 2s --runs 2"
STUDY: Final = "run li2007 --quick --where test=fairness --where rate=10mbit --where rtt=42ms"


class Installed:
    """The command of an unpacked wheel, in a separate folder."""

    def __init__(self, wheel: Path, folder: Path) -> None:
        self._package = folder / "package"
        self.folder = folder / "work"
        self.folder.mkdir()
        (folder / "empty").mkdir()
        self._no_programs = str(folder / "empty")
        with ZipFile(wheel) as archive:
            archive.extractall(self._package)

    def dumbbell(self, command: str, *, compiler: bool = False) -> subprocess.CompletedProcess[str]:
        """Run a command, where nothing but Python is found unless `compiler` is set."""
        hidden = {} if compiler else {"PATH": self._no_programs, "CC": ""}
        paths = {"PYTHONPATH": str(self._package), "XDG_CACHE_HOME": str(self.folder / "cache")}
        return subprocess.run(
            [sys.executable, "-m", "dumbbell.cli", *command.split()],
            cwd=self.folder,
            env={**os.environ, **paths, **hidden},
            capture_output=True,
            text=True,
            check=False,
        )

    def names(self, what: str) -> set[str]:
        """Return the names that `dumbbell list` knows."""
        return {row["name"] for row in json.loads(self.dumbbell(f"list {what} --json").stdout)}


def missing(wheel: Path) -> Iterator[str]:
    """Yield the files of the package that are not in a wheel, and those in it that should not
    be.
    """
    kept = {
        f"dumbbell/{file.relative_to(PACKAGE).as_posix()}"
        for file in PACKAGE.rglob("*")
        if file.is_file() and file.suffix not in {".so", ".pyc"}
    }
    with ZipFile(wheel) as archive:
        everything = archive.namelist()
    names = {name for name in everything if name.startswith("dumbbell/")}
    for text in sorted((ROOT / "LICENSES").iterdir()):
        if not any(name.endswith(f"/licenses/LICENSES/{text.name}") for name in everything):
            yield f"LICENSES/{text.name} is not in it"
    yield from (f"{name} is not in it" for name in sorted(kept - names))
    yield from (
        f"{name} is none of the sources"
        for name in sorted(names - kept - {"dumbbell/_core.abi3.so"})
    )
    if "dumbbell/_core.abi3.so" not in names:
        yield "the engine is not in it"


def faults(installed: Installed) -> Iterator[str]:
    """Yield what does not work of an installed wheel."""
    studies = {folder.name for folder in (ROOT / "studies").iterdir() if folder.is_dir()}
    if (names := installed.names("studies")) != studies:
        yield f"its studies are {sorted(names)}"
    algorithms = {file.stem for file in (ROOT / "algorithms").glob("*.c")}
    if (names := installed.names("algorithms")) != algorithms:
        yield f"its algorithms are {sorted(names)}"
    for command in (COMPARE, STUDY, "claims li2007", "new my_cc"):
        run = installed.dumbbell(command)
        if run.returncode != 0:
            yield f"without a compiler `dumbbell {command}`: {run.stderr}"
    refused = installed.dumbbell("algorithms show ./my_cc.c")
    lines = refused.stderr.splitlines()
    if refused.returncode != 2 or len(lines) != 1 or "apt install gcc" not in lines[0]:
        yield f"without a compiler an own algorithm: {refused.returncode} {refused.stderr}"
    shown = installed.dumbbell("algorithms show ./my_cc.c", compiler=True)
    if shutil.which("cc") and shown.returncode != 0:
        yield f"with a compiler an own algorithm: {shown.stderr}"


def main(wheel: Path) -> int:
    """Say what is wrong with a wheel, and return the exit code."""
    with tempfile.TemporaryDirectory() as folder:
        problems = [*missing(wheel), *faults(Installed(wheel, Path(folder)))]
    for fault in problems:
        print(f"{wheel.name}: {fault}", file=sys.stderr)
    if not problems:
        print(f"{wheel}: all files; a comparison and a part of a study, without a compiler")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
