"""Tests in real time judge nothing where the testbed says that the machine was held up."""

from __future__ import annotations

import pytest

from held_up import judge_unless_held_up


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        (
            "the emulator was held up for 41 ms at once (limit 10 ms); leave the machine alone",
            "41 ms",
        ),
        (
            "the applications' thread was held up for 4.2 % of the time (limit 1.0 %); leave the "
            "machine alone, or let fewer flows run at a time",
            "4.2 %",
        ),
    ],
)
def test_a_test_is_skipped_with_how_long_it_was_held_up(said: str, wanted: str) -> None:
    with pytest.raises(pytest.skip.Exception, match=f"^not judged: held up for {wanted}$"):
        judge_unless_held_up(f"invalid: {said}\n")


@pytest.mark.parametrize("said", ["", "packets were late by 3 ms; lower the rates"])
def test_a_quiet_machine_is_judged(said: str) -> None:
    judge_unless_held_up(said)
