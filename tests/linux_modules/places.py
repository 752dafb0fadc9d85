"""Places of files."""

from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
ALGORITHMS: Final = ROOT / "algorithms"
C: Final = Path(__file__).resolve().parent / "c"
DIFFERENCES: Final = Path(__file__).resolve().parent / "differences.toml"
VECTORS: Final = ROOT / "crates" / "algorithm" / "tests" / "linux"
DIGESTS: Final = Path(__file__).resolve().parent / "digests.txt"
PAGE: Final = ROOT / "docs" / "linux-modules.md"

WORK: Final = ROOT / "target" / "linux-modules"
"""Sources, objects and programs; nothing in it is committed."""
