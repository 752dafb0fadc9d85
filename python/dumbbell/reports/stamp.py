"""A digest of the inputs of a study's page and of its files: with the same one it is current."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final

from dumbbell.base.documents import fingerprint
from dumbbell.experiments.forks import forking
from dumbbell.quantities import kept
from dumbbell.reports.pages import Place
from dumbbell.results.results import Results
from dumbbell.store import campaigns
from dumbbell.store.campaigns import Effort

_CODE: Final = (
    *(
        "reports",
        "figures",
        "judging",
        "study/telling.py",
        "results/results.py",
        "results/account.py",
    ),
    *("base/labels.py", "algorithms/labels.py"),
    *("experiments/comparison.py", "experiments/mixes.py", "experiments/setting.py"),
)
_FILES: Final = (
    *("assets", "figures", "data", "runs", "series"),
    *("run.html", "figures.html", "checks.html"),
)
"""Files and folders of a study's page, next to it."""
_STAMP: Final = re.compile(r'<meta name="dumbbell-content" content="([0-9a-f]+)">')
_HEAD_CHARACTERS: Final = 2000


def of(results: Results, place: Place, folder: Path) -> str:
    """Return the digest of all that the page in a folder shows and links.

    That is the study, its runs, what they took, the links to pages above it, the code, and the
    names of the page's files that are not empty. Sizes of figures differ from process to process.
    """
    digest = hashlib.sha256(_code().encode())
    digest.update("".join(f"{way}\n" for way in place.parent_paths).encode())
    digest.update(results.engine.identity.encode())
    digest.update(fingerprint(results.study.model_dump(mode="json")).encode())
    for test in results.study.tests:
        for listed in results.runs(test.name):
            digest.update(f"{listed.run.resolved.key} {listed.state} {listed.plan}\n".encode())
    commands = campaigns.commands(results.store, results.study.name, results.engine.identity)
    digest.update(repr(Effort.of(commands)).encode())
    if (original := forking.original(results)) is not None and original.results is not None:
        # The page of a fork shows the original, too.
        digest.update(of(original.results, place, folder / "original").encode())
    for name in _FILES:
        for file in _files(folder / name):
            if file.stat().st_size:
                digest.update(f"{file.relative_to(folder)}\n".encode())
    return digest.hexdigest()


def read(page: Path) -> str | None:
    """Return the digest that a page carries; None: there is no such page."""
    try:
        with page.open(encoding="utf-8") as file:
            stamp = _STAMP.search(file.read(_HEAD_CHARACTERS))
    except (OSError, UnicodeDecodeError):
        return None
    return stamp[1] if stamp else None


@cache
def _code() -> str:
    """Return the digest of the code that draws pages."""
    digest = hashlib.sha256(kept.code().encode())
    root = Path(str(files("dumbbell")))
    for place in _CODE:
        for file in _files(root / place):
            if file.suffix != ".pyc":
                digest.update(file.read_bytes())
    return digest.hexdigest()


def _files(path: Path) -> list[Path]:
    """Return the files below a folder in order, or a file itself; none if there is no such path."""
    paths = sorted(path.rglob("*")) if path.is_dir() else [path]
    return [file for file in paths if file.is_file()]
