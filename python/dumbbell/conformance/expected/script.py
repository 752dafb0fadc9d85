"""A script of expected states as data: cases, their steps and what each expects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

SUFFIX: Final = ".expect"

SSTHRESH_INFINITE: Final = 0x7FFFFFFF
"""The threshold of a connection that has not been congested yet (``cc.h``)."""

STATES: Final = ("Open", "Disorder", "CWR", "Recovery", "Loss")
"""Linux's congestion states, in the order of their numbers."""


@dataclass(frozen=True)
class Start:
    """The connection as the algorithm's ``init`` finds it.

    Attributes
    ----------
    cwnd_segs, ssthresh_segs, clamp_segs
        Window, slow-start threshold and the largest window.
    rtt_us
        RTT of the handshake, and of ACKs that name none.
    mss_bytes
        Payload of a full segment.
    at_us
        Time on the sender's clock.
    random
        The random number of every call.
    """

    cwnd_segs: int = 10
    ssthresh_segs: int = SSTHRESH_INFINITE
    clamp_segs: int = 0xFFFFFFFF
    rtt_us: int = 100_000
    mss_bytes: int = 1448
    at_us: int = 1_000_000
    random: int = 0


@dataclass(frozen=True)
class Ack:
    """ACKs, each of `segs` segments and `after_us` after what came before.

    `delay_us` is the one-way delay of data; half of the RTT if it is None. Each ACK shows `lost`
    segments to be lost.
    """

    segs: int
    rtt_us: int | None = None
    delay_us: int | None = None
    after_us: int = 0
    lost: int = 0
    marked: bool = False
    app_limited: bool = False
    times: int = 1


@dataclass(frozen=True)
class Round:
    """Round trips that deliver all that is in flight, by an ACK for each `every` segments.

    Their ACKs come evenly over an RTT. Those of the first `marked` segments carry ECN-Echo.
    """

    rtt_us: int | None = None
    delay_us: int | None = None
    every: int = 1
    marked: int = 0
    app_limited: bool = False
    times: int = 1


@dataclass(frozen=True)
class Loss:
    """So many segments are found lost without an ACK (RACK's timer), and sent again."""

    segs: int = 1


@dataclass(frozen=True)
class Recovered:
    """All that was sent before the reduction is delivered, which ends it."""

    after_us: int = 0


@dataclass(frozen=True)
class Timeout:
    """The retransmission timer expires."""

    after_us: int = 0


@dataclass(frozen=True)
class Undo:
    """The last reduction proves spurious."""


@dataclass(frozen=True)
class Idle:
    """All is delivered, nothing is sent for a time, and then a window."""

    for_us: int


@dataclass(frozen=True)
class Wait:
    """Time passes."""

    for_us: int


@dataclass(frozen=True)
class Expectation:
    """An expected value.

    Attributes
    ----------
    name
        ``cwnd``, ``ssthresh``, ``credit``, ``state``, ``mode``, ``pacing`` or a number that the
        algorithm reports.
    wanted
        The number, or the name of a state or mode.
    written
        The same as the script has it.
    within
        The largest valid distance of a number.
    """

    name: str
    wanted: int | str
    written: str
    within: Fraction = Fraction(0)

    def is_met_by(self, value: int | str) -> bool:
        """Return True if `value` is what is expected."""
        if isinstance(value, str) or isinstance(self.wanted, str):
            return value == self.wanted
        return abs(value - self.wanted) <= self.within


@dataclass(frozen=True)
class Expect:
    """Expectations at one moment."""

    expectations: Sequence[Expectation]


Action = Ack | Round | Loss | Recovered | Timeout | Undo | Idle | Wait | Expect


@dataclass(frozen=True)
class Step:
    """An action and the line that it is on, from 1."""

    line: int
    action: Action


@dataclass
class Case:
    """A connection of its own.

    Attributes
    ----------
    line, title
        Its first line, and its title.
    preset
        The preset of its parameters; None: their initial values.
    parameters
        Parameters that it sets beyond those.
    start
        The connection at its beginning.
    steps
        The events that follow.
    """

    line: int
    title: str
    preset: str | None = None
    parameters: dict[str, int] = field(default_factory=dict)
    start: Start = Start()
    steps: list[Step] = field(default_factory=list)


@dataclass(frozen=True)
class Script:
    """A file of cases.

    Attributes
    ----------
    shown
        The file's name in messages.
    lines
        Its lines.
    cases
        Its cases.
    """

    shown: str
    lines: Sequence[str]
    cases: Sequence[Case]


Values = Mapping[str, int | str]
"""The values that can be expected, by name."""
