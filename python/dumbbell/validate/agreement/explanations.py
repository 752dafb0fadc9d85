"""Why some scenarios differ between the engines, once it is known.

An entry without anything left to explain is reported as stale, so that none outlives its cause.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final


@dataclass(frozen=True)
class Explanation:
    """The cause of differences.

    Attributes
    ----------
    scenarios
        Pattern of their names: ``fast,*``, ``* + cubic,*loss*``.
    measures
        Names of the measures that it explains.
    reason
        The cause, in a sentence.
    """

    scenarios: str
    measures: tuple[str, ...]
    reason: str

    def explains(self, scenario: str, measure: str) -> bool:
        """Tell whether a difference is explained."""
        return measure in self.measures and fnmatchcase(scenario, self.scenarios)


EXPLANATIONS: Final[tuple[Explanation, ...]] = (
    Explanation(
        "bic*, 500 Mbit/s, *",
        ("retransmitted", "goodput 2"),
        "BIC divides its growth by the segments that an ACK covers, on average. While an "
        "application reads, its receiver answers several segments with one ACK, which the "
        "simulator does not model: at 500 Mbit/s 0.43 ACKs a packet on the kernel, 0.47 simulated. "
        "So on the kernel BIC grows faster (47 rather than 31 segments a round trip at 40 ms) and "
        "overshoots more often; CUBIC, which counts segments, gets less beside it.",
    ),
    Explanation(
        "veno, 500 Mbit/s, 10 ms, *",
        ("goodput",),
        "Veno takes a loss for random, and gives up a fifth instead of a half, while its backlog "
        "is less than three segments: here an RTT 0.07 ms above the smallest. The kernel's hosts "
        "alone add 0.08 ms. With a delay of up to 0.2 ms at random in the simulated sender it "
        "reaches 146 Mbit/s instead of 190 there, too.",
    ),
)


def reason_for(scenario: str, measure: str, known: Sequence[Explanation]) -> str | None:
    """Return the reason of a difference, if there is one."""
    found = (each.reason for each in known if each.explains(scenario, measure))
    return next(found, None)


def stale(
    known: Sequence[Explanation], scenarios: Iterable[str], differing: Iterable[tuple[str, str]]
) -> list[Explanation]:
    """Return what could have explained something in the scenarios that ran, and did not.

    `differing` has scenario and measure of each difference.
    """
    ran, left = list(scenarios), list(differing)
    return [
        each
        for each in known
        if any(fnmatchcase(name, each.scenarios) for name in ran)
        and not any(each.explains(name, measure) for name, measure in left)
    ]
