"""How fast one process takes in what others run: installs a second, and what they cost it.

    python benches/pool.py [--runs 10000] [--dask local:2]

Runs of a hundredth of a second are over at once, so what is measured is all that lies around them:
tasks out, results back, files written. Memory is that of the process that owns the results folder.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from contextlib import ExitStack

from dumbbell.engines.engine import SimulatorEngine
from dumbbell.execution import cluster
from dumbbell.execution.executor import execute
from dumbbell.scenario.model import Scenario
from dumbbell.store.campaigns import peak_memory_bytes
from dumbbell.store.store import Store

MB = 1e6


def main() -> None:
    """Run, and print a line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--dask", help="default: threads of this process, one a processor")
    parser.add_argument("--duration", default="10ms", help="of a run")
    options = parser.parse_args()
    table = {
        "duration": options.duration,
        "network": {"rate": "100mbit", "rtt": "82ms", "queue": "0.2bdp"},
        "flow": [{"algorithm": "cubic"}],
    }
    runs = [Scenario.parse({**table, "seed": seed}).resolve() for seed in range(options.runs)]
    with ExitStack() as opened:
        folder = opened.enter_context(tempfile.TemporaryDirectory(prefix="dumbbell-pool-"))
        jobs = opened.enter_context(cluster.connected(options.dask)) if options.dask else 2
        began_s, before = time.perf_counter(), os.times()
        outcome = execute(runs, Store(folder), SimulatorEngine(), jobs)
        wall_s, after = time.perf_counter() - began_s, os.times()
    cpu_s = after.user + after.system - before.user - before.system
    assert len(outcome.done) == len(runs)
    print(
        f"{len(runs)} runs over {options.dask or 'threads'}: {len(runs) / wall_s:.0f} a second, "
        f"{outcome.held.size_bytes / MB / wall_s:.1f} MB/s, the owner took "
        f"{1e3 * cpu_s / len(runs):.2f} ms of processor a run "
        f"and {(peak_memory_bytes() or 0) / MB:.0f} MB at most"
    )


if __name__ == "__main__":
    main()
