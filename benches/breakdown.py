"""Where the instructions of a packet go: by part and by function of each case, and on one walk.

Run by ``make bench-breakdown``. Callgrind counts how often each instruction of a case is executed,
and llvm-symbolizer names the functions that the compiler put there. An instruction of Rust's own
library counts for the function of this project that calls it.

The walk is what nearly every acknowledgement and its segments pass: the functions that are executed
for one packet in four at least, one-line accessors included.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import TypeVar

ROOT = Path(__file__).parent.parent
#: The cases whose tables ``docs/benchmarks.md`` has.
CASES = (
    "compare, 2 flows",
    "2 flows behind access links",
    "compare, 24 flows",
    "compare, 100 flows",
    "compare, 2 BBR flows",
    "li2007 fairness",
    "kumazoe2012 udp",
    "lukaseder2016 fairness",
    "brakmo2017 wide BBR",
    "brakmo2017 rack-sizes BBR",
)
#: Parts of the engine by the beginning of a file's path. The first that fits counts.
PARTS = {
    "crates/network/src/queue/": "schedulers",
    "crates/network/src/link": "links",
    "crates/network/src/occupancy": "links",
    "crates/network/src/serializer": "links",
    "crates/network/src/delays": "links",
    "crates/network/src/loss": "links",
    "crates/network/src/transmitter": "links",
    "crates/network/": "events",
    "crates/simulator/": "hosts",
    "crates/tcp/src/receive": "receiver",
    "crates/tcp/src/delayed_ack": "receiver",
    "crates/tcp/src/coalesce": "receiver",
    "crates/tcp/src/reassembly": "receiver",
    "crates/tcp/src/ranges": "receiver",
    "crates/tcp/src/ecn_echo": "receiver",
    "crates/tcp/src/compression": "receiver",
    "crates/tcp/": "sender",
    "crates/algorithm/": "algorithm",
    "algorithms/": "algorithm",
}
#: Containers and numbers, which count for the part that uses them.
SHARED = re.compile(
    r"crates/network/src/(fifo|units|packet|random|chance)\.rs|crates/tcp/src/ring\.rs"
)
#: How often what is on the walk is executed at least, for each packet.
WALK_SHARE = 0.25
#: Instructions of a packet in one case that make a function worth a row.
LEAST = 20

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Function:
    """A function of this project and its file, relative to the root."""

    name: str
    file: str


@dataclass(frozen=True)
class Place:
    """An instruction: how often a packet executes it, and whose it is.

    Attributes
    ----------
    times
        Executions for each packet.
    chain
        The functions of this project that it is inlined from, the innermost first.
    symbol
        The function that the compiler put all of them into.
    """

    times: float
    chain: tuple[Function, ...]
    symbol: str


def build() -> Path:
    """Build the benchmark that runs a case in its own process; return its path."""
    command = ["cargo", "bench", "--locked", "-p", "dumbbell-simulator", "--bench", "instructions"]
    command += ["--no-run", "--message-format=json"]
    built = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    messages = [json.loads(line) for line in built.stdout.splitlines()]
    return Path(next(executable for m in messages if (executable := m.get("executable"))))


def executions(profile: Iterable[str], program: Path) -> tuple[Counter[int], int]:
    """Read how often each address of a program is executed, and what other objects execute."""
    counts: Counter[int] = Counter()
    names: dict[str, str] = {}
    here, is_call, address, elsewhere = False, False, 0, 0
    for line in profile:
        if parts := re.match(r"(c?)ob=\((\d+)\)(?: (.*))?", line):
            called, number, name = parts.groups()
            if name:
                names[number] = name
            if not called:
                here = names[number] == str(program)
        elif line.startswith("calls="):
            # The line that follows has the cost of what is called, which is counted there.
            is_call = True
        elif parts := re.match(r"(?:0x([0-9a-f]+)|([+-]\d+)|\*) (\d+)$", line):
            absolute, relative, count = parts.groups()
            address = int(absolute, 16) if absolute else address + int(relative or 0)
            if is_call:
                is_call = False
            elif here:
                counts[address] += int(count)
            else:
                elsewhere += int(count)
    return counts, elsewhere


def plain(name: str) -> str:
    """Return a function's name without paths, type arguments and hashes."""
    name = re.sub(r"::h[0-9a-f]{16}$", "", name).replace("->", "")
    while name != (shorter := re.sub(r"<[^<>]*>", "", name)):
        name = shorter
    return name.rpartition("::")[2]


