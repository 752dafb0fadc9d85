"""The checks of `make wheel` find files that a wheel does not have."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

import pytest
from inline_snapshot import snapshot

import wheel

LICENCES = "dumbbell-1.dist-info/licenses/LICENSES"


def _packed(folder: Path, without: str = "", also: str = "") -> Path:
    """Return an archive of the package's sources, as a wheel has them."""
    packed = folder / "some.whl"
    with ZipFile(packed, "w") as archive:
        for file in wheel.PACKAGE.rglob("*"):
            name = f"dumbbell/{file.relative_to(wheel.PACKAGE).as_posix()}"
            if file.is_file() and file.suffix not in {".so", ".pyc"} and name != without:
                archive.write(file, name)
        texts = (f"{LICENCES}/{file.name}" for file in (wheel.ROOT / "LICENSES").iterdir())
        for name in filter(None, ("dumbbell/_core.abi3.so", *texts, also)):
            if name != without:
                archive.writestr(name, "")
    return packed


def test_a_whole_wheel_lacks_nothing(tmp_path: Path) -> None:
    assert list(wheel.missing(_packed(tmp_path))) == []


@pytest.mark.parametrize(
    ("without", "ending"),
    [
        ("dumbbell/studies/li2007/claims.toml", "claims.toml is not in it"),
        ("dumbbell/conformance/templates/delay.c", "delay.c is not in it"),
        ("dumbbell/_core.abi3.so", "the engine is not in it"),
        (f"{LICENCES}/MIT.txt", "MIT.txt is not in it"),
    ],
)
def test_what_is_lacking_is_named(tmp_path: Path, without: str, ending: str) -> None:
    (problem,) = wheel.missing(_packed(tmp_path, without))
    assert problem.endswith(ending)


def test_what_is_too_much_is_named(tmp_path: Path) -> None:
    (problem,) = wheel.missing(_packed(tmp_path, also="dumbbell/results/run.json"))
    assert problem == snapshot("dumbbell/results/run.json is none of the sources")
