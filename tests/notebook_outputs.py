"""Execute the example notebooks and store what they show (`make notebooks`).

Each is executed in a separate folder. A chart is stored as SVG only: the interactive form is many
times as large, and a page that shows a stored notebook needs no more.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any, Final

import nbformat
from jupyter_client.manager import KernelManager
from nbclient import NotebookClient

EXAMPLES: Final = Path(__file__).resolve().parents[1] / "examples"
NOTEBOOKS: Final = sorted((EXAMPLES / "notebooks").glob("*.ipynb"))
STORED: Final = ("text/html", "image/svg+xml", "text/plain")


def executed(path: Path, folder: Path, kernel: KernelManager | None = None) -> Any:
    """Return a notebook with what it shows when it runs in a folder next to the scenarios.

    A kernel that is given is started if need be, and is not ended.
    """
    for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR"):
        os.environ[name] = str(folder.parent / "jupyter")
    os.environ["POLARS_MAX_THREADS"] = str(os.cpu_count() or 1)
    book = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": str(folder)}}
    client = NotebookClient(book, kernel, timeout=120, startup_timeout=300, resources=resources)
    try:
        client.execute()
    finally:
        if kernel is not None and client.kc is not None:
            client.kc.stop_channels()
    return book


def stored(book: Any) -> Any:
    """Return a notebook with what is stored of its outputs, and nothing that differs each time."""
    for number, cell in enumerate(book.cells):
        cell["id"] = str(number)
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", ()):
            if "data" in output:
                output["data"] = {kind: output.data[kind] for kind in STORED if kind in output.data}
    return book


def main() -> None:
    """Write all notebooks with their outputs."""
    with tempfile.TemporaryDirectory() as root:
        shutil.copytree(EXAMPLES, Path(root) / "examples")
        for path in NOTEBOOKS:
            nbformat.write(stored(executed(path, Path(root) / "examples" / "notebooks")), path)


if __name__ == "__main__":
    main()
