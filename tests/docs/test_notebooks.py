"""The example notebooks run from top to bottom, and show what they promise without a network."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import nbformat
import pytest

from notebook_outputs import EXAMPLES, NOTEBOOKS, STORED, executed

SHORTER: Final = ("120s", "30s")


def outputs(book: Any) -> Iterator[dict[str, str]]:
    """Yield what cells show, by media type."""
    for cell in book.cells:
        for output in cell.get("outputs", ()):
            if output.output_type in ("execute_result", "display_data"):
                yield output.data


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Copy the notebooks with the scenario that they name, which is shorter here."""
    root = tmp_path_factory.mktemp("examples")
    shutil.copytree(EXAMPLES / "notebooks", root / "notebooks")
    text = (EXAMPLES / "two-flows.toml").read_text()
    assert SHORTER[0] in text
    (root / "two-flows.toml").write_text(text.replace(*SHORTER))
    before = dict(os.environ)
    yield root / "notebooks"
    os.environ.clear()
    os.environ.update(before)


def test_there_are_four() -> None:
    assert [path.stem for path in NOTEBOOKS] == [
        "first-comparison",
        "learner",
        "own-algorithm",
        "study-results",
    ]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
def test_a_notebook_runs_and_is_stored_with_what_it_shows(path: Path, folder: Path) -> None:
    book = executed(folder / path.name, folder)
    shown = list(outputs(book))
    assert any("text/html" in data for data in shown)
    pictures = [data["image/svg+xml"] for data in shown if "image/svg+xml" in data]
    assert pictures
    for picture in pictures:
        assert picture.startswith("<svg")
        assert "cdn" not in picture
    stored = nbformat.read(path, as_version=4)
    nbformat.validate(stored)
    kinds = [sorted(data) for data in outputs(stored)]
    assert kinds == [sorted(set(data) & set(STORED)) for data in shown], "make notebooks"
