"""Run the cases of the simulator's benchmarks on the installed build; print what each takes.

Profile-guided optimisation sees by this what people run (``make build PGO=1``). The digests say
whether two builds do the same.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
from pathlib import Path

from dumbbell import _core

CASES = Path(__file__).parent.parent / "crates/simulator/benches/real"


def main() -> None:
    """Print one line for each case: nanoseconds per packet, least of several, and a digest."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=1, help="measurements of each case")
    parser.add_argument("--longer", type=int, default=3, help="how much longer each case runs")
    options = parser.parse_args()
    for path in sorted(CASES.glob("*.json")):
        scenario = json.loads(path.read_text(encoding="utf-8"))
        scenario["duration_ns"] *= options.longer
        text, least_s = json.dumps(scenario), float("inf")
        for _ in range(options.times):
            start = time.thread_time()
            summary = _core.simulate(text).summary
            least_s = min(least_s, time.thread_time() - start)
        packets = json.loads(summary)["packets"]
        digest = hashlib.sha256(summary.encode()).hexdigest()[:8]
        print(f"{path.stem:28} {1e9 * least_s / packets:7.1f} ns/packet  {digest}")


if __name__ == "__main__":
    main()
