"""`make lint` compares generated files with what would be written now."""

from __future__ import annotations

from pathlib import Path

from reference.comparison import differing


def folder(path: Path, **files: str) -> Path:
    """Write files of these names and texts, and bytecode, which does not count."""
    for name, text in {**files, "__pycache__": path.name}.items():
        (path / name).mkdir(parents=True)
        (path / name / "file").write_text(text)
    return path


def test_each_file_that_differs_or_that_one_lacks_is_named(tmp_path: Path) -> None:
    kept = folder(tmp_path / "kept", same="1", other="1", gone="1")
    made = folder(tmp_path / "made", same="1", other="2", added="1")
    names = [name.parent.name for name in differing(kept, made)]
    assert names == ["added", "gone", "other"]
    assert not list(differing(kept, kept))
