"""Runs of one program, added up."""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from linux_modules.scenarios import Scenario


@dataclass
class Tally:
    """Counts over the runs of one algorithm.

    Attributes
    ----------
    calls, differing
        Of hooks, in step; those of which at least one outcome differs.
    outcomes
        Number of differing calls by outcome, as ``hook: what``.
    windows
        Smallest and largest.
    own_runs, identical
        Runs of each side alone; those in which all samples are the same.
    delivered
        Segments, by Linux and by us, in all own runs.
    """

    calls: int = 0
    differing: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    windows: tuple[int, int] = (2**32, 0)
    own_runs: int = 0
    identical: int = 0
    delivered: tuple[int, int] = (0, 0)

    @property
    def is_identical(self) -> bool:
        """True if nothing differs at all."""
        return not self.differing and self.identical == self.own_runs

    def add_locked(self, result: dict[str, Any]) -> None:
        """Add a run in step."""
        low, high = result["cwnd"]
        self.windows = (min(self.windows[0], low), max(self.windows[1], high))
        for hook, counts in result["hooks"].items():
            self.calls += counts["calls"]
            self.differing += counts["differing"]
            for name, count in counts["fields"].items():
                self.outcomes[f"{hook}: {name}"] += count

    def add_own(self, result: dict[str, Any]) -> None:
        """Add a run of each side alone."""
        self.own_runs += 1
        self.identical += result["same"] == result["samples"]
        theirs, ours = result["delivered"]
        self.delivered = (self.delivered[0] + theirs, self.delivered[1] + ours)


def tallied(program: Path, scenarios: Sequence[Scenario]) -> Tally:
    """Run a program through all scenarios, in step and each side alone."""
    tally = Tally()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for result in pool.map(lambda scenario: run(program, scenario, "locked"), scenarios):
            tally.add_locked(result)
        for result in pool.map(lambda scenario: run(program, scenario, "alone"), scenarios):
            tally.add_own(result)
    return tally


def run(program: Path, scenario: Scenario, *mode: str) -> dict[str, Any]:
    """Do one run; return what the program writes of it in the end."""
    return lines(program, scenario, *mode)[-1]


def lines(program: Path, scenario: Scenario, *mode: str) -> list[dict[str, Any]]:
    """Do one run; return all that the program writes."""
    command = [str(program), *mode, *scenario.arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.returncode}\n{done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()]
