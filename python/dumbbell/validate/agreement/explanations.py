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
        "is less than three segments: at these windows an RTT 0.1 to 0.25 ms above the smallest. "
        "On the kernel it is often more than that: the emulator is held up for 0.1 ms and more in "
        "up to every third round trip. On the seeds of the kernel, which makes 142 Mbit/s, the "
        "simulator makes 177 with the time of hosts and RTTs of retransmissions from timestamps of "
        "1 ms, without both 195, and 156 if RTTs jump by such pauses besides.",
    ),
    Explanation(
        "*, 500 Mbit/s, 10 ms, 0.25 BDP",
        ("goodput", "retransmitted", "queue"),
        "In 22 of 24 runs on this path the kernel's ACKs stop for 5 to 10 ms, most often 0.75 and "
        "1.75 s after the start, while the emulator goes on. What they release then overflows the "
        "queue: mostly 100 to 250 packets are lost at once, as in slow start, where both engines "
        "lose 163. HighSpeed's other cuts cost 3 or 4 packets on both. With ACKs held for 7 ms at "
        "these two times, HighSpeed beside CUBIC retransmits 21 % more than on the kernel, and "
        "not 58 % less.",
    ),
    Explanation(
        "ledbatpp, 100 Mbit/s, 10 ms, *",
        ("goodput", "rtt", "queue"),
        "A stop of the kernel's ACKs for some ms, as at 500 Mbit/s, costs a cut and half of the "
        "run to grow back: without, three runs of an earlier campaign made 77.2 to 77.4 Mbit/s, "
        "the simulator 77.3; the third run of this one made 56.2, as the simulator does with ACKs "
        "held for 7 ms 0.76 and 1.76 s after the start.",
    ),
    Explanation(
        "lp, 100 Mbit/s, 10 ms, *",
        ("goodput",),
        "A stop of the kernel's ACKs for some ms, as at 500 Mbit/s, is a queue to LP, and it goes "
        "down to one segment: with such stops the simulator makes 54 Mbit/s in the mean, without "
        "60, and single runs of either lie between 43 and 70.",
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
