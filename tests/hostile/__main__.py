"""Run hostile inputs of every kind, print a table of what came out, and keep those that fail.

`make fuzz SEED=n` draws the same inputs again.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shlex
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NoReturn

from hostile import commands, folders, imports, scenarios, series, studies
from hostile.cases import OUTSIDE, Prepared
from hostile.judging import FAULTS, SECRET, contents, faults, is_copied
from hostile.running import Outcome, import_all, ran

FAILURES: Final = Path("fuzz-failures")
KINDS: Final[dict[str, tuple[int, Prepared]]] = {
    "scenarios": (12, scenarios.prepared),
    "studies": (4, studies.prepared),
    "folders": (6, folders.prepared),
    "imports": (8, imports.prepared),
    "series": (5, series.prepared),
    "commands": (5, commands.prepared),
}
"""Each kind with its share of the inputs."""


def drawn(seed: int, count: int) -> Iterator[tuple[str, int]]:
    """Yield the kinds of inputs, each with a number; the first few have all kinds."""
    numbers: Counter[str] = Counter()
    turn = [kind for kind, (share, _) in KINDS.items() for _ in range(share)]
    random.Random(seed).shuffle(turn)
    for place in range(count):
        kind = turn[place % len(turn)]
        numbers[kind] += 1
        yield kind, numbers[kind]


def tried(kind: str, name: str, box: Path) -> tuple[list[str], Outcome, str]:
    """Run an input in an empty box; return what is wrong, how it ended and its command."""
    for part in ("mine", OUTSIDE, "home", "tmp"):
        (box / part).mkdir(parents=True)
    (box / OUTSIDE / "secret").write_bytes(SECRET)
    case = KINDS[kind][1](random.Random(name), box)
    mine, theirs = box / "mine", box / "theirs"
    apart = (mine, theirs, box / "tmp", box / "stdout", box / "stderr")
    before = contents(box, apart)
    files = {path.name for path in mine.rglob("*.*")}
    outcome = ran(case.arguments, mine, box)
    fault_names = faults(case, outcome, files)
    if contents(box, apart) != before or is_copied(mine):
        fault_names.append("written")
    return fault_names, outcome, f"cd mine && dumbbell {shlex.join(case.arguments)}"


def kept(box: Path, name: str, command: str, fault_names: list[str]) -> Path:
    """Keep the folder of an input that failed, with the command that shows it."""
    FAILURES.mkdir(exist_ok=True)
    target = FAILURES / f"{name.replace(' ', '-')}-{time.time_ns()}"
    (box / "command").write_text(f"# {name}: {', '.join(fault_names)}\n{command}\n")
    return box.rename(target)


def campaign(seed: int, count: int, part: tuple[int, int], table: Counter[tuple[str, str]]) -> None:
    """Run every n-th input; count inputs, exit codes and faults by kind."""
    place, parts = part
    with tempfile.TemporaryDirectory(prefix="fuzz-", dir=".", ignore_cleanup_errors=True) as folder:
        os.environ["XDG_CACHE_HOME"] = f"{Path(folder).absolute()}/cache"
        for number, (kind, which) in enumerate(drawn(seed, count)):
            if number % parts != place:
                continue
            name = f"{kind} {seed} {which}"
            box = Path(folder).absolute() / str(number)
            fault_names, outcome, command = tried(kind, name, box)
            table[kind, "inputs"] += 1
            table[kind, "stopped" if outcome.is_stopped else str(outcome.code)] += 1
            for fault in fault_names:
                table[kind, fault] += 1
            if fault_names:
                print(
                    f"{kept(box, name, command, fault_names)}: {', '.join(fault_names)}", flush=True
                )
            else:
                shutil.rmtree(box)


def beside(seed: int, count: int, jobs: int) -> Counter[tuple[str, str]]:
    """Run all inputs in so many processes; return what they counted together."""
    total: Counter[tuple[str, str]] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / str(place) for place in range(jobs)]
        for place, file in enumerate(files):
            if os.fork() == 0:
                _count(file, seed, count, (place, jobs))
        _await_all(jobs)
        for file in files:
            total.update({(kind, what): many for kind, what, many in json.loads(file.read_text())})
    return total


def _count(file: Path, seed: int, count: int, part: tuple[int, int]) -> NoReturn:
    """Be a process that writes what it counted to a file, until Ctrl-C."""
    table: Counter[tuple[str, str]] = Counter()
    try:
        with suppress(KeyboardInterrupt):
            campaign(seed, count, part, table)
    except BaseException:
        traceback.print_exc()
    finally:
        file.write_text(json.dumps([(*key, many) for key, many in table.items()]))
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


def _await_all(jobs: int) -> None:
    """Wait for the processes, which hear of Ctrl-C themselves."""
    while jobs:
        with suppress(KeyboardInterrupt):
            os.wait()
            jobs -= 1


def shown(table: Counter[tuple[str, str]]) -> Iterator[str]:
    """Yield the lines of the table."""
    columns = ("inputs", "0", "1", "2", "stopped", *FAULTS)
    yield f"{'':10}" + "".join(f"{column:>10}" for column in columns)
    for kind in KINDS:
        yield f"{kind:10}" + "".join(f"{table[kind, column]:>10}" for column in columns)


def main() -> int:
    """Run the inputs; 1 if anything is wrong with one of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().getrandbits(32))
    parser.add_argument("--inputs", type=int, default=4000)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    print(f"{options.inputs} inputs, SEED={options.seed}", flush=True)
    # Threads that libraries start would not be there in a forked process.
    os.environ.update(OPENBLAS_NUM_THREADS="1", COLUMNS="80")
    import_all()
    table = beside(options.seed, options.inputs, options.jobs)
    print("\n".join(shown(table)))
    lost = options.inputs - sum(table[kind, "inputs"] for kind in KINDS)
    return int(lost > 0 or any(table[kind, fault] for kind in KINDS for fault in FAULTS))


if __name__ == "__main__":
    sys.exit(main())