@cache
def own_file(path: str) -> str | None:
    """Return the path of a file relative to the root, if it is one of this project."""
    place = re.search(r"/((?:crates|algorithms)/.*)", os.path.normpath(path))
    return place[1] if place and (ROOT / place[1]).is_file() else None


def owner(frame: dict[str, str]) -> Function | None:
    """Return the function of a frame if it is one of this project with a name."""
    name, file = plain(frame["FunctionName"]), own_file(frame["FileName"])
    return None if file is None or name.startswith("{closure") else Function(name, file)


@cache
def defines(file: str, name: str) -> bool:
    """Return whether a file has a function of that name, outside of macros."""
    return re.search(rf"\bfn {re.escape(name)}\b", (ROOT / file).read_text()) is not None


def homes(
    chains: Iterable[list[Function]],
) -> dict[tuple[str, Function | None], Function]:
    """Return each function that others are inlined into, by its name and its caller."""
    pairs = (pair for chain in chains for pair in zip_longest(chain[1:], chain[2:]))
    return {(inner.name, caller): inner for inner, caller in pairs if inner}


def places(program: Path, counts: Counter[int], packets: int) -> Iterator[Place]:
    """Name the functions of each address."""
    command = ["llvm-symbolizer", "--inlines", "--output-style=JSON", f"--obj={program}"]
    addresses = "\n".join(map(hex, counts))
    named = subprocess.run(command, input=addresses, check=True, stdout=subprocess.PIPE, text=True)
    all_frames = [json.loads(line).get("Symbol", []) for line in named.stdout.splitlines()]
    chains = [[function for frame in frames if (function := owner(frame))] for frames in all_frames]
    home = homes(chains)
    for count, frames, chain in zip(counts.values(), all_frames, chains, strict=True):
        # An instruction that the compiler moved has the file of another function.
        if chain and not defines(chain[0].file, chain[0].name):
            caller = chain[1] if len(chain) > 1 else None
            chain[0] = home.get((chain[0].name, caller), chain[0])
        symbol = plain(frames[-1]["FunctionName"]) if frames else ""
        yield Place(count / packets, tuple(chain), symbol)


def measure(program: Path, case: str) -> tuple[list[Place], float]:
    """Run a case; return its instructions, and how many a packet spends in other objects."""
    with tempfile.TemporaryDirectory() as folder:
        profile = Path(folder) / "profile"
        command = ["valgrind", "--tool=callgrind", "--dump-instr=yes", "--dump-line=no"]
        command += [f"--callgrind-out-file={profile}", str(program), "--in-this-process", case]
        run = subprocess.run(command, check=True, capture_output=True, text=True)
        packets = int(run.stdout)
        with profile.open() as lines:
            counts, elsewhere = executions(lines, program)
    return list(places(program, counts, packets)), elsewhere / packets


def part(place: Place) -> str:
    """Return the part of the engine that an instruction belongs to."""
    for function in place.chain:
        if SHARED.match(function.file):
            continue
        fitting = (name for prefix, name in PARTS.items() if function.file.startswith(prefix))
        return next(fitting, "else")
    return "else"


