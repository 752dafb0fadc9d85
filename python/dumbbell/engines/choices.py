"""Choices of a user about executions; apart from the engines, which take long to import."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class EngineName(StrEnum):
    """Engines that can run a scenario."""

    SIMULATOR = "simulator"
    TESTBED = "testbed"


RETRIES: Final = 2
"""Default number of repetitions of an invalid run."""

AT_MOST: Final = 40
"""Repetitions of a grid point beyond which no more are added to decide claims."""
