"""The summary of a run: what it comes to.

Generated from the types of Rust by `make docs`.
"""

from __future__ import annotations

from typing import Literal

from dumbbell.contract.part import Part


class Summary(Part, frozen=True, kw_only=True):
    """Summary of a run."""

    duration_ns: int
    """Length of the run in ns."""

    flows: tuple[FlowSummary, ...]
    """The flows in their order."""

    queues: tuple[QueueSummary, ...]
    """The sampled links in their order."""

    packets: int
    """Data packets that reached their receivers."""

    doubts: tuple[Doubt, ...]
    """Reasons to doubt that the run shows its algorithms; empty: none known."""

    testbed: TestbedSummary | None = None
    """Report of the testbed; none: the simulator ran it."""


class FlowSummary(Part, frozen=True, kw_only=True):
    """Summary of one flow.

    Packets are conserved: `sent_segs + duplicated_packets = received_packets + dropped_packets +
    lost_packets + in_flight_packets`.
    """

    flow: int
    """Index of the flow."""

    label: str
    """Its label."""

    algorithm: str | None
    """Its congestion-control algorithm; none for datagrams."""

    preset: str | None
    """The preset of the algorithm's parameters, if one was named."""

    start_ns: int
    """When it began, in ns."""

    end_ns: int
    """When it stopped or its transfer was complete, in ns; else the run's length."""

    sent_segs: int
    """Data segments sent, retransmissions included."""

    sent_bytes: int
    """Payload sent in bytes, retransmissions included."""

    retransmitted_segs: int
    """Retransmissions."""

    acked_bytes: int
    """Payload cumulatively acknowledged, in bytes."""

    received_bytes: int
    """Distinct payload that reached the receiver, in bytes."""

    received_packets: int
    """Data packets that reached the receiver, duplicates included."""

    dropped_packets: int
    """Data packets refused by full queues."""

    lost_packets: int
    """Data packets lost at random."""

    duplicated_packets: int
    """Data packets that a link sent twice."""

    marked_packets: int
    """Data packets that reached the receiver with a congestion mark."""

    counted_marks: int | None = None
    """Marked packets that its sender knows of; none: acknowledgements do not count them."""

    in_flight_packets: int
    """Data packets in the network when the run ended."""

    congestion_events: int
    """Reductions of the window."""

    timeouts: int
    """Retransmission timeouts."""

    spurious_recoveries: int
    """Reductions that proved spurious and were undone."""

    tail_probes: int | None
    """Tail loss probes sent; none: the kernel does not report them."""

    local_drops: int | None
    """Segments that their host's own queue refused, counted at each refusal; none: the kernel does
    not report them."""

    rtt_min_us: int | None
    """Smallest round-trip sample in us."""

    rtt_mean_us: int | None
    """Mean of the round-trip samples in us."""

    rtt_max_us: int | None
    """Largest round-trip sample in us."""

    delay: DelaySummary | None
    """One-way delays of its datagrams; none: it has none, or none arrived."""


class DelaySummary(Part, frozen=True, kw_only=True):
    """One-way delays of a flow's datagrams, from leaving their host to reaching the other."""

    min_ns: int
    """The smallest in ns."""

    mean_ns: int
    """Their mean in ns."""

    max_ns: int
    """The largest in ns."""

    jitter_ns: int | None
    """Jitter: by how much the delay of one datagram differs from that of the one that arrived
    before it (RFC 3393), on average, in ns; none: a single one arrived."""


class QueueSummary(Part, frozen=True, kw_only=True):
    """Summary of one queue.

    Packets are conserved: `arrived + duplicated = departed + dropped + lost + backlog at the end`.
    """

    name: str
    """The link's name."""

    arrived_packets: int
    """Packets that reached the link, with the lost and the dropped ones."""

    duplicated_packets: int
    """Packets that joined the queue a second time."""

    marked_packets: int
    """Packets that the queue marked."""

    departed_packets: int
    """Packets sent."""

    departed_bytes: int
    """Bytes on the wire sent."""

    dropped_packets: int
    """Packets refused by the full queue."""

    lost_packets: int
    """Packets lost at random before the queue."""

    backlog_packets: int
    """Packets waiting or being sent when the run ended."""

    backlog_packets_max: int
    """Most packets ever waiting or being sent."""

    waiting_bytes_mean: int
    """Bytes waiting for the transmitter, averaged over time."""


class Doubt(Part, frozen=True, kw_only=True):
    """Something that may have decided a run instead of its algorithms. The run is valid."""

    cause: Cause
    """The cause."""

    text: str
    """The same in words and numbers, with the flows that it concerns."""


Cause = Literal[
    "host",  # The bottleneck was a host's own interface.
    "locked-out",  # A flow met a full queue again and again where another never did.
    "phase",  # Dropped packets had come at one point of the service of another packet.
]
"""Causes that may decide a run instead of its algorithms."""


class TestbedSummary(Part, frozen=True, kw_only=True):
    """Report of a run in real time: lateness of the machine, and missing features."""

    kernel: str
    """Release of the kernel."""

    invalid: tuple[str, ...]
    """Reasons why the run is invalid; empty: it is valid."""

    not_offered: tuple[str, ...]
    """Features of the scenario's stack that this kernel cannot offer."""

    held_permille: int
    """Share of the time for which the emulator, and with it network and hosts, was delayed, in
    1/1000."""

    held_max_ns: int
    """Longest of these delays, in ns."""

    delivered_packets: int
    """Packets that the emulator delivered."""

    lateness_mean_ns: int
    """By how much it delivered them too late otherwise, in ns: on average, ..."""

    lateness_p99_ns: int
    """... exceeded by one packet in a hundred ..."""

    lateness_max_ns: int
    """... and at most."""

    waiting_p99_ns: int
    """Time that packets waited before the emulator took them, at most, in ns: exceeded by one
    packet in a hundred."""

    emulator_busy_permille: int
    """Share of the time in which the emulator had work to do, in 1/1000."""

    traffic_busy_permille: int
    """Share of the time in which the applications' thread had work to do, in 1/1000."""

    traffic_held_permille: int
    """Share of the time for which the applications' thread was delayed, in 1/1000."""

    traffic_held_max_ns: int
    """Longest of these delays, in ns."""

    starved_permille: int
    """Share of the time in which flows with data without end waited for their application to hand
    it over, in 1/1000."""

    window_limited_permille: int
    """Share of the time in which flows waited for their receiver's window that was not asked to be
    small, in 1/1000."""

    stolen_permille: int
    """Share of the machine's time that its host gave to others, in 1/1000."""

    local_drops: int
    """Packets that got lost between a host and the emulator."""

    datagrams_sent_permille: int | None
    """Share of the requested datagrams that were sent, in 1/1000; none: no datagrams."""
