"""Verdicts of the checks of an algorithm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from dumbbell.base.errors import InputError


class Verdict(StrEnum):
    """Verdict of a check."""

    PASSED = "passed"
    WARNING = "warning"
    FAILED = "failed"
    NOT_CHECKED = "not checked"


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes
    ----------
    part, check
        The part of the checks, and the check.
    verdict
        Its verdict.
    message
        The figure, or the reason.
    remedy
        The remedy, if something is wrong.
    details
        Text that does not fit into a table, such as a sequence of calls.
    """

    part: str
    check: str
    verdict: Verdict
    message: str
    remedy: str = ""
    details: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "part": self.part,
            "check": self.check,
            "verdict": self.verdict.value,
            "message": self.message,
            "remedy": self.remedy,
            "details": self.details,
        }


def passed(part: str, check: str, message: str) -> Row:
    """Return the row of a check with nothing to complain about."""
    return Row(part, check, Verdict.PASSED, message)


def failed(part: str, check: str, message: str, remedy: str = "", details: str = "") -> Row:
    """Return the row of a check that found something."""
    return Row(part, check, Verdict.FAILED, message, remedy, details)


def not_checked(part: str, check: str, why: str, remedy: str = "") -> Row:
    """Return the row of a check that could not be made."""
    return Row(part, check, Verdict.NOT_CHECKED, why, remedy)


def refused(part: str, check: str, error: InputError, remedy: str = "") -> Row:
    """Return the row of a check that ended with an error about the file."""
    return failed(part, check, str(error), remedy)


def is_sound(rows: Sequence[Row]) -> bool:
    """Return True if nothing failed."""
    return all(row.verdict is not Verdict.FAILED for row in rows)
