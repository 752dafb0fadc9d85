"""Known reasons why some scenarios differ between the engines.

One that has nothing left to explain is reported as stale, so that none outlives its cause.
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


def _named(algorithm: str) -> tuple[str, str]:
    """Return patterns of the scenarios in which a flow is of this algorithm."""
    return f"{algorithm}[, ]*", f"* + {algorithm}[, ]*"


_TWO_STATES: Final = (
    "As in Linux, TCP-LP divides the receiver's clock by an estimate of its rate, near 1000 a "
    "second, which depends on the rounding of milliseconds. Beyond 1000 its one-way time is its "
    "own clock alone. So it has two states, and either may last for a whole run. A pause of the "
    "path of some milliseconds moves it from one to the other. Alone at 100 Mbit/s and 10 ms, 10 "
    "of 20 simulated runs end at one segment: they have 0.5 Mbit/s, the others 85 to 88. If the "
    "link pauses for 3 ms twice a second, 11 runs do. On the kernel all runs of one machine do, "
    "and none of another. Alone at 153.5 Mbit/s and 25.6 ms it is in the slow state in 8 of 8 runs "
    "if timers end exactly. If timers end with ticks of 4 ms, half of the runs are."
)
_CAPACITY: Final = (
    "CCP and CCPD take the path's capacity from the recent rate of ACKs. This rate is larger where "
    "ACKs are delayed and arrive together. ACKs delayed at random by up to 0.2 ms change CCPD and "
    "Veno at 2.4 Mbit/s, FQ-CoDel of 8 packets: retransmissions from 2.2 to 4.3 % and the mean RTT "
    "from 36.8 to 39.1 ms (kernel 6.7 % and 39.2 ms). They change HSTCP-LP, CCP and Reno at 129.6 "
    "Mbit/s, PIE of 8 packets: retransmissions from 23.6 to 21.4 % and the goodput from 114.5 to "
    "112.3 Mbit/s (kernel 22.0 % and 112.1). Delays of up to 1 ms take the goodput of BIC, "
    "LEDBAT++ and CCP at 82.3 Mbit/s, PIE of 51 packets, from 77.2 to 75.2 Mbit/s (kernel 74.3). "
    "Each value is of 12 runs."
)
_LARGEST: Final = (
    "Illinois compares delays with the largest round trip that it has seen, and grows by up to ten "
    "segments while they are small. On the kernel the largest is that of a delayed host, on a "
    "short path many times the queue. Round trips that are 4 ms longer for 2 ms in each second "
    "change the flows at 179.4 Mbit/s, 2.1 ms, RED of 11 packets. They take the share of Westwood "
    "next to Illinois from 57 to 29 % (kernel 29 %), and retransmissions from 0.7 to 2.1 % (kernel "
    "2.0 %). Each value is of 12 runs."
)
_GRADIENTS: Final = (
    "CDG backs off by the growth of round trips, from tenths of a millisecond on, and the kernel's "
    "hosts add that now and then. With Prague at 46.3 Mbit/s, 191.9 ms, CoDel of 212 packets, one "
    "seed gave it 2.5 Mbit/s on the kernel and then 5.8 (simulated 6.1). With eight seeds both "
    "flows together had 8.8 Mbit/s, 8.4 simulated. ACKs delayed at random by up to 0.2 ms take the "
    "simulated goodput of LEDBAT++ and two CDG at 76.5 Mbit/s, RED of 156 packets, from 21.0 to "
    "18.0 Mbit/s (kernel 17.1 and 18.0). Delays of up to 1 ms take that of CDG and NV at 165.9 "
    "Mbit/s, PIE of 114 packets, from 74.6 to 71.2 (kernel 65.9 and 69.8). Each value is of 12 "
    "runs of engine 4."
)
_MILLISECONDS: Final = (
    "HSTCP-LP judges one-way times in whole milliseconds, and falls to one segment if a second "
    "indication follows soon. So a tenth of a millisecond decides how its slow start ends. A path "
    "longer by that takes a simulated run at 61.1 Mbit/s, 54 ms, PIE of 56 packets, from 16.4 to "
    "29.1 Mbit/s (kernel 26.6). It takes another one from 29.9 to 37.3 (kernel 37.2), while the "
    "mean of eight runs stays between 22 and 27."
)
_BASE_RTT: Final = (
    "Vegas takes the excess of a round trip over the shortest one for queueing. Tenths of a "
    "millisecond of the hosts decide when it begins to back off. ACKs delayed at random by up to "
    "0.1 ms change 12 simulated runs at 101.6 Mbit/s, 44.4 ms, 73 packets, loss 0.00005: ten fall "
    "by up to 15 %, and two rise by 24 and 39 %. With six seeds more the kernel has 37.2 Mbit/s "
    "and 38.7 are simulated."
)
_ONE_DROP: Final = (
    "PIE may drop a packet more when DCTCP's slow start has just overshot, which halves the window "
    "again. That costs a slow link most of the run: at 8.6 Mbit/s, 94 ms, PIE of 109 packets, 1.3 "
    "of 7.7 Mbit/s. Seed 7 has it on the kernel alone, seed 10 in the simulator and in one of two "
    "runs on the kernel."
)
_CLOCK: Final = (
    "Westwood's clock of bandwidth samples starts with the connection. The testbed connects 0.3 s "
    "before data, and the simulator with it. So the kernel's first sample has no bytes and counts "
    "as none, and its filter begins with the second, of a full 50 ms: 4 Mbit/s. The simulator's "
    "first includes the wait for the first ACKs: 1.3 Mbit/s. A loss in slow start then leaves 14 "
    "segments or 4, and the filter takes seconds to forget."
)

EXPLANATIONS: Final[tuple[Explanation, ...]] = (
    Explanation(
        _named("lp"),
        ("goodput", "goodput 1", "goodput 2", "rtt", "retransmitted", "share", "queue", "windows"),
        _TWO_STATES,
        always=False,
    ),
    Explanation(
        (*_named("ccp"), *_named("ccpd")),
        ("goodput", "rtt", "retransmitted", "share", "windows"),
        _CAPACITY,
        always=False,
    ),
    Explanation(_named("cdg"), ("goodput", "share", "windows"), _GRADIENTS, always=False),
    Explanation(
        _named("illinois"),
        ("goodput", "retransmitted", "share", "windows"),
        _LARGEST,
        always=False,
    ),
    Explanation(_named("hstcplp"), ("goodput", "share", "windows"), _MILLISECONDS, always=False),
    Explanation(("vegas, *",), ("goodput",), _BASE_RTT, always=False),
    Explanation(("dctcp, *PIE*",), ("goodput",), _ONE_DROP, always=False),
    Explanation(("westwood, 10 Mbit/s, *",), ("goodput", "queue"), _CLOCK),
)


def reason_for(scenario: str, measure: str, known: Sequence[Explanation]) -> str | None:
    """Return the reason of a difference, if there is one."""
    found = (each.reason for each in known if each.explains(scenario, measure))
    return next(found, None)


def stale(
    known: Sequence[Explanation], scenarios: Iterable[str], differing: Iterable[tuple[str, str]]
) -> list[Explanation]:
    """Return what should have explained something in the scenarios that ran, and did not.

    `differing` has scenario and measure of each difference.
    """
    ran, left = list(scenarios), list(differing)
    return [
        each
        for each in known
        if each.always
        and any(each.names(name) for name in ran)
        and not any(each.explains(name, measure) for name, measure in left)
    ]
