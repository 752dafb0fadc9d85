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
        "lp, 100 Mbit/s, *",
        ("goodput",),
        "Both engines cut from 93 to 47 segments twice a second. What holds the emulator up for "
        "some milliseconds is a queue to TCP-LP, for which it falls to one segment. Shown by "
        "taking the emulator's processor for 3 ms once a second, which the guards allow: 30 to "
        "38 Mbit/s in four runs, 65 to 69 in four others in turns with them.",
    ),
    Explanation(
        "westwood, 10 Mbit/s, *",
        ("goodput", "queue"),
        "Westwood's clock of bandwidth samples starts with the connection, which the testbed "
        "makes 0.3 s before data, and the simulator with it. So the kernel's first sample has "
        "no bytes and is taken for none, and its filter begins with the second, of a full 50 "
        "ms: 4 Mbit/s. The simulator's first includes the wait for the first ACKs: 1.3 Mbit/s. "
        "A loss in slow start then leaves 14 segments or 4, and the filter takes seconds to "
        "forget.",
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
