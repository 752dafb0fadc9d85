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


def _named(algorithm: str) -> tuple[str, str]:
    """Return patterns of the scenarios in which a flow is of this algorithm."""
    return f"{algorithm}[, ]*", f"* + {algorithm}[, ]*"


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
    *(
        Explanation(
            pattern,
            ("goodput", "rtt", "retransmitted", "share", "windows"),
            "As Linux has it, TCP-LP divides the receiver's clock by an estimate of its rate, "
            "near 1000 a second, that hangs on how milliseconds round; beyond 1000 its one-way "
            "time is the own clock alone, and hardly anything is an indication. Either may last "
            "for a whole run. Of ten simulated runs of reno + lp + dctcp at 13.4 Mbit/s, FQ-CoDel"
            " of 8 packets, half never gave way; on the kernel, whose hosts hold packets up for a"
            " millisecond now and then, all did for 37 to 48 % of the time. Where simulated "
            "senders hold packets for up to 1 ms, LP sends 3.9 MB instead of 4.6 (20 runs); on "
            "the kernel 3.7.",
        )
        for pattern in _named("lp")
    ),
    *(
        Explanation(
            pattern,
            ("goodput", "share", "windows"),
            "CDG backs off by how round trips grow, from tenths of a millisecond on, and the "
            "kernel's hosts add that now and then. ACKs held up at random by up to 0.2 ms take the "
            "simulated goodput of LEDBAT++ and two CDG at 76.5 Mbit/s, RED of 156 packets, from "
            "21.0 to 18.0 Mbit/s (kernel 17.1 and 18.0); by up to 1 ms that of CDG and NV at 165.9 "
            "Mbit/s, PIE of 114 packets, from 74.6 to 71.2 (kernel 65.9 and 69.8); 12 runs each.",
        )
        for pattern in _named("cdg")
    ),
    Explanation(
        "ccp, *",
        ("retransmitted",),
        "CCP takes the path's capacity from the largest rate at which ACKs came back lately, which "
        "is larger where they are held up and come together. ACKs held up at random by up to 0.2 "
        "ms take the simulated retransmissions at 3.1 Mbit/s, CoDel of 8 packets, from 5.8 to 8.7 "
        "% (12 runs each; kernel 8.6 %).",
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
