"""Why some scenarios differ between the engines, once it is known.

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
        Whether it shows in one of them at least whenever they are run: what chance decides, or
        scenarios drawn at random, need not show it.
    """

    scenarios: tuple[str, ...]
    measures: tuple[str, ...]
    reason: str
    always: bool = True

    def explains(self, scenario: str, measure: str) -> bool:
        """Tell whether a difference is explained."""
        return measure in self.measures and self.names(scenario)

    def names(self, scenario: str) -> bool:
        """Tell whether a scenario is one of these."""
        return any(fnmatchcase(scenario, pattern) for pattern in self.scenarios)


def _named(algorithm: str) -> tuple[str, str]:
    """Return patterns of the scenarios in which a flow is of this algorithm."""
    return f"{algorithm}[, ]*", f"* + {algorithm}[, ]*"


_TWO_STATES: Final = (
    "As Linux has it, TCP-LP divides the receiver's clock by an estimate of its rate, near 1000 a "
    "second, that hangs on how milliseconds round; beyond 1000 its one-way time is the own clock "
    "alone. So it has two states, and either may last for a whole run; a pause of the path of some "
    "milliseconds moves it from one to the other. Alone at 100 Mbit/s and 10 ms, 7 of 20 simulated "
    "runs end at one segment (0.4 to 1.5 Mbit/s; the others have 39 to 89), and 15 where the link "
    "pauses for 3 ms twice a second; on the kernel all of one machine, none of another."
)
_CAPACITY: Final = (
    "CCP and CCPD take the path's capacity from the rate at which ACKs came back lately, which is"
    " larger where they are held up and come together. CCPD alone at 7.7 Mbit/s, FQ-CoDel of 12 "
    "packets: two runs of the kernel had a capacity of 641 segments a second throughout and sent "
    "4.1 and 0.2 % again (simulated 4.2 and 0.2 %), in a third it was 7,751 for a while, with 9.1"
    " %. ACKs held up at random by up to 0.1 ms take CCP's simulated retransmissions at 100 "
    "Mbit/s and 10 ms from 0.9 to 16.4 % (kernel 16.6 %), and by up to 0.2 ms those at 3.1 "
    "Mbit/s, CoDel of 8 packets, from 5.8 to 8.7 % (kernel 8.6 %); 12 runs each. Round trips that"
    " are 4 ms longer for 2 ms in each second take CCPD's share beside BBR and H-TCP at 32.3 "
    "Mbit/s, CoDel of 13 packets, from 25 to 41 % (kernel 47 %), and what is sent again from 8.5 "
    "to 13.6 % (kernel 13.6 %); 6 runs each."
)
_LARGEST: Final = (
    "Illinois takes delays for small by the largest round trip that it has seen, and grows by up "
    "to ten segments where they are. On the kernel the largest is that of a host that was held "
    "up, on a short path many times the queue. Round trips that are 4 ms longer for 2 ms in each "
    "second take the share of Westwood beside it at 179.4 Mbit/s, 2.1 ms, RED of 11 packets, from"
    " 57 to 28 % (kernel 29 %), and what is sent again from 0.7 to 2.1 % (kernel 2.0 %); 5 runs "
    "each."
)
_GRADIENTS: Final = (
    "CDG backs off by how round trips grow, from tenths of a millisecond on, and the kernel's "
    "hosts add that now and then. ACKs held up at random by up to 0.2 ms take the simulated "
    "goodput of LEDBAT++ and two CDG at 76.5 Mbit/s, RED of 156 packets, from 21.0 to 18.0 Mbit/s "
    "(kernel 17.1 and 18.0); by up to 1 ms that of CDG and NV at 165.9 Mbit/s, PIE of 114 packets, "
    "from 74.6 to 71.2 (kernel 65.9 and 69.8); 12 runs each."
)
_CLOCK: Final = (
    "Westwood's clock of bandwidth samples starts with the connection, which the testbed makes 0.3 "
    "s before data, and the simulator with it. So the kernel's first sample has no bytes and is "
    "taken for none, and its filter begins with the second, of a full 50 ms: 4 Mbit/s. The "
    "simulator's first includes the wait for the first ACKs: 1.3 Mbit/s. A loss in slow start then "
    "leaves 14 segments or 4, and the filter takes seconds to forget."
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
        ("retransmitted", "share", "windows"),
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
