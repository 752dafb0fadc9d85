"""The example notebooks run from top to bottom, and show what they promise without a network."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import nbformat
import pytest
from jupyter_client.manager import KernelManager

from notebook_outputs import EXAMPLES, NOTEBOOKS, STORED, executed

SHORTER: Final = ("120s", "30s")
FEWER: Final = (
    # Rounds of training, and grid points of a study.
    ("rounds=40, places=8", "rounds=2, places=2"),
    ('\\"rtt\\": \\"42ms\\"}\\n', '\\"rtt\\": \\"42ms\\", \\"queue\\": \\"0.2bdp\\"}\\n'),
)
AS_NEW: Final = """%reset -f
__import__("altair").renderers.enable("default");"""
"""What leaves nothing of earlier notebooks in a kernel, except for what they imported."""


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
    (root / "notebooks").mkdir()
    missing = {many for many, _ in FEWER}
    for path in NOTEBOOKS:
        text = path.read_text()
        for many, few in FEWER:
            missing -= {many} if many in text else set()
            text = text.replace(many, few)
        book = nbformat.reads(text, as_version=4)
        book.cells.insert(0, nbformat.v4.new_code_cell(AS_NEW))
        nbformat.write(book, root / "notebooks" / path.name)
    assert not missing
    text = (EXAMPLES / "two-flows.toml").read_text()
    assert SHORTER[0] in text
    (root / "two-flows.toml").write_text(text.replace(*SHORTER))
    before = dict(os.environ)
    yield root / "notebooks"
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture(scope="module")
def kernel() -> Iterator[KernelManager]:
    """Return a kernel for all notebooks: each would import everything again."""
    manager = KernelManager(kernel_name="python3")
    yield manager
    manager.shutdown_kernel(now=True)


def test_there_are_four() -> None:
    assert [path.stem for path in NOTEBOOKS] == [
        "first-comparison",
        "learner",
        "own-algorithm",
        "study-results",
    ]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
def test_a_notebook_runs_and_is_stored_with_what_it_shows(
    path: Path, folder: Path, kernel: KernelManager
) -> None:
    book = executed(folder / path.name, folder, kernel)
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
