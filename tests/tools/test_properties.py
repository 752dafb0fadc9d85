"""Properties draw the same examples in every process, so that only a change can make one fail."""

import importlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.internal.cache import LRUCache
from hypothesis.internal.conjecture import providers


def _drawn() -> list[float]:
    seen = []

    @given(st.floats(allow_nan=False))
    def draw(number: float) -> None:
        seen.append(number)

    draw()
    return seen


def test_examples_do_not_depend_on_the_modules_of_other_tests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = _drawn()
    # Otherwise the second draw uses the constants that the first one kept.
    monkeypatch.setattr(providers, "CONSTANTS_CACHE", LRUCache(1_000))
    numbers = [number + 0.123 for number in range(200)]
    (tmp_path / "loaded_elsewhere.py").write_text(f"NUMBERS = {numbers}\n")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("loaded_elsewhere")
    assert _drawn() == before
