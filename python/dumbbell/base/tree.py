"""The sources that the running package was made of: version, commit, and whether they are changed.

What a wheel was built of is in it as ``commit.txt``. In a clone, Git says it. A package that pip
installed from a repository has the commit in ``direct_url.json`` (PEP 610).
"""

from __future__ import annotations

import json
import subprocess
from functools import cache
from importlib import metadata
from importlib.resources import files
from pathlib import Path
from typing import Final

_FILE: Final = "commit.txt"
_SOURCES: Final = ("python", "crates", "algorithms", "Cargo.toml", "Cargo.lock")
"""What results and pages depend on. Git runs no hook and no watcher of the clone for it."""
_GIT: Final = ("git", "--no-optional-locks", "-c", "core.fsmonitor=false")
_UNKNOWN: Final = "commit unknown"
_SHORT: Final = 12
_GIT_S: Final = 30


@cache
def identity() -> str:
    """Return what the package is, such as ``Dumbbell 0.1.0, commit 0123456789ab, with changes``."""
    return ", ".join(("Dumbbell " + metadata.version("dumbbell"), _commit()))


def _commit() -> str:
    package = Path(str(files("dumbbell")))
    written = package / _FILE
    if written.is_file():
        return written.read_text(encoding="utf-8").strip()
    return of_clone(package.parent.parent) or _of_pip() or _UNKNOWN


def of_clone(root: Path) -> str | None:
    """Return the commit of a clone, and whether its sources differ from it; None: it is none."""
    if not (root / ".git").exists():
        return None
    try:
        commit = _git(root, "rev-parse", "--verify", "HEAD").strip()
        changes = _git(root, "status", "--porcelain", "--", *_SOURCES)
    except (OSError, subprocess.SubprocessError):
        return None
    return f"commit {commit[:_SHORT]}" + (", with changes" if changes.strip() else "")


def _git(root: Path, *arguments: str) -> str:
    run = subprocess.run(
        [*_GIT, "-C", str(root), *arguments],
        capture_output=True,
        text=True,
        check=True,
        timeout=_GIT_S,
    )
    return run.stdout


def _of_pip() -> str | None:
    """Return the commit that pip installed the package from, if it did."""
    try:
        origin = json.loads(metadata.distribution("dumbbell").read_text("direct_url.json") or "{}")
        return f"commit {origin['vcs_info']['commit_id'][:_SHORT]}"
    except (ValueError, KeyError, TypeError):
        return None


if __name__ == "__main__":
    print(of_clone(Path(__file__).parents[3]) or _UNKNOWN)  # for `make wheel`
