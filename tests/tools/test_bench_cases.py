"""The simulator's benchmarks and its guard of instructions run what people run."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
REAL = runpy.run_path(str(ROOT / "benches/real_cases.py"))
CASES = {case.name: case for case in REAL["cases"]()}


@pytest.mark.parametrize("name", CASES)
def test_a_case_is_what_its_command_resolves_to(name: str) -> None:
    kept: dict[str, Any] = json.loads((REAL["FOLDER"] / f"{name}.json").read_text())
    assert kept == CASES[name].scenario(), "run `make bench-cases`"


def test_each_case_is_benchmarked() -> None:
    benchmarks = (ROOT / "crates/simulator/benches/cases.rs").read_text()
    assert {path.stem for path in REAL["FOLDER"].glob("*.json")} == set(CASES)
    assert [name for name in CASES if f'"{name}"' not in benchmarks] == []
