"""The same scenarios on ns-2, ns-3 and Dumbbell, side by side in one run.

`make bench-peers` prepares and starts this; `--only TEXT` keeps the scenarios whose name
contains TEXT, `--markdown FILE` also writes the table there. README.md says what is
compared and how to read it.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich import box
from rich.console import Console, JustifyMethod
from rich.table import Table

HERE = Path(__file__).resolve().parent
BUILT = HERE.parents[1] / "target" / "peers" / "ns3"
NS3_LIBRARIES = (
    "applications",
    "point-to-point",
    "traffic-control",
    "internet",
    "network",
    "core",
)
PAYLOAD_BITS = 8 * 1448
TOLERANCE = 0.05
SHORT_S = 5.0
REPETITIONS = 3
TIMEOUT_S = 300.0
COLUMNS = (
    "simulator",
    "wall (s)",
    "processor (s)",
    "packets",
    "packets/s",
    "slower",
    "MiB",
    "Mbit/s per flow",
    "goodput",
)


@dataclass(frozen=True)
class Scenario:
    """Equal bulk flows over one link, each behind a host's own link where that has a rate."""

    algorithm: str
    flows: int
    rate_mbps: int
    rtt_ms: int
    queue_packets: int
    duration_s: int
    loss: float = 0.0
    host_mbps: int = 0

    @property
    def name(self) -> str:
        """What a reader knows it by."""
        flows = f"{self.flows} flow" + "s" * (self.flows > 1)
        loss = f", loss {self.loss:g}" if self.loss else ""
        hosts = f", hosts {self.host_mbps} Mbit/s" if self.host_mbps else ""
        return (
            f"{flows}, {self.algorithm}, {self.rate_mbps} Mbit/s, {self.rtt_ms} ms, "
            f"queue {self.queue_packets}{loss}{hosts}, {self.duration_s} s"
        )

    @property
    def arguments(self) -> list[str]:
        """What every simulator's program is told, in this order."""
        values = (
            self.rate_mbps * 1_000_000,
            self.rtt_ms / 1000,
            self.queue_packets,
            self.loss,
            self.flows,
            self.algorithm,
            self.duration_s,
            1,  # seed
            self.host_mbps * 1_000_000,
        )
        return [str(value) for value in values]


SCENARIOS = (
    Scenario("cubic", 1, 250, 162, 675, 20),
    Scenario("reno", 1, 250, 162, 675, 20),
    Scenario("cubic", 1, 10_000, 12, 1000, 1),
    Scenario("cubic", 2, 200, 92, 100, 40),
    Scenario("reno", 2, 200, 92, 100, 40),
    Scenario("cubic", 24, 200, 92, 100, 30),
    Scenario("reno", 24, 200, 92, 100, 30),
    Scenario("reno", 1, 100, 20, 100, 300, loss=0.002),
    Scenario("cubic", 2, 200, 92, 500, 40, host_mbps=1000),
    Scenario("reno", 2, 200, 92, 500, 40, host_mbps=1000),
    Scenario("cubic", 24, 200, 92, 500, 30, host_mbps=1000),
    Scenario("reno", 24, 200, 92, 500, 30, host_mbps=1000),
)


@dataclass(frozen=True)
class Measured:
    """What one simulator made of a scenario."""

    wall_s: float
    processor_s: float
    memory_kib: int
    packets: tuple[int, ...]

    @property
    def packets_per_s(self) -> float:
        """Delivered data packets per second on the processor."""
        return sum(self.packets) / self.processor_s

    @classmethod
    def read(cls, output: str) -> Measured:
        """Find the JSON object among what a program printed."""
        line = next(line for line in output.splitlines() if line.startswith("{"))
        answer = json.loads(line)
        memory = answer["peak_kib"] - answer["before_kib"]
        times = answer["wall_s"], answer["processor_s"]
        return cls(*times, memory, tuple(answer["packets"]))


def simulators() -> dict[str, list[str]]:
    """Return the command of each simulator that is there; say which are not."""
    commands = {"Dumbbell": [sys.executable, str(HERE / "peer_dumbbell.py")]}
    if program := shutil.which("ns"):
        commands["ns-2"] = [program, str(HERE / "ns2.tcl")]
    else:
        print("ns-2 is missing: not compared (apt install ns2)", file=sys.stderr)
    compiler = shutil.which("c++")
    if compiler and Path("/usr/include/ns3/core-module.h").exists():
        commands["ns-3"] = [_build_ns3(compiler)]
    else:
        print("ns-3 is missing: not compared (apt install libns3-dev g++)", file=sys.stderr)
    return commands


