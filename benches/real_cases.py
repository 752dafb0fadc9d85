"""Write what people really run as cases for the simulator's benchmarks.

Run by ``make bench-cases``. Each case is a scenario of a study or of ``dumbbell compare``, resolved
as the command resolves it, that ends earlier and whose flows all begin in its first tenth.
``tests/tools/test_bench_cases.py`` fails when a study no longer resolves to its case.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dumbbell
from dumbbell.experiments.mixes import Mix
from dumbbell.experiments.setting import Setting, scenario_table
from dumbbell.scenario.model import Scenario
from dumbbell.study.model import Study

STUDIES = Path(dumbbell.__file__).parent / "studies"
FOLDER = Path(__file__).parent.parent / "crates/simulator/benches/real"


@dataclass(frozen=True)
class Case(ABC):
    """A scenario that ends earlier.

    Attributes
    ----------
    name
        Name of its file, and of the case.
    duration_ms
        Its length.
    """

    name: str
    duration_ms: int

    def scenario(self) -> dict[str, Any]:
        """Return the resolved scenario, cut to its length."""
        scenario: dict[str, Any] = json.loads(self.resolved())
        duration_ns = self.duration_ms * 1_000_000
        scenario["duration_ns"] = duration_ns
        for index, flow in enumerate(scenario["flows"]):
            latest_ns = duration_ns * index // (10 * len(scenario["flows"]))
            flow["start_ns"] = min(flow["start_ns"], latest_ns)
            flow["stop_ns"] = None
        return scenario

    @abstractmethod
    def resolved(self) -> str:
        """Return the resolved scenario at its full length, as JSON."""


@dataclass(frozen=True)
class Compared(Case):
    """Flows of one algorithm as ``dumbbell compare`` runs them.

    With an `edge_rate` each is behind an access link, as in a scenario that sets it.
    """

    algorithm: str
    flows: int
    rate: str = "250mbit"
    rtt: str = "42ms"
    edge_rate: str = "unlimited"

    def resolved(self) -> str:
        """Return the scenario of the first repetition."""
        setting = Setting(self.rate, self.rtt, "1bdp", "0", "60s", "linux-6")
        mix = Mix(((self.algorithm, self.flows),))
        table = scenario_table(setting, mix)
        table["network"]["edge_rate"] = self.edge_rate
        return Scenario.parse(table, self.name).resolve().json


@dataclass(frozen=True)
class Studied(Case):
    """A grid point of a study."""

    study: str
    test: str
    axes: Mapping[str, str]

    def resolved(self) -> str:
        """Return the scenario of its first repetition."""
        study = Study.load(STUDIES / self.study)
        where = {"test": self.test, **self.axes}
        return study.runs(where=where)[0].resolved.json


def cases() -> Iterator[Case]:
    """Yield the cases; about the same number of packets each."""
    yield Compared("compare, 1 flow", 10_000, "cubic", 1)
    yield Compared("compare, 2 flows", 10_000, "cubic", 2)
    yield Compared("compare, 24 flows", 10_000, "cubic", 24)
    yield Compared("compare, 100 flows", 4_000, "cubic", 100, "1gbit", "20ms")
    yield Compared("compare, 2 BBR flows", 10_000, "bbr", 2)
    yield Compared("2 flows behind access links", 10_000, "cubic", 2, edge_rate="1gbit")
    yield Studied(
        "li2007 fairness",
        30_000,
        "li2007",
        "fairness",
        {"algorithm": "htcp@li2007", "rate": "250mbit", "rtt": "162ms", "queue": "1bdp"},
    )
    yield Studied(
        "mani2012, 1 flow",
        30_000,
        "mani2012",
        "flows",
        {"algorithm": "reno", "reading": "one-way", "flows": "1"},
    )
    yield Studied(
        "kumazoe2012 udp",
        30_000,
        "kumazoe2012",
        "udp",
        {"algorithm": "cubic@kumazoe2012", "rtt": "20ms", "reading": "main"},
    )
    yield Studied(
        "lukaseder2016 fairness",
        1_000,
        "lukaseder2016",
        "fairness",
        {"algorithm": "scalable@lukaseder2016", "rtt": "6.2ms", "second": "same"},
    )
    yield Studied(
        "lukaseder2016 loss 1e-4",
        2_000,
        "lukaseder2016",
        "responsiveness",
        {"algorithm": "bic@lukaseder2016", "rtt": "6.2ms", "loss": "1e-4"},
    )
    yield Studied(
        "brakmo2017 rack CUBIC",
        300,
        "brakmo2017",
        "rack",
        {"algorithm": "cubic@brakmo2017", "flows": "2"},
    )
    yield Studied(
        "brakmo2017 rack DCTCP",
        300,
        "brakmo2017",
        "rack",
        {"algorithm": "dctcp@brakmo2017", "flows": "2"},
    )
    yield Studied(
        "brakmo2017 wide BBR",
        1_000,
        "brakmo2017",
        "wide",
        {"algorithm": "bbr@brakmo2017", "flows": "2"},
    )
    yield Studied(
        "brakmo2017 rack-sizes BBR",
        250,
        "brakmo2017",
        "rack-sizes",
        {"algorithm": "bbr@brakmo2017", "requests": "3"},
    )


def main() -> None:
    """Write each case to its file, and remove what is none any more."""
    FOLDER.mkdir(exist_ok=True)
    wanted = {FOLDER / f"{case.name}.json": case for case in cases()}
    for stale in set(FOLDER.glob("*.json")) - set(wanted):
        stale.unlink()
    for path, case in wanted.items():
        text = json.dumps(case.scenario(), separators=(",", ":"))
        path.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
