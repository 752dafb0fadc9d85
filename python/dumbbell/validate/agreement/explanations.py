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
        "*, 500 Mbit/s, 10 ms, 0.25 BDP",
        ("goodput", "retransmitted", "queue"),
        "Beside what slow start loses (about 165 packets on both engines), the kernel loses 50 to "
        "110 packets at once about once in a run, where other cuts cost 1 to 3. The likely cause, "
        "not shown for these runs: the processor of the applications is taken away for some ms, "
        "of which the queue holds 2.5; the guards do not see that.",
    ),
    Explanation(
        "lp, 100 Mbit/s, *",
        ("goodput",),
        "Both engines cut from 93 to 47 segments every 0.52 s, and four of six runs of the kernel "
        "make 62 to 68 Mbit/s as the simulator's ten do (60 to 67). The other two fell to one "
        "segment once or twice between such cuts, and made 51 and 53; likely for a single long "
        "round trip, which was not shown.",
    ),
    Explanation(
        "vegas, 100 Mbit/s, 40 ms, *",
        ("goodput", "rtt", "queue", "retransmitted"),
        "With the same random losses three of six runs of the kernel lose 375 to 480 packets and "
        "the same of the simulator 8 to 165; the other three lose the same on both, and two of "
        "them have the same goodput. Why is not known.",
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
    Explanation(
        "ccpd + cubic, 10 Mbit/s, *",
        ("goodput", "rtt", "queue", "goodput 2", "share", "window"),
        "Beside CUBIC, CCPD loses a quarter of what it sends, or next to nothing. The kernel's "
        "three runs lose all the time, with 47 to 69 segments but for one second; six of the "
        "simulator's ten have seconds without loss, and most have others with 85 to 108 segments. "
        "What decides is not known.",
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
