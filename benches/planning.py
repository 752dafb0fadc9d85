"""How long it takes to plan: processor time to read each shipped study and to expand it to runs.

Run by ``make bench-planning``. Each figure is the least of several, as other work on the machine
only adds to it.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import dumbbell
from dumbbell.scenario.model import Scenario
from dumbbell.study.model import Study

STUDIES = Path(dumbbell.__file__).parent / "studies"

ARRIVALS = {
    "duration": "60s",
    "network": {"rate": "1gbit", "rtt": "20ms", "queue": "1bdp"},
    "arrivals": [
        {
            "algorithm": "cubic",
            "rate": 100,
            "size": {"distribution": "pareto", "mean": "100kb", "shape": 1.5},
        }
    ],
}


def seconds(work: Callable[[], Any], times: int) -> float:
    """Return the least processor time that some work takes."""
    taken = []
    for _ in range(times):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return min(taken)


def main() -> None:
    """Print one line for each study, and one for a scenario with thousands of arriving flows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=5, help="measurements of each figure")
    times = parser.parse_args().times
    print(f"{'study':16} {'runs':>6} {'read (s)':>9} {'expand (s)':>10}")
    for folder in sorted(entry for entry in STUDIES.iterdir() if entry.is_dir()):
        study = Study.load(folder)
        reading = seconds(partial(Study.load, folder), times)
        expanding = seconds(study.runs, times)
        print(f"{study.name:16} {len(study.runs()):6} {reading:9.2f} {expanding:10.2f}")
    flows = len(Scenario.parse(ARRIVALS).resolve().scenario.flows)
    arriving = seconds(lambda: Scenario.parse(ARRIVALS).resolve(), times)
    print(f"{flows} flows that arrive at random, read and resolved: {arriving:.2f} s")


if __name__ == "__main__":
    main()
