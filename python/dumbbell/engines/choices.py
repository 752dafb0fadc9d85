"""What a user chooses of how runs go on; apart from the engines, which take long to import."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class EngineName(StrEnum):
    """What can run a scenario."""

    SIMULATOR = "simulator"
    TESTBED = "testbed"


RETRIES: Final = 2
"""How often an invalid run is repeated unless something else is asked for."""

AT_MOST: Final = 40
"""Repetitions of a grid point beyond which no more are added to decide claims."""
