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


_STOPS: Final = (
    "About once in a run a virtual machine's own host takes a processor away for 4 to 10 ms "
    "(measured with nothing else running), and if that hits the applications' thread while it "
    "has a socket locked, ACKs stop for so long. "
)

EXPLANATIONS: Final[tuple[Explanation, ...]] = (
    Explanation(
        "*, 500 Mbit/s, 10 ms, 0.25 BDP",
        ("goodput", "retransmitted", "queue"),
        _STOPS
        + "The queue of this path holds 2.5 ms: 50 to 110 packets are then lost at once, where "
        "other cuts cost 1 to 3. Slow start loses as many on both engines (163 and 165).",
    ),
    Explanation(
        "lp, 100 Mbit/s, *",
        ("goodput",),
        _STOPS + "To LP such a round trip is a queue, and it goes down to one segment. Both "
        "engines cut from 93 to 47 segments every 0.52 s, and four of six runs of the kernel "
        "make 62 to 68 Mbit/s as the simulator's ten do (60 to 67); the other two fell "
        "to one segment once or twice between such cuts, and made 51 and 53.",
    ),
    Explanation(
        "vegas, 100 Mbit/s, 40 ms, *",
        ("goodput", "rtt", "queue", "retransmitted"),
        "Vegas leaves slow start by the smallest RTT of a round, in the last round before the "
        "queue overflows: with the same random losses the kernel leaves a round later in three "
        "runs of six and loses 375 to 480 packets instead of 8 to 165, after which its window "
        "is larger for seconds. The other three lose the same on both engines and have the same "
        "goodput, but for one.",
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
        "Beside CUBIC, CCPD is in one of two regimes: it loses a quarter of what it sends, or "
        "nothing. The kernel's runs stay in the first one, with 55 to 67 segments; the "
        "simulator's change over every few seconds, and have 85 to 125 segments in the first "
        "one. What decides is not known.",
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
