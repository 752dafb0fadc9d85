"""Write all that is generated to ``docs/`` and the package, or with ``--check`` compare it."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

# Models read the docstrings of their fields only if this is set before they are imported.
os.environ["DUMBBELL_FIELD_DOCSTRINGS"] = "1"
import dumbbell.contract
from reference import algorithm_figure, algorithm_page, contract, reference
from reference.comparison import differing

ROOT: Final = Path(__file__).resolve().parents[2]
DOCS: Final = ROOT / "docs"
CONTRACT: Final = Path(dumbbell.contract.__file__).parent


def write(docs: Path, types: Path) -> list[str]:
    """Write pages to `docs` and modules to `types`; return the algorithms whose figure changed."""
    contract.write(types)
    reference.write(docs)
    algorithm_page.write(docs)
    return list(algorithm_figure.write(docs))


def outdated() -> Iterator[Path]:
    """Yield the generated files that differ from what would be written now."""
    with TemporaryDirectory() as folder:
        for kept in (DOCS, CONTRACT):
            shutil.copytree(kept, Path(folder) / kept.name)
        write(Path(folder) / DOCS.name, Path(folder) / CONTRACT.name)
        for kept in (DOCS, CONTRACT):
            yield from (kept / name for name in differing(kept, Path(folder) / kept.name))


def main() -> int:
    """Return 1 if files are outdated."""
    parser = argparse.ArgumentParser(prog="python -m reference", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing")
    if not parser.parse_args().check:
        for name in write(DOCS, CONTRACT):
            print(f"drawn: {name}")
        return 0
    names = [str(path.relative_to(ROOT)) for path in outdated()]
    for name in names:
        print(f"{name}: it is not what `make docs` writes", file=sys.stderr)
    return int(bool(names))


sys.exit(main())
