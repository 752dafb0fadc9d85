"""Results folders and packs of somebody else, and every command that reads one."""

from __future__ import annotations

import functools
import os
import shutil
import tempfile
from pathlib import Path
from random import Random
from typing import Final

import small_study
from hostile.cases import Case
from hostile.running import ran
from hostile.studies import shortened
from hostile_folders import hostile_folders

_STUDY: Final = "../study"
_READING: Final = (
    ("list", "runs"),
    ("list", "runs", "--json"),
    ("claims", _STUDY),
    ("claims", _STUDY, "--json"),
    ("report", _STUDY),
    ("report", "--all"),
    ("open", "--print"),
    ("run", _STUDY, "--dry-run"),
    ("run", _STUDY, "--quick", "--where", "test=fairness", "--jobs", "1"),
    ("store", "check"),
    ("store", "check", "--contents"),
    ("store", "size"),
    ("store", "pack"),
    ("store", "prune", "--unasked"),
)


@functools.cache
def intact(is_packed: bool) -> Path:
    """Return a folder with a study and its results, in `runs` or in a pack; it is made once."""
    folder = Path(tempfile.mkdtemp(prefix="intact-", dir=Path(os.environ["XDG_CACHE_HOME"]).parent))
    if is_packed:
        shutil.copytree(intact(False), folder, dirs_exist_ok=True)
        commands: list[tuple[str, ...]] = [("store", "pack")]
    else:
        (folder / "study").mkdir()
        for name, text in small_study.FILES.items():
            (folder / "study" / name).write_text(shortened(text))
        commands = [("run", "./study", "--quick", "--jobs", "1"), ("claims", "./study")]
    for command in commands:
        done = ran(command, folder, folder)
        assert done.code == 0, done.err
    return folder


def prepared(random: Random, box: Path) -> Case:
    """Copy a results folder, harm it, and read it."""
    made = intact(random.random() < 0.4)
    shutil.copytree(made / "study", box / "study")
    harmed = next(hostile_folders(random, made / "results", box))
    if random.random() < 0.25:
        return Case(("merge", "../theirs"))
    command = random.choice(_READING)
    is_seen = command[:2] == ("store", "check") and "," not in harmed.what
    is_wrong = is_seen and harmed.what.startswith(("_flip runs/", "_flip packs/"))
    return Case((*command, "--results", "../theirs"), is_wrong)
