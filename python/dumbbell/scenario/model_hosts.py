"""How hosts are connected to any network."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, Self

from pydantic import Field, field_validator, model_validator

from dumbbell.base.errors import InputError
from dumbbell.base.units import Delay, EdgeRate, Number
from dumbbell.scenario.model_queues import UNLIMITED, QueueSpec
from dumbbell.scenario.tables import Table

Overhead = Literal["none", "ip", "ethernet"]

OVERHEAD_BYTES: Final[Mapping[Overhead, int]] = {"none": 0, "ip": 0, "ethernet": 38}
"""What links carry in addition to an IP packet; Ethernet: preamble 8, header 14, FCS 4, gap 12."""


CLOCK_PPM: Final = 50
"""How far clocks are off by default; IEEE 802.3 lets those of Ethernet be off by 100."""

CLOCK_PPM_MAX: Final = 1000


def idle_queue(key: str) -> InputError:
    """Return the error for a queue that never fills."""
    return InputError(
        "nothing waits where the rate is unlimited", key=key, valid="a rate, or no queue"
    )


class Hosts(Table):
    """How hosts are connected, whatever the network."""

    edge_rate: EdgeRate = Field("unlimited", validate_default=True, examples=["1gbit", "unlimited"])
    """Rate of each sender's access link."""

    edge_queue: QueueSpec | None = Field(
        None, examples=["1000p", "unlimited", {"discipline": "fq"}]
    )
    """Queue of each sender's access link, in its network card. By default what Linux had in the
    time of the sender's stack: 1000 packets first in, first out (`pfifo_fast`), and from
    `linux-4.14` on `fq-codel`, which systemd sets; `fq` where the switch `pacing` is `fq`. Linux
    counts a chunk as one packet, so the limits are 44 times larger where the switch `tso` is on."""

    edge_jitter: Delay | None = Field(None, examples=["10us", "0s"])
    """Each packet is held up to this long on its way out of its sender, uniformly and in order,
    which breaks phase effects between flows. By default the time that a packet of 1500 bytes takes
    on the slowest link of the way, at most 1 ms, where there are several flows; one alone, or those
    that arrive at random, are not held up."""

    clock_ppm: Number | None = Field(None, examples=[50, 0])
    """How far the clock of a host may be off, in millionths: the rate of its access link is drawn
    between so much less and so much more, as no two network cards send at exactly the same rate. By
    default 50 where there is an `edge_rate`."""

    host_delay: Delay = Field("0s", validate_default=True, examples=["20us"])
    """Time that a packet takes through the stack of each host, on its way out and on its way in. A
    round trip takes four of them and the `rtt`."""

    overhead: Overhead = Field("ip", examples=["ethernet"])
    """What a packet occupies on every link besides its IP bytes: `ethernet` adds 38 (preamble,
    header, checksum, gap); `ip` and `none` add nothing."""

    @model_validator(mode="after")
    def _waiting(self) -> Self:
        if self.edge_rate is None and self.edge_queue not in (None, UNLIMITED):
            raise idle_queue("edge_queue")
        if self.edge_rate is None and self.clock_ppm:
            raise InputError(
                "nothing shows a host's clock where the rate of its access link is unlimited",
                key="clock_ppm",
                value=self.clock_ppm,
                valid="an edge_rate, or no clock_ppm",
            )
        return self

    @field_validator("clock_ppm")
    @classmethod
    def _clock_limit(cls, ppm: float | None) -> float | None:
        if ppm is not None and ppm > CLOCK_PPM_MAX:
            raise InputError("no clock is so bad", valid=f"0 to {CLOCK_PPM_MAX}")
        return ppm
