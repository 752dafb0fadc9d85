"""A transfer over a path that is known, and how a tool sees it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from dumbbell.base.units import PACKET_BITS, parse_queue, parse_rate, parse_time
from dumbbell.experiments.imports.limits import Kind

Seen = Literal["capture", "iperf3 at 1 s", "iperf3 at 0.1 s"]
"""A capture at the sender, or an iperf3 client's report with such intervals."""


@dataclass(frozen=True)
class Truth:
    """Real values of a path; None for a value that this transfer cannot show."""

    rate_bps: float | None
    rtt_ms: float | None
    buffer_packets: float | None


@dataclass(frozen=True)
class Case:
    """A scenario of one flow, and how it is seen.

    `limit` is what limits the flow.
    """

    scenario: Mapping[str, Any]
    seen: Seen
    limit: Kind = "path"

    @property
    def flow(self) -> Mapping[str, Any]:
        """The only flow."""
        flow: Mapping[str, Any] = self.scenario["flow"][0]
        return flow

    @property
    def name(self) -> str:
        """Its name among the others."""
        network = self.scenario["network"]
        path = f"{network['rate']} {network['rtt']} {network['queue']}"
        limited = "" if self.limit == "path" else f", limited by the {self.limit}"
        return f"{self.flow['algorithm']} {path}{limited}, {self.seen}"

    @property
    def truth(self) -> Truth:
        """The real path; a flow that does not fill it shows its RTT alone."""
        network = self.scenario["network"]
        rate_bps, rtt_ns = parse_rate(network["rate"]), parse_time(network["rtt"])
        if self.limit != "path":
            return Truth(None, rtt_ns / 1e6, None)
        share = parse_queue(network["queue"]).amount
        packets = int(share * rate_bps * rtt_ns / (10**9 * PACKET_BITS))
        return Truth(rate_bps, rtt_ns / 1e6, max(packets, 1))


def case(
    path: str, algorithm: str, seen: Seen, duration: str, limit: Kind = "path", **flow: Any
) -> Case:
    """Return a case whose path is rate, RTT and buffer in BDP: ``100mbit 20ms 0.5bdp``."""
    rate, rtt, queue = path.split()
    network = {"rate": rate, "rtt": rtt, "queue": queue}
    interval = {"capture": "none", "iperf3 at 1 s": "1s", "iperf3 at 0.1 s": "100ms"}[seen]
    scenario = {
        "duration": duration,
        "network": network,
        "flow": [{"algorithm": algorithm, "label": "flow", **flow}],
        "record": {"interval": interval},
    }
    return Case(scenario, seen, limit)