def table(title: str, rows: Iterable[str], columns: Mapping[str, Mapping[str, float]]) -> str:
    """Return a Markdown table with a column for each name."""
    lines = [f"| {title} | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    for row in rows:
        numbers = [column.get(row, 0) for column in columns.values()]
        cells = (f"{number:.0f}" if number >= 0.5 else "" for number in numbers)
        lines.append(f"| {row} | {' | '.join(cells)} |")
    return "\n".join(lines)


def by_part(cases: dict[str, list[Place]], elsewhere: dict[str, float]) -> str:
    """Return the table of parts: a row for each case."""
    names = ("all", *dict.fromkeys(PARTS.values()), "else")
    columns = {name: dict.fromkeys(cases, 0.0) for name in names}
    for case, measured in cases.items():
        for place in measured:
            columns[part(place)][case] += place.times
            columns["all"][case] += place.times
        for name in ("else", "all"):
            columns[name][case] += elsewhere[case]
    return table("case", cases, columns)


def by_function(cases: dict[str, list[Place]]) -> str:
    """Return the table of functions that take a share of a case, each with what is in them."""
    columns = {case: totals((f"`{it.symbol}`", it.times) for it in cases[case]) for case in cases}
    names = {name for column in columns.values() for name in column}
    most = {name: max(column.get(name, 0) for column in columns.values()) for name in names}
    rows = sorted((name for name in names if most[name] >= LEAST), key=lambda name: -most[name])
    return table("function", rows, columns)


def totals(parts: Iterable[tuple[Key, float]]) -> dict[Key, float]:
    """Return the sum of each key's numbers."""
    sums: defaultdict[Key, float] = defaultdict(float)
    for key, number in parts:
        sums[key] += number
    return dict(sums)


def walk(measured: list[Place]) -> str:
    """Return the functions that nearly every acknowledgement passes, with what is their own."""
    self_costs = totals((place.chain[0], place.times) for place in measured if place.chain)
    often = (place.chain for place in measured if place.times >= WALK_SHARE)
    passed = {function for chain in often for function in chain}
    files: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for function in passed:
        files[function.file][function.name] = self_costs.get(function, 0)
    lines = [f"{len(passed)} functions in {len(files)} files", ""]
    lines += ["| file | instructions | functions |", "|---|---|---|"]
    for file, inside in sorted(files.items(), key=lambda item: -sum(item[1].values())):
        names = sorted(inside, key=lambda name: -inside[name])
        functions = ", ".join(f"`{name}` {inside[name]:.1f}" for name in names)
        lines.append(f"| `{file}` | {sum(inside.values()):.0f} | {functions} |")
    return "\n".join(lines)


def check(parser: argparse.ArgumentParser, cases: Iterable[str]) -> None:
    """End with what is wrong if a case is unknown or a program is missing."""
    known = json.loads((ROOT / "crates/simulator/benches/instructions.json").read_text())
    for case in cases:
        if case not in known:
            parser.error(f"no case {case!r}; there are: {'; '.join(known)}")
    for command, package in (("valgrind", "valgrind"), ("llvm-symbolizer", "llvm")):
        if not shutil.which(command):
            parser.error(f"{command} is missing: apt install {package}")


def main() -> None:
    """Print the tables of all cases, or the walk of one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", default=CASES, help="names of cases")
    parser.add_argument("--walk", action="store_true", help="list the walk in each of the cases")
    parser.add_argument("--program", type=Path, help="a benchmark that was built earlier")
    options = parser.parse_args()
    check(parser, options.cases)
    program = (options.program or build()).resolve()
    cases: dict[str, list[Place]] = {}
    elsewhere: dict[str, float] = {}
    for case in options.cases:
        cases[case], elsewhere[case] = measure(program, case)
        total = sum(place.times for place in cases[case]) + elsewhere[case]
        print(f"{case}: {total:.0f} instructions", file=sys.stderr)
    if options.walk:
        for case, measured in cases.items():
            print(f"{case}: {walk(measured)}\n")
    else:
        print(by_part(cases, elsewhere), by_function(cases), sep="\n\n")


if __name__ == "__main__":
    main()
