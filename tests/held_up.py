"""What a test in real time does where the machine was held up: it judges nothing, and says so."""

from __future__ import annotations

import re
from typing import Final

import pytest

NOT_JUDGED: Final = "not judged: held up for "
_HELD_UP: Final = re.compile(r"was held up for ([\d.]+ (?:ms|%)) (?:at once|of the time)")


def judge_unless_held_up(said: str) -> None:
    """Skip the rest of a test if the testbed says that its threads were held up for too long.

    Its own watcher (`crates/testbed/src/guards.rs`) says nothing of a quiet machine.
    """
    if found := _HELD_UP.search(said):
        pytest.skip(NOT_JUDGED + found[1])
