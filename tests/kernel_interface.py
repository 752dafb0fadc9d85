"""A queue of the kernel's own in front of the hosts of the testbed."""

from __future__ import annotations

import re
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import process_table

_NAMESPACE: Final = "/proc/self/ns/net"
_HOSTS: Final = 2
_PATIENCE_S: Final = 20.0
_PACKET_BYTES: Final = 1500


@dataclass
class Refusals:
    """Packets that the interfaces refused so far."""

    packets: int = 0


@contextmanager
def slow_interfaces(rate: str, queue_packets: int) -> Iterator[Refusals]:
    """Give each host of the run that begins inside a token bucket with a tail-drop queue.

    Namespaces of the testbed have no names, but the child that runs it holds them open.
    """
    refusals, is_over = Refusals(), threading.Event()
    watcher = threading.Thread(target=_equip, args=(rate, queue_packets, refusals, is_over))
    watcher.start()
    try:
        yield refusals
    finally:
        is_over.set()
        watcher.join()


def _equip(rate: str, queue_packets: int, refusals: Refusals, is_over: threading.Event) -> None:
    """Equip the hosts once they are there, and count until they are gone."""
    hosts: set[str] = set()
    end = time.monotonic() + _PATIENCE_S
    while not is_over.is_set() and time.monotonic() < end:
        for host in _namespaces() - hosts:
            limit = str(queue_packets * _PACKET_BYTES)
            command = ("qdisc", "add", "dev", "tun0", "root", "tbf", "rate", rate, "burst", "1600",
                       "limit", limit)  # fmt: skip
            # The device comes a moment after its namespace.
            if _tc(host, *command).returncode == 0:
                hosts.add(host)
        dropped = [_dropped(host) for host in hosts]
        refusals.packets = max(refusals.packets, sum(dropped))
        is_over.wait(0.02 if len(hosts) < _HOSTS else 0.2)


def _namespaces() -> set[str]:
    """Return one descriptor of each network namespace that a child holds, but our own."""
    ours = str(Path(_NAMESPACE).readlink())
    descriptors: dict[str, str] = {}
    for child in process_table.children():
        with suppress(OSError):  # it has ended, or has closed one meanwhile
            for descriptor in Path(f"/proc/{child}/fd").iterdir():
                target = str(descriptor.readlink())
                if target.startswith("net:") and target != ours:
                    descriptors.setdefault(target, str(descriptor))
    return set(descriptors.values())


def _dropped(host: str) -> int:
    match = re.search(r"dropped (\d+)", _tc(host, "-s", "qdisc", "show", "dev", "tun0").stdout)
    return int(match[1]) if match else 0


def _tc(host: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = ["nsenter", f"--net={host}", "tc", *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True)
