"""Tables of every queue discipline, from the models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dumbbell.scenario.disciplines import MODELS


def table_of(name: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the table of a discipline: what it requires, and the values whose keys it has."""
    known = MODELS[name].model_fields
    required = {
        key: field.examples[0]
        for key, field in known.items()
        if field.is_required() and field.examples
    }
    chosen = {key: value for key, value in values.items() if key in known}
    return {**required, **chosen, "discipline": name}


def having(key: str) -> list[str]:
    """Return the disciplines that have a parameter."""
    return [name for name, model in MODELS.items() if key in model.parameters()]
