"""The transfers: rates, RTTs, buffers, algorithms, limits."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle
from typing import Final

from dumbbell.base.units import parse_rate, parse_time
from fidelity.imported.case import Case, Seen, case

_ALGORITHMS: Final = ("cubic", "reno", "bbr", "htcp", "westwood", "illinois", "cubic")

_CAPTURED: Final = (
    "1mbit 300ms", "5mbit 100ms", "20mbit 20ms", "50mbit 60ms", "100mbit 10ms", "20mbit 300ms",
    "500mbit 2ms",
)  # fmt: skip
_CAPTURED_S: Final = {"1mbit": "40s", "50mbit": "10s", "100mbit": "4s", "500mbit": "2s"}
"""Captures of fast paths are large."""

_REPORTED: Final = (
    "1mbit 300ms", "10mbit 150ms", "50mbit 100ms", "100mbit 20ms", "300mbit 40ms", "1gbit 10ms",
    "1gbit 100ms", "10mbit 300ms", "1gbit 2ms",
)  # fmt: skip
_SEEN: Final[tuple[Seen, ...]] = ("iperf3 at 0.1 s", "iperf3 at 1 s")
_BOTH: Final[tuple[Seen, ...]] = ("capture", "iperf3 at 1 s")
_LIMITED: Final = ("20mbit 40ms", "100mbit 20ms", "200mbit 100ms")
_REAL: Final = ("5mbit 40ms", "10mbit 20ms", "20mbit 40ms", "40mbit 10ms", "20mbit 100ms")


def simulated() -> Iterator[Case]:
    """Yield transfers of the simulator."""
    algorithms = cycle(_ALGORITHMS)
    for path in _CAPTURED:
        for buffer in ("0.5bdp", "1bdp", "2bdp"):
            duration = _CAPTURED_S.get(path.split()[0], "20s")
            yield case(f"{path} {buffer}", next(algorithms), "capture", duration)
    yield case("1gbit 10ms 1bdp", "cubic", "capture", "2s")
    for number, path in enumerate(_REPORTED):
        for buffer in ("0.1bdp", "0.5bdp", "1bdp", "4bdp"):
            yield case(f"{path} {buffer}", next(algorithms), _SEEN[number % 2], "30s")
    for path in _LIMITED:
        yield from _limited(path)


def _limited(path: str) -> Iterator[Case]:
    """Yield transfers that a window of half a BDP limits, or an application."""
    rate, rtt = path.split()
    window = parse_rate(rate) * parse_time(rtt) // (16 * 10**9)
    buffer = {"tcp_bpf": {"receive_buffer": f"{window}b"}}
    workload = {"workload": {"kind": "app-limited", "rate": f"{parse_rate(rate) // 3}bit"}}
    for seen in _BOTH:
        duration = "4s" if seen == "capture" else "20s"
        yield case(f"{path} 1bdp", "cubic", seen, duration, "window", **buffer)
        yield case(f"{path} 1bdp", "reno", seen, duration, "application", **workload)


def real() -> Iterator[Case]:
    """Yield transfers of this machine's kernel over the testbed's emulator."""
    for path in _REAL:
        for buffer, algorithm in (("0.5bdp", "reno"), ("1bdp", "cubic"), ("2bdp", "cubic")):
            yield case(f"{path} {buffer}", algorithm, "iperf3 at 0.1 s", "8s")
