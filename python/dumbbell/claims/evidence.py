"""What a check finds at each grid point, and how the findings become a verdict."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from dumbbell.study.claim_spec import Quantifier


class Verdict(StrEnum):
    """Whether Dumbbell's own runs agree with a claim."""

    REPRODUCED = "reproduced"
    NOT_REPRODUCED = "not reproduced"
    NOT_DECIDABLE = "not decidable"


@dataclass(frozen=True)
class Finding:
    """What was found at one grid point, pair of points or series.

    Attributes
    ----------
    where
        The point in words; empty where there is only one.
    value
        What is judged.
    low, high
        Its 95 % interval; None where it has none.
    agrees
        Whether it agrees with the claim.
    margin
        How well, to find the one that decides: of two that agree, or do not, the larger is better.
    """

    where: str
    value: float
    agrees: bool
    margin: float
    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        text = number(self.value)
        if self.low is not None and self.high is not None:
            text += f" ({number(self.low)} to {number(self.high)})"
        return f"{text} at {self.where}" if self.where else text


@dataclass(frozen=True)
class CheckResult:
    """What one check of a claim came to.

    Attributes
    ----------
    verdict
        The outcome.
    expected
        What would agree, in words.
    detail
        How it came out, in words; for an undecidable check what it lacks.
    decisive
        The finding that decides: the worst where all must agree, the best where any may.
    findings
        All findings.
    """

    verdict: Verdict
    expected: str
    detail: str
    decisive: Finding | None = None
    findings: tuple[Finding, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON; a ratio to nothing is null there, and ∞ in the detail."""
        decisive = self.decisive
        return {
            "verdict": self.verdict.value,
            "expected": self.expected,
            "detail": self.detail,
            "measured": _finite(decisive.value) if decisive else None,
            "interval": [_finite(decisive.low), _finite(decisive.high)] if decisive else None,
            "where": decisive.where if decisive else None,
            "findings": [
                {key: _finite(value) for key, value in vars(finding).items()}
                for finding in self.findings
            ],
        }


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def number(value: float) -> str:
    """Render a number with three significant digits."""
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if 0.001 <= abs(value) < 1e6 or value == 0:
        text = f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"
        return text.replace("-", "−")
    return f"{value:.2e}".replace("-", "−")


def undecidable(expected: str, lacks: str) -> CheckResult:
    """Return the result of a check that lacks what it needs."""
    return CheckResult(Verdict.NOT_DECIDABLE, expected, lacks)


def decide(findings: Sequence[Finding], quantifier: Quantifier, expected: str) -> CheckResult:
    """Judge findings; there must be at least one."""
    ordered = sorted(findings, key=lambda finding: (finding.agrees, finding.margin))
    agreeing = sum(finding.agrees for finding in ordered)
    decisive, good = _QUANTIFIERS[quantifier](ordered, agreeing)
    detail = str(decisive)
    if len(ordered) > 1:
        detail += f"; {agreeing} of {len(ordered)} agree"
    verdict = Verdict.REPRODUCED if good else Verdict.NOT_REPRODUCED
    return CheckResult(verdict, expected, detail, decisive, tuple(findings))


def _all(ordered: Sequence[Finding], agreeing: int) -> tuple[Finding, bool]:
    return ordered[0], agreeing == len(ordered)


def _most(ordered: Sequence[Finding], agreeing: int) -> tuple[Finding, bool]:
    return ordered[(len(ordered) - 1) // 2], 2 * agreeing > len(ordered)


def _any(ordered: Sequence[Finding], agreeing: int) -> tuple[Finding, bool]:
    return ordered[-1], agreeing > 0


def _median(ordered: Sequence[Finding], _: int) -> tuple[Finding, bool]:
    """Take the finding whose value is the median; of two in the middle the worse one."""
    middle = statistics.median(finding.value for finding in ordered)
    finding = min(ordered, key=lambda finding: abs(finding.value - middle))
    return finding, finding.agrees


_QUANTIFIERS: dict[Quantifier, Callable[[Sequence[Finding], int], tuple[Finding, bool]]] = {
    "all": _all,
    "most": _most,
    "any": _any,
    "median": _median,
}
