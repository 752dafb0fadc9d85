"""iperf3 between two namespaces of this machine, with a token bucket on a router between them.

The bucket (``tbf``) is the bottleneck: rate and buffer are known. Nothing adds a delay, as many
kernels have no ``netem``, so the RTT is that of the hosts and is not judged.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from fidelity.imported.case import Truth
from fidelity.imported.judging import Judged, judged_file

_FRAME_BYTES: Final = 1514
_PACKET_BYTES: Final = 1500
_TRIES: Final = 20
_PATHS: Final = (
    ("5mbit", 40, "cubic"), ("10mbit", 60, "reno"), ("20mbit", 100, "cubic"),
    ("50mbit", 200, "cubic"), ("100mbit", 300, "reno"),
)  # fmt: skip
"""Rate, buffer in packets, algorithm."""


def judged(folder: Path) -> Iterator[Judged]:
    """Measure and fit each path, one after the other; needs root, iproute2 and iperf3."""
    for rate, packets, algorithm in _PATHS:
        file = folder / f"{rate}.json"
        with _hosts(rate, packets) as (sender, receiver):
            file.write_bytes(_iperf3(sender, receiver, algorithm))
        bits = float(rate.removesuffix("mbit")) * 1e6 * _PACKET_BYTES / _FRAME_BYTES
        truth = Truth(bits, None, packets)
        name = f"{algorithm} {rate} {packets} packets, iperf3 through tbf"
        yield judged_file(file, name, truth, "path", algorithm)


@contextmanager
def _hosts(rate: str, packets: int) -> Iterator[tuple[str, str]]:
    """Make sender, router and receiver, and remove them in the end."""
    sender, router, receiver = (f"dumbbell-import-{os.getpid()}-{side}" for side in "abc")
    try:
        for host in (sender, router, receiver):
            _run("ip", "netns", "add", host)
        _link(sender, router, 1)
        _link(receiver, router, 2)
        _run("ip", "netns", "exec", router, "sysctl", "-q", "net.ipv4.ip_forward=1")
        limit = str(packets * _FRAME_BYTES)
        _run("tc", "-n", router, "qdisc", "add", "dev", "veth2", "root", "tbf", "rate", rate,
             "burst", "3100", "limit", limit)  # fmt: skip
        yield sender, receiver
    finally:
        for host in (sender, router, receiver):
            subprocess.run(["ip", "netns", "delete", host], check=False, capture_output=True)


def _link(host: str, router: str, number: int) -> None:
    """Join a host to the router, which is 10.0.NUMBER.1; packets keep the size of frames."""
    name = f"veth{number}"
    _run("ip", "link", "add", "veth0", "netns", host, "type", "veth",
         "peer", "name", name, "netns", router)  # fmt: skip
    for place, device, last in ((host, "veth0", 2), (router, name, 1)):
        _run("ip", "-n", place, "address", "add", f"10.0.{number}.{last}/24", "dev", device)
        _run("ip", "-n", place, "link", "set", device, "up", "gso_max_size", str(_FRAME_BYTES))
    _run("ip", "-n", host, "route", "add", "default", "via", f"10.0.{number}.1")


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)


def _iperf3(sender: str, receiver: str, algorithm: str) -> bytes:
    """Return the client's report of a test of twelve seconds."""
    server = ["ip", "netns", "exec", receiver, "iperf3", "--server", "--one-off"]
    client = ["ip", "netns", "exec", sender, "iperf3", "--client", "10.0.2.2", "--json", "--time",
              "12", "--interval", "0.1", "--congestion", algorithm]  # fmt: skip
    with subprocess.Popen(server, stdout=subprocess.DEVNULL) as running:
        try:
            for _ in range(_TRIES):
                done = subprocess.run(client, capture_output=True, check=False)
                if done.returncode == 0 and "error" not in json.loads(done.stdout):
                    return done.stdout
                time.sleep(0.2)
        finally:
            running.terminate()
    raise RuntimeError(f"iperf3: {done.stdout.decode()}")
