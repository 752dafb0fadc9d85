"""Excerpts of captures: the packets of some flows, or of some time."""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from dumbbell.base.errors import InputError, unknown
from dumbbell.base.units import format_time
from dumbbell.contract.scenario import Scenario
from dumbbell.scenario import facts

CLOCK_AT_START_NS: Final = 10**9
"""Time on the clock of a capture when the run begins, in ns (crates/capture)."""

# An enhanced packet block, in words of 4 bytes (pcapng, section 4.3), and the headers in it.
_PACKET: Final = 6
_HIGH, _LOW, _HEADERS = 3, 4, 7
_PROTOCOL_BYTE, _SOURCE, _FLAGS_BYTE = 9, 3, 33
_TCP: Final = 6
_SYN: Final = 2
_HOST_MASK: Final = 0x7F_FFFF
_length = struct.Struct("<I").unpack_from


@dataclass(frozen=True)
class Excerpt:
    """A selection of the packets of a run.

    Attributes
    ----------
    flows
        The numbers of their flows; None: of all.
    start_ns, end_ns
        When they pass: from the first of these times on, and before the second; None: to the end.
    """

    flows: Collection[int] | None = None
    start_ns: int = 0
    end_ns: int | None = None

    @classmethod
    def of(
        cls, scenario: Scenario, labels: Sequence[str], start_ns: int | None, end_ns: int | None
    ) -> Excerpt:
        """Find the flows by label, and refuse what no packet can be in.

        A label is that of a flow, or what equal flows have in common: ``page`` of ``page 7``.
        """
        start_ns = start_ns or 0
        if start_ns >= scenario.duration_ns:
            _refuse("pcap_from", start_ns, f"before {format_time(scenario.duration_ns)}, the end")
        if end_ns is not None and end_ns <= start_ns:
            _refuse("pcap_to", end_ns, f"after {format_time(start_ns)}, where it begins")
        numbers = {number for label in labels for number in _flows(scenario, label)}
        return cls(frozenset(numbers) if labels else None, start_ns, end_ns)

    @property
    def is_whole(self) -> bool:
        """True if nothing is left out."""
        return self == Excerpt()

    def bytes_of(self, capture: bytes) -> bytes:
        """Return a capture with the selected packets alone.

        The opening packets of selected connections stay, whenever they begin: readers learn from
        them how windows are scaled.
        """
        if self.is_whole:
            return capture
        ends = np.fromiter(_ends(capture), np.int64)
        begins = np.concatenate(([0], ends[:-1]))
        kept = self._kept(capture, begins)
        # Neighbours go together: of a time window that is nearly all in one piece.
        edges = np.flatnonzero(np.diff(np.concatenate(([False], kept, [False]))))
        view = memoryview(capture)
        return b"".join(
            view[begins[first] : ends[last - 1]] for first, last in edges.reshape(-1, 2).tolist()
        )

    def _kept(self, capture: bytes, begins: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Return, for each block, whether it stays; blocks without a packet do."""
        octets, words = np.frombuffer(capture, np.uint8), np.frombuffer(capture, "<u4")
        kept = np.ones(len(begins), bool)
        packets = np.flatnonzero(words[begins // 4] == _PACKET)
        at = begins[packets] // 4
        clock_ns = (words[at + _HIGH].astype(np.int64) << 32) | words[at + _LOW]
        time_ns = clock_ns - CLOCK_AT_START_NS
        inside = time_ns >= self.start_ns
        if self.end_ns is not None:
            inside &= time_ns < self.end_ns
        headers = begins[packets] + 4 * _HEADERS
        tcp = octets[headers + _PROTOCOL_BYTE] == _TCP
        # Datagrams end before the flags, but the block's own end is still in the file.
        last = len(octets) - 1
        opening = tcp & (octets[np.minimum(headers + _FLAGS_BYTE, last)] & _SYN != 0)
        selected = inside | opening
        if self.flows is not None:
            # Addresses are in network byte order, and the words were read as little-endian.
            hosts = words[at + _HEADERS + _SOURCE].byteswap() & _HOST_MASK
            selected &= np.isin(hosts.astype(np.int64) - 1, sorted(self.flows))
        kept[packets] = selected
        return kept


def _flows(scenario: Scenario, label: str) -> list[int]:
    labels = [flow.label for flow in scenario.flows]
    numbers = [
        number
        for number, known in enumerate(labels)
        if label in (known, facts.whole(known), facts.family(known))
    ]
    if not numbers:
        raise unknown("flow", label, labels).at(key="pcap_flow")
    return numbers


def _refuse(key: str, time_ns: int, valid: str) -> None:
    raise InputError("no packet is there", key=key, value=format_time(time_ns), valid=valid)


def _ends(capture: bytes) -> Iterator[int]:
    """Yield where each block of a file ends."""
    at = 0
    while at < len(capture):
        at += _length(capture, at + 4)[0]
        yield at