def _build_ns3(compiler: str) -> str:
    source = HERE / "ns3.cc"
    if not BUILT.exists() or BUILT.stat().st_mtime < source.stat().st_mtime:
        BUILT.parent.mkdir(parents=True, exist_ok=True)
        flags = ["-std=c++17", "-O3", "-DNDEBUG", "-Wall", "-Wextra"]
        libraries = [f"-lns3-{name}" for name in NS3_LIBRARIES]
        command = [compiler, *flags, "-o", str(BUILT), str(source), *libraries]
        subprocess.run(command, check=True)
    return str(BUILT)


def measure(command: Sequence[str], scenario: Scenario) -> Measured | None:
    """Run a scenario, a short one some times over for its fastest; None: took too long."""
    fastest: Measured | None = None
    for _ in range(REPETITIONS):
        try:
            output = subprocess.run(
                [*command, *scenario.arguments],
                check=True,
                stdout=subprocess.PIPE,
                text=True,
                timeout=TIMEOUT_S,
            ).stdout
        except subprocess.TimeoutExpired:
            return None
        measured = Measured.read(output)
        if fastest is None or measured.processor_s < fastest.processor_s:
            fastest = measured
        if measured.wall_s > SHORT_S:
            break
    return fastest


def row(scenario: Scenario, name: str, measured: Measured | None, ours: Measured) -> list[str]:
    """Return the cells of one simulator's line."""
    if measured is None:
        return [name, f"over {TIMEOUT_S:.0f}", *[""] * (len(COLUMNS) - 2)]
    to_mbps = PAYLOAD_BITS / scenario.duration_s / 1e6
    total, shares = sum(measured.packets), [packets * to_mbps for packets in measured.packets]
    goodput = f"{total * to_mbps / scenario.flows:.1f}"
    if scenario.flows > 1:
        goodput += f" ({min(shares):.1f} to {max(shares):.1f})"
    change = total / sum(ours.packets) - 1
    verdict = "agrees" if abs(change) <= TOLERANCE else "differs"
    return [
        name,
        f"{measured.wall_s:.3f}",
        f"{measured.processor_s:.3f}",
        f"{total:,}",
        f"{measured.packets_per_s:,.0f}",
        f"{ours.packets_per_s / measured.packets_per_s:.1f} x",
        f"{measured.memory_kib / 1024:.1f}",
        goodput,
        "" if measured is ours else f"{100 * change:+.1f} % {verdict}",
    ]


def compare(scenarios: Sequence[Scenario]) -> Iterator[tuple[Scenario, list[list[str]]]]:
    """Run everything; yield the lines of each scenario as they come."""
    commands = simulators()
    for scenario in scenarios:
        measured = {name: measure(command, scenario) for name, command in commands.items()}
        ours = measured["Dumbbell"]
        if ours is None:
            raise SystemExit(f"Dumbbell needed more than {TIMEOUT_S:.0f} s: {scenario.name}")
        yield scenario, [row(scenario, *entry, ours) for entry in measured.items()]


def markdown(sections: Sequence[tuple[Scenario, list[list[str]]]]) -> str:
    """Return the table as Markdown, a scenario's name in the first column of its lines."""
    header = ["scenario", *COLUMNS]
    lines = [header, ["---", "---", *["---:"] * (len(COLUMNS) - 1)]]
    for scenario, rows in sections:
        lines += [[scenario.name, *cells] for cells in rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def show(scenario: Scenario, rows: Sequence[Sequence[str]]) -> Table:
    """Return one scenario's lines as a table."""
    shown = Table(title=scenario.name, title_justify="left", box=box.SIMPLE_HEAD, show_edge=False)
    for column in COLUMNS:
        justify: JustifyMethod = "left" if column == "simulator" else "right"
        shown.add_column(column, justify=justify, no_wrap=True)
    for cells in rows:
        shown.add_row(*cells)
    return shown


def main() -> None:
    """Compare and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", metavar="TEXT")
    parser.add_argument("--markdown", type=Path, metavar="FILE")
    given = parser.parse_args()
    console = Console(width=122)
    sections = []
    chosen = [scenario for scenario in SCENARIOS if given.only in scenario.name]
    if not chosen:
        known = ", ".join(repr(scenario.name) for scenario in SCENARIOS)
        parser.error(f"--only {given.only!r} is in no scenario's name; there are {known}")
    for section in compare(chosen):
        console.print(show(*section), "")
        sections.append(section)
    if given.markdown:
        given.markdown.write_text(markdown(sections))


if __name__ == "__main__":
    main()
