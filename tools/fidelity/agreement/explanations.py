"""Known reasons why some scenarios differ between the engines.

One that has nothing left to explain is reported as stale, so that none outlives its cause.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final


@dataclass(frozen=True)
class Explanation:
    """The cause of differences.

    Attributes
    ----------
    scenarios
        Patterns of their names: ``fast,*``, ``* + cubic,*loss*``.
    measures
        Names of the measures that it explains.
    reason
        The cause.
    always
        True if it shows in at least one of them whenever they are run; False if chance decides, or
        for scenarios drawn at random.
    """

    scenarios: tuple[str, ...]
    measures: tuple[str, ...]
    reason: str
    always: bool = True

    def explains(self, scenario: str, measure: str) -> bool:
        """Return True if a difference is explained."""
        return measure in self.measures and self.names(scenario)

    def names(self, scenario: str) -> bool:
        """Return True if a scenario is one of these."""
        return any(fnmatchcase(scenario, pattern) for pattern in self.scenarios)


def _read(file: Path) -> tuple[Explanation, ...]:
    """Read explanations; the file says what its keys are."""
    return tuple(
        Explanation(
            tuple(pattern for name in entry.get("algorithms", ()) for pattern in _named(name))
            + tuple(entry.get("scenarios", ())),
            tuple(entry["measures"]),
            " ".join(entry["reason"].split()),
            entry.get("always", True),
        )
        for entry in tomllib.loads(file.read_text(encoding="utf-8"))["explanation"]
    )


def _named(algorithm: str) -> tuple[str, str]:
    """Return patterns of the scenarios in which a flow is of this algorithm."""
    return f"{algorithm}[, ]*", f"* + {algorithm}[, ]*"


EXPLANATIONS: Final = _read(Path(__file__).with_suffix(".toml"))


def reason_for(scenario: str, measure: str, known: Sequence[Explanation]) -> str | None:
    """Return the reason of a difference, if there is one."""
    reasons = (
        explanation.reason for explanation in known if explanation.explains(scenario, measure)
    )
    return next(reasons, None)


def stale(
    known: Sequence[Explanation], scenarios: Iterable[str], differing: Iterable[tuple[str, str]]
) -> list[Explanation]:
    """Return what should have explained something in the scenarios that ran, and did not.

    `differing` has scenario and measure of each difference.
    """
    ran, left = list(scenarios), list(differing)
    return [
        explanation
        for explanation in known
        if explanation.always
        and any(explanation.names(name) for name in ran)
        and not any(explanation.explains(name, measure) for name, measure in left)
    ]
