"""Captures of transfers whose truth is known, byte by byte, and ways to damage them.

`transfer` yields when which segment passes a place of the path. `pcap` and `pcapng` write that as
tools do, behind the header of any link.
"""

from __future__ import annotations

import ipaddress
import random
import struct
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Final

MSS: Final = 1448
CLIENT: Final = "10.0.0.1"
SERVER: Final = "10.0.1.1"
PORTS: Final = (40_000, 5001)

SYN, ACK = 0x02, 0x10


@dataclass(frozen=True)
class Segment:
    """A TCP segment, and the time in seconds at which it is captured."""

    time_s: float
    source: str = CLIENT
    destination: str = SERVER
    ports: tuple[int, int] = PORTS
    sequence: int = 0
    acknowledgement: int = 0
    flags: int = ACK
    payload: int = 0
    timestamps: tuple[int, int] | None = None
    window: int = 4096
    is_opening: bool = False
    number: int = 0

    def packet(self, *, says_length: bool = True) -> bytes:
        """Return IP and TCP headers; the payload is not stored."""
        options = b"" if not self.is_opening else b"\x02\x04\x05\xb4\x03\x03\x08\x01"
        if self.timestamps is not None:
            options += b"\x01\x01\x08\x0a" + struct.pack(">II", *self.timestamps)
        tcp = struct.pack(
            ">HHIIBBHHH",
            *self.ports,
            self.sequence % 2**32,
            self.acknowledgement % 2**32,
            (5 + len(options) // 4) << 4,
            self.flags,
            self.window,
            0,
            0,
        )
        body = tcp + options
        source, destination = map(ipaddress.ip_address, (self.source, self.destination))
        bytes_behind = len(body) + self.payload if says_length else 0
        if source.version == 6:
            head = struct.pack(">IHBB", 6 << 28, bytes_behind, 6, 64)
        else:
            total = bytes_behind and 20 + bytes_behind
            head = struct.pack(">BBHHHBBH", 0x45, 0, total, self.number % 2**16, 0x4000, 64, 6, 0)
        return head + source.packed + destination.packed + body


@dataclass(frozen=True)
class Transfer:
    """A path and what goes over it: a segment every `gap_s`, answered after a round trip.

    Places are shares of the way: 0 is the sender, 1 the receiver.
    """

    rtt_s: float = 0.04
    gap_s: float = 0.001
    segments: int = 400
    start_s: float = 1_700_000_000.0
    first: int = 1000
    client: str = CLIENT
    server: str = SERVER
    ports: tuple[int, int] = PORTS
    has_timestamps: bool = True
    has_handshake: bool = True
    is_download: bool = False
    """The server sends."""
    lost: frozenset[int] = frozenset()
    late: frozenset[int] = frozenset()
    """Overtaken by the three behind them, on the way to the receiver."""
    delayed: frozenset[int] = frozenset()
    """Acknowledged 40 ms after they arrive."""
    at_once: int = 1
    """Segments that a sender hands to its card as one packet."""

    def seen(self, place: float) -> list[Segment]:
        """Return what passes a place, in the order of time."""
        segments = self._handshake(place) if self.has_handshake else []
        segments += self._data(place)
        ordered = sorted(segments, key=lambda segment: segment.time_s)
        return [replace(segment, number=number) for number, segment in enumerate(ordered, start=1)]

    def _clock(self, time_s: float) -> int:
        return round((time_s - self.start_s) * 1000) + 1_000_000

    def _of_client(self, time_s: float, **more: object) -> Segment:
        return Segment(time_s, self.client, self.server, self.ports, **more)  # type: ignore[arg-type]

    def _of_server(self, time_s: float, **more: object) -> Segment:
        ports = self.ports[::-1]
        return Segment(time_s, self.server, self.client, ports, **more)  # type: ignore[arg-type]

    def _handshake(self, place: float) -> list[Segment]:
        # Of a download, the client is the receiver of the data.
        near = (1 - place if self.is_download else place) * self.rtt_s / 2
        far = self.rtt_s / 2 - near
        stamps = (1, 1) if self.has_timestamps else None
        opening = {"is_opening": True, "timestamps": stamps, "window": 65535}
        mine, other = self.first - 1, 4999
        if self.is_download:
            mine, other = other, mine
        syn_s = self.start_s - 2 * self.rtt_s + near
        return [
            self._of_client(syn_s, sequence=mine, flags=SYN, **opening),
            self._of_server(
                syn_s + 2 * far,
                sequence=other,
                acknowledgement=mine + 1,
                flags=SYN | ACK,
                **opening,
            ),
            self._of_client(
                syn_s + 2 * (far + near),
                sequence=mine + 1,
                acknowledgement=other + 1,
                timestamps=stamps,
            ),
        ]

    def _data(self, place: float) -> list[Segment]:
        half_s = self.rtt_s / 2
        sent = [(self.start_s + number * self.gap_s, number) for number in range(self.segments)]
        sent += [
            (self.start_s + number * self.gap_s + 3 * self.rtt_s, number) for number in self.lost
        ]
        arrivals = []
        packets = []
        firsts = set()
        for sent_s, number in sorted(sent):
            is_lost = number in self.lost and number not in firsts
            is_late = number in self.late
            firsts.add(number)
            late_s = 3.5 * self.gap_s if is_late else 0.0
            if not is_lost:
                arrivals.append((sent_s + half_s + late_s, sent_s, number))
            if place < 1 or not is_lost:
                seen_s = sent_s + place * half_s + (late_s if place > 0 else 0.0)
                packets.append((seen_s, sent_s, number))
        answers = self._answers(sorted(arrivals))
        heard = sorted(
            (answered_s + half_s, (index, value))
            for index, (value, answered_s, _) in enumerate(answers)
        )
        times = [heard_s for heard_s, _ in heard]
        latest = [1, *(value for _, value in accumulate((answer for _, answer in heard), max))]
        segments = []
        for seen_s, sent_s, number in packets:
            if number % self.at_once:
                continue
            stamps = (self._clock(sent_s), latest[bisect_right(times, sent_s)])
            segments.append(
                self._sender(
                    seen_s,
                    sequence=self.first + number * MSS,
                    acknowledgement=5000,
                    payload=min(self.at_once, self.segments - number) * MSS,
                    timestamps=stamps if self.has_timestamps else None,
                )
            )
        for value, answered_s, acknowledged in answers:
            segments.append(
                self._receiver(
                    answered_s + (1 - place) * half_s,
                    sequence=5000,
                    acknowledgement=self.first + acknowledged * MSS,
                    timestamps=(value, self._clock(answered_s - half_s))
                    if self.has_timestamps
                    else None,
                )
            )
        return segments

    @property
    def _sender(self) -> Callable[..., Segment]:
        return self._of_server if self.is_download else self._of_client

    @property
    def _receiver(self) -> Callable[..., Segment]:
        return self._of_client if self.is_download else self._of_server

    def _answers(
        self, arrivals: Sequence[tuple[float, float, int]]
    ) -> list[tuple[int, float, int]]:
        """Return timestamp, time and what is acknowledged, for each segment that arrives."""
        there: set[int] = set()
        acknowledged = 0
        answers = []
        for arrived_s, _, number in arrivals:
            answered_s = arrived_s + (0.04 if number in self.delayed else 0.0)
            there.add(number)
            while acknowledged in there:
                acknowledged += 1
            answers.append((self._clock(answered_s), answered_s, acknowledged))
        return answers


def together(*views: Iterable[Segment]) -> list[Segment]:
    """Return the packets of several transfers in the order of time."""
    return sorted(
        (segment for view in views for segment in view), key=lambda segment: segment.time_s
    )


Link = tuple[int, Callable[[bytes], bytes]]


def _kind(packet: bytes) -> bytes:
    return b"\x86\xdd" if packet[0] >> 4 == 6 else b"\x08\x00"


MACS: Final = bytes(range(12))

LINKS: Final[dict[str, Link]] = {
    "ethernet": (1, lambda it: MACS + _kind(it) + it),
    "vlan": (1, lambda it: MACS + b"\x81\x00\x00\x07" + _kind(it) + it),
    "qinq": (1, lambda it: MACS + b"\x88\xa8\x00\x05\x81\x00\x00\x07" + _kind(it) + it),
    "pppoe": (1, lambda it: MACS + b"\x88\x64\x11\x00\x00\x01\x00\x2a\x00\x21" + it),
    "ethernet with checksum": (1 | 0x24000000, lambda it: MACS + _kind(it) + it + bytes(4)),
    "raw": (101, lambda it: it),
    "raw of BSD": (12, lambda it: it),
    "raw of OpenBSD": (14, lambda it: it),
    "ipv4": (228, lambda it: it),
    "null": (0, lambda it: b"\x02\x00\x00\x00" + it),
    "null of a big-endian host": (0, lambda it: b"\x00\x00\x00\x02" + it),
    "loop": (108, lambda it: b"\x00\x00\x00\x02" + it),
    "cooked": (113, lambda it: bytes(14) + _kind(it) + it),
    "cooked with a VLAN": (113, lambda it: bytes(14) + b"\x81\x00\x00\x07" + _kind(it) + it),
    "cooked 2": (276, lambda it: _kind(it) + bytes(18) + it),
    "ppp": (9, lambda it: b"\xff\x03\x00\x21" + it),
    "ppp without address": (50, lambda it: b"\x00\x21" + it),
}
"""Link types, and how frames of them look."""


def pcap(
    segments: Iterable[Segment],
    link: str = "ethernet",
    *,
    order: str = "<",
    nanoseconds: bool = False,
    snap: int = 262_144,
    says_length: bool = True,
) -> bytes:
    """Return a pcap file; frames are cut to `snap` bytes."""
    number, framed = LINKS[link]
    magic, per_s = (0xA1B23C4D, 10**9) if nanoseconds else (0xA1B2C3D4, 10**6)
    parts = [struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, snap, number)]
    for segment in segments:
        frame = framed(segment.packet(says_length=says_length))
        original, frame = len(frame) + segment.payload, frame[:snap]
        ticks = round(segment.time_s * per_s)
        head = (ticks // per_s, ticks % per_s, len(frame), original)
        parts.append(struct.pack(order + "IIII", *head) + frame)
    return b"".join(parts)


def _block(order: str, kind: int, content: bytes) -> bytes:
    padded = content + bytes(-len(content) % 4)
    size = struct.pack(order + "I", len(padded) + 12)
    return struct.pack(order + "I", kind) + size + padded + size


def pcapng(
    segments: Iterable[Segment],
    link: str = "ethernet",
    *,
    order: str = "<",
    resolution: int = 6,
    offset_s: int = 0,
) -> bytes:
    """Return a section of a pcapng file, with an interface that sees nothing before the other."""
    number, framed = LINKS[link]
    per_s = 2 ** (resolution & 0x7F) if resolution & 0x80 else 10**resolution
    options = struct.pack(order + "HHB3x", 9, 1, resolution)
    options += struct.pack(order + "HHq", 14, 8, offset_s) + bytes(4)
    interface = struct.pack(order + "HHI", number & 0xFFFF, 0, 0)
    parts = [
        _block(order, 0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1)),
        _block(order, 1, struct.pack(order + "HHI", 147, 0, 0)),
        _block(order, 1, interface + options),
    ]
    for segment in segments:
        frame = framed(segment.packet())
        ticks = round((segment.time_s - offset_s) * per_s)
        sizes = (len(frame), len(frame) + segment.payload)
        head = struct.pack(order + "IIIII", 1, ticks >> 32, ticks % 2**32, *sizes)
        parts.append(_block(order, 6, head + frame + bytes(-len(frame) % 4)))
    return b"".join(parts)


