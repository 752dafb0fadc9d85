"""Connection of hosts to any network."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, Self

from pydantic import Field, field_validator, model_validator

from dumbbell.base.errors import InputError
from dumbbell.base.units import NS_PER_S, Count, Delay, EdgeRate, Number, Packets
from dumbbell.scenario.disciplines.drop_tail import UNLIMITED
from dumbbell.scenario.model_queues import QueueSpec
from dumbbell.scenario.tables import Table

Overhead = Literal["none", "ip", "ethernet"]

OVERHEAD_BYTES: Final[Mapping[Overhead, int]] = {"none": 0, "ip": 0, "ethernet": 38}
"""What links carry in addition to an IP packet; Ethernet: preamble 8, header 14, FCS 4, gap 12."""


CLOCK_PPM: Final = 50
"""Default error of clocks in ppm; IEEE 802.3 lets those of Ethernet be off by 100."""

CLOCK_PPM_MAX: Final = 1000


def idle_queue(key: str) -> InputError:
    """Return the error for a queue that never fills."""
    return InputError(
        "nothing waits where the rate is unlimited", key=key, valid="a rate, or no queue"
    )


class Hosts(Table):
    """Connection of hosts to the network, for all topologies."""

    edge_rate: EdgeRate = Field("unlimited", validate_default=True, examples=["1gbit", "unlimited"])
    """Rate of each sender's access link."""

    edge_queue: QueueSpec | None = Field(
        None, examples=["1000p", "unlimited", {"discipline": "fq"}]
    )
    """Queue of each sender's access link, in its network card. The default is the queue of Linux at
    the time of the sender's stack. This is 1000 packets first in, first out (`pfifo_fast`). From
    `linux-4.14` on it is `fq-codel`, which systemd sets. If the switch `pacing` is `fq`, the
    default is `fq`. Linux counts a chunk as one packet, so the limits are 44 times larger if the
    switch `tso` is on."""

    edge_jitter: Delay | None = Field(None, examples=["10us", "0s"])
    """Longest random delay of a packet in its sender. Delays are uniformly distributed, and packets
    keep their order. They break phase effects between flows. If there are several flows, the
    default is the transmission time of 1500 bytes on the slowest link of the path, at most 1 ms. A
    lone flow and flows that arrive at random have no delay by default."""

    clock_ppm: Number | None = Field(None, examples=[50, 0])
    """Largest error of a host's clock, in millionths. The rate of its access link is drawn from
    this range, because no two network cards send at exactly the same rate. By default 50 where
    there is an `edge_rate`."""

    host_delay: Delay = Field("0s", validate_default=True, examples=["20us"])
    """Time of a packet in the stack of each host, both when it leaves and when it arrives. A round
    trip takes the `rtt` and four times this delay."""

    receive_rate: Count | None = Field(None, examples=[800_000])
    """Packets of data per second that the processor of each receiving host takes off its card,
    whatever their sizes. By default the processor is never too slow. Flows of one `host` to one
    place share a receiving host."""

    receive_ring: Packets | None = Field(None, examples=["256p"])
    """Packets that the ring of the receiving card holds, without the packet in the processor. A
    packet that finds the ring full is lost. By default the ring is never full. It needs a
    `receive_rate`."""

    overhead: Overhead = Field("ip", examples=["ethernet"])
    """Bytes that a packet occupies on every link besides its IP bytes. `ethernet` adds 38
    (preamble, header, checksum, gap); `ip` and `none` add nothing."""

    @model_validator(mode="after")
    def _waiting(self) -> Self:
        if self.edge_rate is None and self.edge_queue not in (None, UNLIMITED):
            raise idle_queue("edge_queue")
        if self.edge_rate is None and self.clock_ppm:
            raise InputError(
                "a host's clock has no effect if the rate of its access link is unlimited",
                key="clock_ppm",
                value=self.clock_ppm,
                valid="an edge_rate, or no clock_ppm",
            )
        if self.receive_ring is not None and self.receive_rate is None:
            raise InputError(
                "no packet waits in the ring without a receive_rate",
                key="receive_ring",
                value=f"{self.receive_ring}p",
                valid="a receive_rate, or no receive_ring",
            )
        return self

    @field_validator("receive_rate")
    @classmethod
    def _receive_limit(cls, rate: int | None) -> int | None:
        if rate is not None and rate > NS_PER_S:
            raise InputError("a packet takes less than a nanosecond", valid=f"1 to {NS_PER_S}")
        return rate

    @field_validator("clock_ppm")
    @classmethod
    def _clock_limit(cls, ppm: float | None) -> float | None:
        if ppm is not None and ppm > CLOCK_PPM_MAX:
            raise InputError("no clock is so bad", valid=f"0 to {CLOCK_PPM_MAX}")
        return ppm
