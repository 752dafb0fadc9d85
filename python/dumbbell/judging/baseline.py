"""Claims in continuous integration: verdicts that must hold, or must not get worse."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dumbbell.base.errors import InputError, listed, near
from dumbbell.judging.evidence import Verdict
from dumbbell.judging.judging import ClaimResult

_FROM: Final = "JSON as --save-baseline writes it"


@dataclass(frozen=True)
class Regression:
    """A claim whose verdict is worse than it was; None: there is no such claim any more."""

    claim: str
    before: Verdict
    now: Verdict | None

    def __str__(self) -> str:
        now = "no longer a claim" if self.now is None else f"now {self.now.value}"
        return f"{self.claim} (before {self.before.value}, {now})"


def unmet(results: Sequence[ClaimResult]) -> list[ClaimResult]:
    """Return the claims that a strict judge refuses: all but what holds or is met."""
    return [result for result in results if not result.verdict.is_good]


def of_claims(results: Sequence[ClaimResult]) -> dict[str, Verdict]:
    """Return claim -> verdict."""
    return {result.claim.id: result.verdict for result in results}


def write(verdicts: Mapping[str, Verdict], file: Path) -> None:
    """Write verdicts as a baseline: claim -> verdict, as JSON."""
    values = {claim: verdict.value for claim, verdict in verdicts.items()}
    file.write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8")


def read(file: Path) -> dict[str, Verdict]:
    """Read a baseline; what is none is an InputError."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", source=str(file)) from None
    # Deeply nested brackets exhaust the parser's stack. Such a file is no baseline either.
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise InputError(
            "not a baseline", source=str(file), valid=f'{_FROM}, such as {{ "E01": "holds" }}'
        )
    if any(isinstance(value, list | dict) for value in content.values()):
        raise InputError("the output of --json, no baseline", source=str(file), valid=_FROM)
    return {claim: _verdict(file, claim, verdict) for claim, verdict in content.items()}


def _verdict(file: Path, claim: str, value: object) -> Verdict:
    known = [verdict.value for verdict in Verdict]
    if value not in known:
        raise InputError(
            "not a verdict",
            source=str(file),
            key=claim,
            value=value,
            valid=listed(known),
            near=near(value, known) if isinstance(value, str) else None,
        )
    return Verdict(value)


def regressions(now: Mapping[str, Verdict], baseline: Mapping[str, Verdict]) -> list[Regression]:
    """Return the claims of a baseline whose verdict is worse now; others are no regression.

    Good is better than undecided, and undecided is better than bad.
    """
    return [
        Regression(claim, before, now.get(claim))
        for claim, before in baseline.items()
        if _goodness(now.get(claim)) < _goodness(before)
    ]


def _goodness(verdict: Verdict | None) -> int:
    if verdict is None:
        return -1
    return 2 if verdict.is_good else 0 if verdict.is_bad else 1
