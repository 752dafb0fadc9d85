"""Two engines compared by a measure of the same scenario."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dumbbell.engines.result import Run
from dumbbell.experiments.validate.measures import Measure
from dumbbell.inference import equivalence, statistics
from dumbbell.inference.equivalence import Verdict
from dumbbell.inference.estimates import Estimate

Runs = Mapping[int, Run]
"""Runs of a scenario by repetition."""


@dataclass(frozen=True)
class Compared:
    """A measure of a scenario on both engines.

    Attributes
    ----------
    measure
        The measure.
    reference, other
        Its mean on the engine of reference, which is the kernel, and on the other one.
    difference
        By how much the other one is above.
    low, high
        Limits of the difference.
    """

    measure: Measure
    reference: Estimate
    other: Estimate
    difference: Estimate
    low: float
    high: float

    @property
    def verdict(self) -> Verdict:
        """The verdict of the runs."""
        return equivalence.verdict(self.difference, self.low, self.high)

    @property
    def within(self) -> bool:
        """True if the measured difference is within the band, whatever its interval."""
        return self.low <= self.difference.value <= self.high

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "kernel": self.reference.as_dict(),
            "simulator": self.other.as_dict(),
            "difference": self.difference.as_dict(),
            "low": self.low if math.isfinite(self.low) else None,
            "high": self.high,
            "verdict": self.verdict.value,
            "within": self.within,
        }


def compared(
    measure: Measure, reference: Runs, other: Runs, confidence: float, *, pairs: bool
) -> Compared | None:
    """Compare a measure; None where an engine has no value of it.

    With `pairs` runs are compared one by one, as where equal seeds lose equal packets at random.
    """
    ours, theirs = _values(measure, other), _values(measure, reference)
    if not ours or not theirs:
        return None
    both = sorted(set(ours) & set(theirs))
    if pairs and both:
        difference = statistics.paired(
            [ours[repetition] for repetition in both],
            [theirs[repetition] for repetition in both],
            confidence,
        )
    else:
        difference = statistics.difference(list(ours.values()), list(theirs.values()), confidence)
    on_reference = statistics.mean(list(theirs.values()), confidence)
    on_other = statistics.mean(list(ours.values()), confidence)
    reach = measure.tolerance(on_reference.value)
    return Compared(measure, on_reference, on_other, difference, -reach, reach)


def _values(measure: Measure, runs: Runs) -> dict[int, float]:
    by_repetition = {repetition: measure.of(run) for repetition, run in runs.items()}
    return {repetition: value for repetition, value in by_repetition.items() if value is not None}
