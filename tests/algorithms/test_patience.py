"""Time limits next to which the machine does other things."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace

import pytest

from dumbbell.algorithms.patience import Patience


def test_a_block_that_does_not_end_is_given_up() -> None:
    ended = threading.Event()
    limit = Patience(0.1, ended.set)
    with limit:
        assert ended.wait(60)
    assert limit.is_over


@pytest.mark.parametrize("seconds", [None, 1000])
def test_a_block_that_ends_in_time_is_left_alone(seconds: float | None) -> None:
    given_up = threading.Event()
    with Patience(seconds, given_up.set) as limit:
        time.sleep(0.1)
    assert not given_up.wait(0.2)
    assert not limit.is_over


class HeldUp:
    """The event of a thread that is woken a minute late, however short it wants to wait."""

    def __init__(self) -> None:
        self.clock_s = 0.0
        self.looks = 0

    def wait(self, seconds: float) -> bool:
        assert seconds <= 0.05
        self.looks += 1
        self.clock_s += 60
        return False


def test_a_machine_that_holds_the_process_up_takes_no_patience(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    held_up, given_up = HeldUp(), []
    clock = SimpleNamespace(monotonic=lambda: held_up.clock_s)
    monkeypatch.setattr("dumbbell.algorithms.patience.time", clock)
    limit = Patience(1.1, lambda: given_up.append(held_up.looks))
    monkeypatch.setattr(limit, "_ended", held_up)
    limit._watch(1.1)
    assert given_up == [6]
