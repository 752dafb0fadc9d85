"""The sources that the package was made of, as reports state them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from dumbbell.base import tree


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    (tmp_path / "python").mkdir()
    (tmp_path / "python" / "a.py").write_text("a = 1\n")
    (tmp_path / "docs").mkdir()
    for command in (
        ["init", "-q"],
        ["add", "."],
        ["-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-q", "-m", "All"],
    ):
        subprocess.run(["git", "-C", str(tmp_path), *command], check=True)
    return tmp_path


def commit(clone: Path) -> str:
    head = subprocess.run(
        ["git", "-C", str(clone), "rev-parse", "HEAD"], check=True, capture_output=True, text=True
    )
    return head.stdout[:12]


def test_a_clone_as_it_was_committed(clone: Path) -> None:
    assert tree.of_clone(clone) == f"commit {commit(clone)}"


def test_what_no_result_depends_on_is_no_change(clone: Path) -> None:
    (clone / "docs" / "a.md").write_text("# A\n")
    assert tree.of_clone(clone) == f"commit {commit(clone)}"


@pytest.mark.parametrize("name", ["a.py", "new.py"])
def test_a_changed_or_a_new_source_is_said(clone: Path, name: str) -> None:
    (clone / "python" / name).write_text("a = 2\n")
    assert tree.of_clone(clone) == f"commit {commit(clone)}, with changes"


def test_what_is_no_clone_has_no_commit(tmp_path: Path) -> None:
    assert tree.of_clone(tmp_path) is None
    (tmp_path / ".git").write_text("gitdir: nowhere\n")
    assert tree.of_clone(tmp_path) is None


def test_the_watcher_of_a_clone_is_not_run(clone: Path) -> None:
    """`git status` would run what the clone's own settings name."""
    watcher = clone / "watcher"
    watcher.write_text("#!/bin/sh\ntouch ran\n")
    watcher.chmod(0o755)
    config = ["git", "-C", str(clone), "config", "core.fsmonitor", str(watcher)]
    subprocess.run(config, check=True)
    assert tree.of_clone(clone) == f"commit {commit(clone)}"
    assert not (clone / "ran").exists()


def test_this_package_names_its_version_and_its_commit() -> None:
    root = Path(tree.__file__).parents[3]
    known = tree.of_clone(root)
    assert tree.identity().startswith("Dumbbell 0.")
    if known is not None:
        assert tree.identity().endswith(known)
