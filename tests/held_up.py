"""A test in real time does not judge a machine that was held up, and reports that."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable
from typing import Final

import pytest

import process_table

NOT_JUDGED: Final = "not judged: held up for "
MOST_ON_A_QUIET_MACHINE: Final = 2
_QUIET: Final = ", on a quiet machine"
_HELD_UP: Final = re.compile(r"was stalled for ([\d.]+ (?:ms|%)) (?:at once|of the time)")
_SECONDS: Final = 1.0
_MOST_SHARE: Final = 0.05
"""Share of a processor that other programs use of a quiet machine."""


def judge_unless_held_up(message: str) -> None:
    """Skip the rest of a test if the testbed says that its threads were held up for too long.

    Its own watcher (`crates/testbed/src/guards.rs`) says nothing of a quiet machine.
    """
    if match := _HELD_UP.search(message):
        pytest.skip(NOT_JUDGED + match[1] + (_QUIET if machine_is_quiet() else ""))


def machine_is_quiet(seconds: float = _SECONDS) -> bool:
    """Watch the machine while the test rests; true if nothing else uses its processors.

    The idle class, in which `make test` runs its other parts, does not count. Nor does this session.
    """
    before = process_table.ticks_of_others()
    stolen = process_table.stolen_ticks()
    time.sleep(seconds)
    ticks = process_table.stolen_ticks() - stolen
    for process, used in process_table.ticks_of_others().items():
        ticks += used - before.get(process, 0)
    return ticks < _MOST_SHARE * seconds * os.sysconf("SC_CLK_TCK")


def summary(skipped: Iterable[str]) -> tuple[str, bool]:
    """Return one line about tests that were not judged, and whether there may be so many.

    The line is empty if all were judged.
    """
    delays = [reason.partition(NOT_JUDGED)[2] for reason in skipped if NOT_JUDGED in reason]
    if not delays:
        return "", True
    quiet = sum(delay.endswith(_QUIET) for delay in delays)
    line = f"{len(delays)} {NOT_JUDGED}{'; '.join(delays)}"
    if quiet <= MOST_ON_A_QUIET_MACHINE:
        return line, True
    return (
        f"{line}\nfailed: {quiet} tests were not judged on a quiet machine, where at most "
        f"{MOST_ON_A_QUIET_MACHINE} may be: the testbed holds itself up, or its limits are too low",
        False,
    )
