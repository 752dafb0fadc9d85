"""How hosts are connected to any network."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, Self

from pydantic import Field, model_validator

from dumbbell.errors import InputError
from dumbbell.scenario.model_queues import UNLIMITED, QueueSpec
from dumbbell.scenario.tables import Table
from dumbbell.units import EdgeRate, Time

Overhead = Literal["none", "ip", "ethernet"]

OVERHEAD_BYTES: Final[Mapping[Overhead, int]] = {"none": 0, "ip": 0, "ethernet": 38}
"""What links carry beside an IP packet; Ethernet: preamble 8, header 14, FCS 4, gap 12."""


def idle_queue(key: str) -> InputError:
    """Return the error for a queue that never fills."""
    return InputError(
        "nothing waits where the rate is unlimited", key=key, valid="a rate, or no queue"
    )


class Hosts(Table):
    """How hosts are connected, whatever the network."""

    edge_rate: EdgeRate = Field("unlimited", validate_default=True, examples=["1gbit", "unlimited"])
    """Rate of each sender's access link."""

    edge_queue: QueueSpec = Field(
        "unlimited", validate_default=True, examples=["1000p", "unlimited"]
    )
    """Queue of each sender's access link, in its network card."""

    edge_jitter: Time = Field("0s", validate_default=True, examples=["10us"])
    """Each packet is held up to this long in its sender, uniformly and in order; breaks phase
    effects between flows."""

    overhead: Overhead = Field("ip", examples=["ethernet"])
    """What a packet occupies on every link beside its IP bytes: `ethernet` adds 38 (preamble,
    header, checksum, gap); `ip` and `none` add nothing."""

    @model_validator(mode="after")
    def _waiting(self) -> Self:
        if self.edge_rate is None and self.edge_queue != UNLIMITED:
            raise idle_queue("edge_queue")
        return self
