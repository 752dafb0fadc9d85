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
        "up to every third round trip, and as Linux takes the RTT of a retransmission from "
        "timestamps of 1 ms, the smallest is 10.00 ms where data take 10.03. On the seeds of the "
        "kernel, which makes 142 Mbit/s, the simulator makes 195 without the time of hosts, 186 "
        "with it, 177 with such timestamps, too, and 156 if RTTs jump by such pauses besides.",
    ),
    Explanation(
        "westwood, 10 Mbit/s, 40 ms, *",
        ("goodput", "queue"),
        "Westwood counts a segment for each duplicate ACK and takes these off the cumulative ACK "
        "that ends the recovery, if the kernel has looked at that ACK closely. It has where the "
        "advertised window changed; the simulator's senders do so only with SACK blocks or marks, "
        "so that what arrived during a recovery counts twice. In the run with seed 2 the simulated "
        "estimate fills 36 segments on a path of 34, on the kernel 24. If the simulator looks "
        "closely at every ACK, the estimate is 23 and the mean queue 17 % below the kernel's "
        "instead of 79 % above.",
    ),
    Explanation(
        "ccpd + cubic, 10 Mbit/s, 40 ms, *",
        ("share", "goodput 1", "goodput 2", "retransmitted"),
        "On the kernel the ACK that ends a recovery tells algorithms of all segments that it "
        "covers, also of those that SACK blocks had told of, with an RTT from timestamps of 1 ms; "
        "in the simulator of what it newly delivers, without an RTT. CCPD takes such an ACK for a "
        "train of packets that passed the bottleneck at once, its capacity for larger, and sends "
        "too much. Told as on the kernel, the simulated flow has 76 % and not 54 % (kernel: 84 %) "
        "and sends 340 to 1950 segments again and not 100 to 150 (kernel: 750 to 2750).",
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
