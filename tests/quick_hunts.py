"""Hunts that examine few scenarios closely."""

from __future__ import annotations

import pytest

from dumbbell.experiments.hunt import search


def installed(patch: pytest.MonkeyPatch) -> None:
    """Let hunts examine the worst two scenarios instead of eight, and map four instead of 36."""
    for name, value in (("SHORTLIST", 2), ("FINALS", 1), ("_MAP", 2)):
        patch.setattr(search, name, value)
