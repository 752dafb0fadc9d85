"""Arithmetic for a testbed of 10 Gbit/s Ethernet and rings of fibre.

Sources: IEEE 802.3 (framing: 8 bytes of preamble, 14 of header, 4 of checksum and a gap of 12) and
Lukaseder et al. 2016, Sections III-B and IV.
"""

from __future__ import annotations

import math
from typing import Final

ETHERNET_BYTES: Final = 38
"""Size of a frame on the wire besides its IP packet, in bytes."""

HEADER_BYTES: Final = 40
"""IP and TCP headers without options."""


def ethernet_goodput_gbit(rate_gbit: float = 10, packet_bytes: float = 1500) -> float:
    """Return the payload rate of full packets without timestamps on a busy Ethernet link."""
    return rate_gbit * (packet_bytes - HEADER_BYTES) / (packet_bytes + ETHERNET_BYTES)


def outstanding_rtt_ms(packets: float, rate_gbit: float = 10, packet_bytes: float = 1500) -> float:
    """Return the round-trip time of a busy Ethernet link while so many packets are outstanding."""
    return packets * 8 * (packet_bytes + ETHERNET_BYTES) / (rate_gbit * 1e6)


def clamped_flows_held(
    clamp_packets: float, buffer_mb: float, rtt_us: float, rate_gbit: float = 10
) -> float:
    """Return how many flows with a clamped window a busy Ethernet link and its buffer hold."""
    held_bytes = buffer_mb * 1e6 + rate_gbit * 1e3 * rtt_us / 8
    return held_bytes / ((1500 + ETHERNET_BYTES) * clamp_packets)


def loss_probability(losses: float, seconds: float, rate_gbit: float = 10) -> float:
    """Return the share of packets lost if so many are, on a busy link, in some time."""
    packets = seconds * rate_gbit * 1e9 / (8 * (1500 + ETHERNET_BYTES))
    return losses / packets


def rings_rtt_ms(rings: float, base_ms: float = 0.2, ring_ms: float = 6.0) -> float:
    """Return the round-trip time over some of the rings, which add it one to the other."""
    return base_ms + rings * ring_ms


def planned_runs(
    variants: float, rtts: float, settings: float, repetitions: float, left_out: float = 0
) -> float:
    """Return the runs of a grid of variants, RTTs and further settings, some of it left out."""
    return (variants * rtts * settings - left_out) * repetitions


def ewma_samples(weight: float, share: float = 0.8) -> float:
    """Return after how many samples a moving average over a constant reaches a share of it."""
    return math.ceil(math.log(1 - share) / math.log(1 - weight))
