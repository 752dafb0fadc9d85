"""From a checked scenario to the plain integers that an engine runs."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from dumbbell import catalogue
from dumbbell.errors import InputError
from dumbbell.units import NS_PER_S, QueueSize, format_time

if TYPE_CHECKING:
    from dumbbell.scenario.model import Flow, Loss, Network, Scenario

HEADER_BYTES: Final = 52
"""IP (20), TCP (20) and its timestamp option (12)."""

OVERHEAD_BYTES: Final[Mapping[str, int]] = {"none": 0, "ip": 0, "ethernet": 38}
"""Bytes on the wire beside the IP packet; Ethernet: preamble 8, header 14, FCS 4, gap 12."""

FLOWS_MAX: Final = 10_000
SAMPLES_MAX: Final = 20_000_000
"""Rows of one run's flow table: about 2 GB of memory while it runs."""

_PACKETS_MAX: Final = 2**32 - 2


@dataclass(frozen=True)
class ResolvedScenario:
    """What an engine runs, and the key under which its result is stored.

    Attributes
    ----------
    data
        The scenario in base units.
    json
        The same as canonical JSON: sorted keys, no spaces.
    key
        SHA-256 of everything that determines the result: the data, the engine, the schema
        and the sources of the algorithms.
    """

    data: Mapping[str, Any] = field(repr=False)
    json: str = field(repr=False)
    key: str

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> ResolvedScenario:
        """Complete the data by its canonical text and its key."""
        names = sorted({flow["algorithm"] for flow in data["flows"]})
        identity = {
            "scenario": data,
            "engine": catalogue.ENGINE_VERSION,
            "schema": catalogue.schema().version,
            "algorithms": {name: catalogue.algorithm(name).source_hash for name in names},
        }
        key = hashlib.sha256(canonical_json(identity).encode()).hexdigest()
        return cls(data, canonical_json(data), key)

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ResolvedScenario) and other.key == self.key


