"""CITATION.cff says what the other files say. `make lint` checks its form."""

from __future__ import annotations

import tomllib
from pathlib import Path

import yaml  # type: ignore[import-untyped]

ROOT = Path(__file__).parents[2]


def test_it_has_the_version_and_the_licence_of_the_package() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    cargo = tomllib.loads((ROOT / "Cargo.toml").read_text())
    assert cited["version"] == cargo["workspace"]["package"]["version"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert f"({' OR '.join(cited['license'])})" in project["license"]