def samples() -> list[bytes]:
    """Return small captures of every kind, to be damaged."""
    short = Transfer(segments=40, lost=frozenset({9}), late=frozenset({20}))
    views = [short.seen(place) for place in (0.0, 0.5, 1.0)]
    files = [pcap(views[0], link) for link in LINKS]
    files += [pcap(view, order=order) for view in views for order in "<>"]
    files += [pcap(views[0], snap=60), pcap(views[0], nanoseconds=True)]
    files += [pcapng(view, order=order) for view in views for order in "<>"]
    return files


_EDGES: Final = (0, 1, 0x7F, 0x80, 0xFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)


def mutated(content: bytes, chance: random.Random) -> bytes:
    """Damage a file in a few places: bytes, numbers, and parts that are lost, moved or repeated."""
    changed = bytearray(content)
    for _ in range(chance.randint(1, 8)):
        if not changed:
            break
        place = chance.randrange(len(changed))
        part = slice(place, place + chance.choice((1, 4, 16, 100, 2000)))
        match chance.randrange(7):
            case 0:
                changed[place] = chance.randrange(256)
            case 1:
                number = struct.pack(chance.choice("<>") + "I", chance.choice(_EDGES))
                at = place - place % 4
                changed[at : at + 4] = number
            case 2:
                del changed[part]
            case 3:
                changed[place:place] = changed[part] * chance.choice((1, 2, 50))
            case 4:
                taken = changed[part]
                del changed[part]
                at = chance.randrange(len(changed) + 1)
                changed[at:at] = taken
            case 5:
                del changed[place:]
            case _:
                changed[part] = chance.randbytes(len(changed[part]))
    return bytes(changed)
