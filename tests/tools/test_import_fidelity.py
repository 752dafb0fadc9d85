"""A part of `make validate-import`: paths that are known are found again."""

from __future__ import annotations

import pytest
from fidelity.imported.case import Case, case
from fidelity.imported.judging import judge, run
from fidelity.imported.page import page

from dumbbell.engines.engine import SimulatorEngine


@pytest.mark.parametrize(
    "transfer",
    [
        case("5mbit 100ms 1bdp", "westwood", "capture", "20s"),
        case("20mbit 20ms 1bdp", "cubic", "capture", "10s"),
        case("300mbit 40ms 0.5bdp", "htcp", "iperf3 at 0.1 s", "30s"),
        case("1gbit 10ms 0.1bdp", "cubic", "iperf3 at 1 s", "30s"),
        case(
            "20mbit 40ms 1bdp", "cubic", "iperf3 at 1 s", "20s", "window",
            tcp_bpf={"receive_buffer": "50kb"},
        ),
        case(
            "20mbit 40ms 1bdp", "reno", "iperf3 at 1 s", "20s", "application",
            workload={"kind": "app-limited", "rate": "6mbit"},
        ),
    ],
    ids=lambda transfer: transfer.name,
)  # fmt: skip
def test_a_known_path_is_found_again(transfer: Case) -> None:
    judged = judge(transfer, run(transfer, SimulatorEngine()))
    assert not judged.outside, judged
    # What the transfer does not show is no success; buffers are not always seen full.
    assert all(value.is_shown for value in judged.values if value.name != "buffer")
    assert judged.name in page([("Simulated", "", [judged])])
