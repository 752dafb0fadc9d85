"""Helpers to test the error about a wrong file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from dumbbell.base.errors import InputError
from dumbbell.scenario.model import Scenario


def error_of(data: Mapping[str, Any]) -> InputError:
    """Return the first error of a scenario file, which must be complete."""
    with pytest.raises(InputError) as caught:
        Scenario.parse(data, "a.toml")
    error = caught.value
    assert error.exit_code == 2
    assert str(error).startswith(f"a.toml: {error.key}")
    return error


def assert_refused(data: Mapping[str, Any], key: str, problem: str) -> None:
    """Check that a scenario is refused at this key for this reason, and that a remedy is named."""
    error = error_of(data)
    assert (error.key, problem in error.problem) == (key, True), str(error)
    assert error.valid or error.problem == "must be more than 0"
