"""Common applications kept enhanced: the queue of home gateways."""

from __future__ import annotations

from typing import Any, Final, Literal, Self

from pydantic import Field, field_validator, model_validator

from dumbbell.base.errors import InputError
from dumbbell.base.units import Duration, Integer, Limit, Rate, Volume, format_time
from dumbbell.scenario.disciplines.base import Discipline, Passing
from dumbbell.scenario.sizing import Sizing

ISOLATIONS: Final = {
    "flowblind": "nothing",
    "srchost": "source",
    "dsthost": "destination",
    "hosts": "hosts",
    "flows": "flows",
    "dual-srchost": "dual-source",
    "dual-dsthost": "dual-destination",
    "triple-isolate": "triple",
}
"""The engine's words for those of tc-cake(8)."""

_RTT_MIN_NS: Final = 1000
_HEADERS_MAX: Final = 256
"""Bytes that a link may add to a packet, or take for the smallest one."""


class Cake(Discipline):
    """CAKE (Høiland-Jørgensen, Täht and Morton 2018): fair shares of hosts and their flows.

    There are 1024 queues, each with CoDel and BLUE. A flow may have any of eight of them. `rate`
    shapes the traffic. Names and defaults are those of tc-cake(8). All packets are of one class
    (`besteffort`).
    """

    discipline: Literal["cake"]

    limit: Limit = Field("4mb", validate_default=True, examples=["4mb"])
    """Limit of all queues together (`memlimit`, which Linux derives from `bandwidth` and `rtt`)."""

    rate: Rate | None = Field(None, examples=["20mbit", "5mbit"])
    """Rate to which it shapes, for a slower link further on (`bandwidth`); by default the link's
    own."""

    rtt: Duration = Field("100ms", validate_default=True, examples=["100ms"])
    """Largest usual round-trip time: CoDel's interval. Its target is a twentieth of it."""

    isolate: Literal[
        "flowblind",
        "srchost",
        "dsthost",
        "hosts",
        "flows",
        "dual-srchost",
        "dual-dsthost",
        "triple-isolate",
    ] = Field("triple-isolate", examples=list(ISOLATIONS))
    """Who gets equal shares: nobody, hosts, pairs of hosts, flows, or hosts and, within each host,
    its flows. The sending hosts are those that flows name (`host`). Each flow has its own receiving
    host."""

    ack_filter: Literal["off", "conservative", "aggressive"] = Field(
        "off", examples=["conservative", "aggressive", "off"]
    )
    """Filter that drops acknowledgements which later ones in the queue cover. The last two stay
    (`ack-filter`), or only the last one (`ack-filter-aggressive`). Acknowledgements with an ECN
    echo or SACK blocks also stay. In the simulator only."""

    overhead: Integer | None = Field(None, examples=[32, 0])
    """Bytes beyond IP that count for `rate`; by default those of this link."""

    mpu: Integer = Field(0, examples=[0, 84])
    """Least bytes that a packet counts for `rate`, even if it is smaller."""

    framing: Literal["none", "atm", "ptm"] = Field("none", examples=["atm", "ptm", "none"])
    """Framing that counts for `rate`: cells of 53 bytes for 48 (`atm`), or a byte for each 64
    (`ptm`)."""

    quantum: Volume = Field(1514, examples=[1514, 300])
    """Bytes that a queue may send in its turn if its hosts have no other queue."""

    @field_validator("rtt")
    @classmethod
    def _long(cls, rtt_ns: int) -> int:
        if rtt_ns < _RTT_MIN_NS:
            raise InputError("too short", value=format_time(rtt_ns), valid="at least 1us")
        return rtt_ns

    @field_validator("overhead", "mpu")
    @classmethod
    def _small(cls, size_bytes: int | None) -> int | None:
        if size_bytes is not None and size_bytes > _HEADERS_MAX:
            raise InputError("too large", value=size_bytes, valid=f"0 to {_HEADERS_MAX}")
        return size_bytes

    @model_validator(mode="after")
    def _shapes(self) -> Self:
        for key in ("overhead", "mpu", "framing"):
            value = getattr(self, key)
            if self.rate is None and value != type(self).model_fields[key].get_default():
                raise InputError(
                    "nothing is shaped without a rate",
                    key=key,
                    value=value,
                    valid=f"a rate of this queue, or no {key}",
                )
        return self

    @classmethod
    def marks(cls, resolved: Any) -> bool:  # noqa: ARG003 - it always does
        """Return True."""
        return True

    def fields(self, sizing: Sizing, passing: Passing) -> dict[str, Any]:  # noqa: ARG002 - no sizes
        """Return the parameters in base units, by the keys of the engine."""
        shaper = {
            "rate_bps": self.rate,
            "overhead_bytes": self.overhead,
            "mpu_bytes": self.mpu,
            "framing": self.framing,
        }
        return {
            "interval_ns": self.rtt,
            "quantum_bytes": self.quantum,
            "isolation": ISOLATIONS[self.isolate],
            "hosts": passing.hosts,
            "ack_filter": self.ack_filter,
            "shaper": None if self.rate is None else shaper,
        }