def canonical_json(value: Any) -> str:
    """Render JSON in the one form that is hashed."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def resolve(scenario: Scenario) -> ResolvedScenario:
    """Turn a scenario into base units; see `Scenario.resolve`."""
    return ResolvedScenario.of(
        {
            "seed": scenario.seed,
            "duration_ns": scenario.duration,
            "stack": {
                "profile": scenario.stack.profile,
                "switches": dict(scenario.stack.switches),
            },
            "network": _network(scenario),
            "flows": list(_flows(scenario)),
            "record": {
                "interval_ns": scenario.record.interval,
                "events": sorted(set(scenario.record.events)),
                "algorithm_state": scenario.record.algorithm_state,
            },
        }
    )


def _network(scenario: Scenario) -> dict[str, Any]:
    network = scenario.network
    reverse_rate = network.reverse.rate or network.rate
    wire_bytes = _wire_bytes(scenario)
    return {
        "rate_bps": network.rate,
        "delay_ns": network.delay,
        "queue": queue_limit(network.queue, network.rate, network.rtt, wire_bytes),
        "overhead_bytes": OVERHEAD_BYTES[network.overhead],
        "edge_rate_bps": network.edge_rate,
        "edge_jitter_ns": network.edge_jitter,
        "reverse": {
            "rate_bps": reverse_rate,
            "queue": queue_limit(network.reverse.queue, reverse_rate, network.rtt, wire_bytes),
        },
        "loss": [_loss(loss) for loss in network.loss if loss.probability > 0],
    }


def _loss(loss: Loss) -> dict[str, Any]:
    return {"place": loss.place, "probability": loss.probability}


def _wire_bytes(scenario: Scenario) -> int:
    """Return what the largest packet occupies on a link."""
    overhead_bytes = OVERHEAD_BYTES[scenario.network.overhead]
    return max(flow.packet for flow in scenario.flow) + overhead_bytes


def queue_limit(
    size: QueueSize, rate_bps: int, rtt_ns: int | None, wire_bytes: int
) -> dict[str, int]:
    """Resolve a queue's limit to packets or bytes.

    Time and BDP become whole packets of `wire_bytes`, rounded down: 0.2 of the BDP of
    100 Mbit/s and 82 ms is 136 packets of 1500 bytes. A share of the BDP smaller than a
    packet is one packet; any other limit that holds no packet is an InputError.
    """
    if size.unit == "bytes":
        if size.amount < wire_bytes:
            raise InputError(
                "smaller than one packet",
                value=str(size),
                valid=f"at least {wire_bytes}b, the largest packet on the wire",
            )
        return {"bytes": int(size.amount)}
    return {"packets": _queue_packets(size, rate_bps, rtt_ns, wire_bytes)}


def _queue_packets(size: QueueSize, rate_bps: int, rtt_ns: int | None, wire_bytes: int) -> int:
    per_ns = Fraction(rate_bps, 8 * NS_PER_S * wire_bytes)
    if size.unit == "packets":
        packets = int(size.amount)
    elif size.unit == "time":
        packets = int(size.amount * per_ns)
        if packets == 0:
            raise InputError(
                "smaller than one packet",
                value=str(size),
                valid=f"at least {format_time(-int(-1 // per_ns))}",
            )
    elif rtt_ns is None:
        raise InputError(
            "a queue in bdp refers to network.rtt, which is not set",
            value=str(size),
            valid="set network.rtt, or give the queue in packets, bytes or time",
        )
    else:
        packets = max(1, int(size.amount * rtt_ns * per_ns))
    if packets > _PACKETS_MAX:
        raise InputError("too large", value=str(size), valid=f"at most {_PACKETS_MAX} packets")
    return packets


def _flows(scenario: Scenario) -> Iterator[dict[str, Any]]:
    numbers: Counter[str] = Counter()
    position = 0
    for flow in scenario.flow:
        algorithm, preset = catalogue.split_preset(flow.algorithm)
        for number in range(1, flow.count + 1):
            numbers[algorithm.name] += 1
            default = f"{algorithm.name} {numbers[algorithm.name]}"
            yield {
                "label": _label(flow, number) or default,
                "algorithm": algorithm.name,
                "preset": preset,
                "parameters": dict(flow.parameters),
                "rtt_ns": flow.rtt or scenario.network.rtt,
                "start_ns": _start(scenario.seed, position, flow),
                "stop_ns": _stop(flow, scenario.duration),
                "bytes": flow.bytes,
                "packet_bytes": flow.packet,
                "header_bytes": HEADER_BYTES,
            }
            position += 1


def _label(flow: Flow, number: int) -> str | None:
    return f"{flow.label} {number}" if flow.label and flow.count > 1 else flow.label


def _start(seed: int, position: int, flow: Flow) -> int:
    """Draw the start of one flow, uniformly over whole nanoseconds."""
    span = flow.start.latest - flow.start.earliest + 1
    if span == 1:
        return flow.start.earliest
    digest = hashlib.sha256(f"dumbbell start {seed} {position}".encode()).digest()
    # 256 random bits against at most 62: the bias of the remainder is below 2^-190.
    return flow.start.earliest + int.from_bytes(digest) % span


def _stop(flow: Flow, duration_ns: int) -> int | None:
    """Return the stop, or None where the run ends first."""
    return flow.stop if flow.stop is not None and flow.stop < duration_ns else None


def check(scenario: Scenario) -> None:
    """Raise InputError for keys that contradict each other."""
    if not scenario.flow:
        raise InputError("no flows", key="flow", valid="at least one [[flow]]")
    for index, flow in enumerate(scenario.flow):
        _check_flow(scenario, flow, f"flow.{index}")
    _check_sizes(scenario)
    _check_labels(scenario)
    _check_queues(scenario.network, _wire_bytes(scenario))


def _check_flow(scenario: Scenario, flow: Flow, key: str) -> None:
    network = scenario.network
    rtt_ns = flow.rtt or network.rtt
    if rtt_ns is None:
        raise InputError(
            "is missing", key=f"{key}.rtt", valid="set it, or network.rtt for all flows"
        )
    if rtt_ns < 2 * network.delay:
        raise InputError(
            f"smaller than twice the bottleneck's delay of {format_time(network.delay)}",
            key=f"{key}.rtt",
            value=format_time(rtt_ns),
            valid=f"at least {format_time(2 * network.delay)}",
        )
    if flow.start.latest >= scenario.duration:
        raise InputError(
            f"not before the end of the run at {format_time(scenario.duration)}",
            key=f"{key}.start",
            value=format_time(flow.start.latest),
            valid=f"less than {format_time(scenario.duration)}",
        )


def _check_sizes(scenario: Scenario) -> None:
    flows = sum(flow.count for flow in scenario.flow)
    if flows > FLOWS_MAX:
        raise InputError(
            "too many flows in one scenario", key="flow", value=flows, valid=f"at most {FLOWS_MAX}"
        )
    interval_ns = scenario.record.interval
    if interval_ns is not None and scenario.duration // interval_ns * flows > SAMPLES_MAX:
        shortest_ns = scenario.duration * flows // SAMPLES_MAX + 1
        raise InputError(
            f"more than {SAMPLES_MAX} samples in one run",
            key="record.interval",
            value=format_time(interval_ns),
            valid=f'at least {format_time(shortest_ns)}, or "none"',
        )


def _check_labels(scenario: Scenario) -> None:
    for label, count in Counter(flow["label"] for flow in _flows(scenario)).items():
        if count > 1:
            raise InputError(
                "several flows have this label",
                key="flow.label",
                value=label,
                valid="a different label for each flow",
            )


def _check_queues(network: Network, wire_bytes: int) -> None:
    reverse = network.reverse
    places = [
        ("network.queue", network.queue, network.rate),
        ("network.reverse.queue", reverse.queue, reverse.rate or network.rate),
    ]
    for key, size, rate_bps in places:
        try:
            queue_limit(size, rate_bps, network.rtt, wire_bytes)
        except InputError as error:
            raise error.at(key=key) from None
