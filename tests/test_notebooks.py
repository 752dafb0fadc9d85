"""The example notebooks run from top to bottom, and show what they promise without a network."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import nbformat
import pytest
from nbclient import NotebookClient

EXAMPLES: Final = Path(__file__).parents[1] / "examples"
NOTEBOOKS: Final = sorted((EXAMPLES / "notebooks").glob("*.ipynb"))
SHORTER: Final = ("120s", "30s")


def outputs(book: Any) -> Iterator[dict[str, str]]:
    """Yield what cells show, by media type."""
    for cell in book.cells:
        for output in cell.get("outputs", ()):
            if output.output_type in ("execute_result", "display_data"):
                yield output.data


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the notebooks with the scenario that they name, which is shorter here."""
    root = tmp_path_factory.mktemp("examples")
    shutil.copytree(EXAMPLES / "notebooks", root / "notebooks")
    text = (EXAMPLES / "two-flows.toml").read_text()
    assert SHORTER[0] in text
    (root / "two-flows.toml").write_text(text.replace(*SHORTER))
    return root / "notebooks"


def test_there_are_three() -> None:
    assert [path.stem for path in NOTEBOOKS] == [
        "first-comparison",
        "own-algorithm",
        "study-results",
    ]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
def test_a_notebook_runs(path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR"):
        monkeypatch.setenv(name, str(folder.parent / "jupyter"))
    monkeypatch.setenv("POLARS_MAX_THREADS", str(os.cpu_count() or 1))
    book = nbformat.read(folder / path.name, as_version=4)
    NotebookClient(book, timeout=120, resources={"metadata": {"path": str(folder)}}).execute()
    shown = list(outputs(book))
    assert any("text/html" in data for data in shown)
    pictures = [data["image/svg+xml"] for data in shown if "image/svg+xml" in data]
    assert pictures
    for picture in pictures:
        assert picture.startswith("<svg")
        assert "cdn" not in picture


@pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
def test_a_notebook_is_kept_without_what_it_showed(path: Path) -> None:
    book = nbformat.read(path, as_version=4)
    nbformat.validate(book)
    assert not list(outputs(book))
    assert all(cell.get("execution_count") is None for cell in book.cells)
