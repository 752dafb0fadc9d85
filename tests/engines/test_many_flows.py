"""Many short flows in one scenario: all of them have results, a hundred thousand within 1 GiB.

Each has a sending host with a separate link.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tracemalloc
from pathlib import Path

from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve import Resolution

FLOWS = 25_000
MEMORY_MAX_BYTES = 370 * 2**20
"""They take 320 MiB, and 100,000 take 800. If each took 2 KiB more, both would exceed their limits."""

SCENARIO = """
duration = "14s"
network = { rate = "1gbit", rtt = "20ms", queue = "1bdp", edge_rate = "100mbit" }
arrivals = [{ algorithm = "cubic", file = "web.txt", label = "web" }]
"""

MEASURED = """
import json, sys
import dumbbell
from dumbbell.store import campaigns
run = dumbbell.simulate(sys.argv[1])
done = sum(flow.acked_bytes == 10_000 for flow in run.summary.flows)
latency_ms = dumbbell.take(run, "latency_p99_ms[web]@run")["latency_p99_ms[web]@run"]
print(json.dumps([len(run.summary.flows), done, latency_ms, campaigns.peak_memory_bytes()]))
"""


def test_a_hundred_thousand_flows_would_be_run_within_a_gibibyte(tmp_path: Path) -> None:
    (tmp_path / "web.txt").write_text("".join(f"{n / 2}ms 10kb\n" for n in range(FLOWS)))
    (tmp_path / "many.toml").write_text(SCENARIO)
    command = [sys.executable, "-c", MEASURED, str(tmp_path / "many.toml")]
    output = subprocess.run(command, check=True, capture_output=True, text=True)
    flows, done, latency_ms, peak_bytes = json.loads(output.stdout)
    assert (flows, done) == (FLOWS, FLOWS)
    # One after the other every half a millisecond: seven segments in one round trip.
    assert 20 < latency_ms < 25
    assert peak_bytes < MEMORY_MAX_BYTES, f"{peak_bytes / 2**20:.0f} MiB"


def test_a_flow_that_arrives_takes_little_until_it_runs(tmp_path: Path) -> None:
    """As plain data it and the link of its host took 2,540 bytes, three times over."""
    count = 2_000
    (tmp_path / "web.txt").write_text("".join(f"{n / 2}ms 10kb\n" for n in range(count)))
    (tmp_path / "many.toml").write_text(SCENARIO)
    scenario = Scenario.load(tmp_path / "many.toml")
    tracemalloc.start()
    resolution = Resolution(scenario)
    kept_bytes, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(resolution.drawn(scenario, scenario.seed, capture=False).json) / count > 700
    assert kept_bytes / count < 1_000
    assert peak_bytes / count < 2_500
