"""Candidates an hour of `dumbbell score`, and whether it ranks as a fuller campaign does.

Candidates are all built-in algorithms and mutants of them: their C files with other initial values
of one to three parameters, drawn as `dumbbell tune` draws them. The campaign has other paths of the
same distribution, more of them and longer ones, and drops nobody.

    .venv/bin/python benches/score.py MUTANTS [--campaign PATHS DURATION]
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import re
import resource
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats  # type: ignore[import-untyped]

from dumbbell.algorithms import apart, catalogue
from dumbbell.algorithms.catalogue import Algorithm
from dumbbell.experiments.tune.space import Dimension
from dumbbell.scoring import suites
from dumbbell.scoring.candidate import Candidate
from dumbbell.scoring.scoring import Request, Status, score_of

SUITE = "internet-1"
CORES = 2


def mutant(algorithm: Algorithm, folder: Path, draw: random.Random) -> Path | None:
    """Write a C file with other initial values; None if the text has none that can be changed."""
    name = f"m_{algorithm.name}"
    text = re.sub(rf"\b{algorithm.name}(?=\b|_)", name, algorithm.code)
    chosen = [parameter for parameter in algorithm.parameters if parameter.low < parameter.high]
    changed = False
    for parameter in draw.sample(chosen, min(len(chosen), draw.randint(1, 3))):
        value = Dimension(parameter, parameter.low, parameter.high).value(draw.random())
        row = re.compile(rf'(\bP\(\s*{parameter.name}\s*,\s*"[^"]*"\s*,\s*)[^,]+,')
        text, count = row.subn(rf"\g<1>{value},", text, count=1)
        changed |= count > 0
    if not changed:
        return None
    file = folder / f"{name}.c"
    file.write_text(text)
    return file


def candidates(mutants: int, folder: Path) -> list[str]:
    """Return the built-in algorithms, and files of mutants in folders of their own."""
    draw = random.Random(1)
    algorithms = list(catalogue.algorithms().values())
    files: list[str] = []
    while len(files) < mutants:
        place = folder / str(len(files))
        place.mkdir(exist_ok=True)
        file = mutant(draw.choice(algorithms), place, draw)
        if file is not None:
            files.append(str(file))
    return [*catalogue.algorithms(), *files]


def ranks(pairs: list[tuple[float, float]], what: str) -> None:
    """Print both coefficients with the interval of 2,000 resamplings."""
    values = np.array(pairs)
    random_numbers = np.random.default_rng(0)
    for name, measure in (("Spearman", stats.spearmanr), ("Kendall", stats.kendalltau)):
        again = []
        for _ in range(2000):
            rows = values[random_numbers.integers(len(values), size=len(values))]
            again.append(measure(rows[:, 0], rows[:, 1]).statistic)
        low, high = np.nanquantile(again, [0.025, 0.975])
        value = measure(values[:, 0], values[:, 1]).statistic
        print(f"{what}: {name} {value:.3f} ({low:.3f} to {high:.3f}) of {len(values)}")


def processor_s() -> float:
    """Return the processor time of this process and of all children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def wait_for_children() -> None:
    """Have children end alone where they can, or their time would not be counted."""
    kill = apart.Child._kill_group

    def patient(child: apart.Child) -> None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            child._process.wait(5)
        kill(child)

    apart.Child._kill_group = patient  # type: ignore[method-assign, assignment]


def scored(choices: list[str], out: Path, label: str) -> dict[str, dict[str, Any]]:
    """Score each, and append the outcome to a file; what the file has is not scored again."""
    known = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
    outcomes = {outcome["choice"]: outcome for outcome in known if outcome["label"] == label}
    with out.open("a") as file:
        for choice in choices:
            if choice in outcomes:
                continue
            began_s, used_s = time.monotonic(), processor_s()
            got = score_of(Request(choice, SUITE))
            outcomes[choice] = {
                "label": label,
                "choice": choice,
                "seconds": time.monotonic() - began_s,
                "processor_s": processor_s() - used_s,
                "status": got.status.value,
                "score": None if got.score is None else got.score.value,
                "runs": len(got.worths),
                "problems": [problem.code.value for problem in got.problems],
            }
            file.write(json.dumps(outcomes[choice]) + "\n")
            file.flush()
    return outcomes


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mutants", type=int)
    parser.add_argument("--campaign", nargs=2, metavar=("PATHS", "DURATION"))
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "score-bench")
    options = parser.parse_args()
    options.folder.mkdir(exist_ok=True)
    wait_for_children()
    choices = candidates(options.mutants, options.folder)
    out = options.folder / "scores.jsonl"
    quick = scored(choices, out, "score")
    _speed([quick[choice] for choice in choices[len(catalogue.algorithms()) :]])
    if options.campaign:
        paths, duration = options.campaign
        suite = suites.load(SUITE)
        distribution = {**suite.distribution, "duration": duration}
        update = {"name": "internet-99", "rounds": (int(paths),), "distribution": distribution}
        whole = suite.model_copy(update=update)
        suites.load = lambda _: whole  # type: ignore[assignment]
        Candidate.check_calls = lambda _: None  # type: ignore[method-assign, assignment]
        full = scored(choices, out, f"{paths} paths of {duration}")
        _agreement(choices, quick, full)


def _speed(mutants: list[dict[str, Any]]) -> None:
    took_s = sum(outcome["seconds"] for outcome in mutants)
    for status in Status:
        some = [outcome for outcome in mutants if outcome["status"] == status.value]
        if some:
            means = (
                np.mean([outcome[key] for outcome in some]) for key in ("seconds", "processor_s")
            )
            took, used = (f"{mean:.2f} s" for mean in means)
            print(f"{status.value}: {len(some)}, {took} each, {used} of processor time")
    if mutants:
        used_s = sum(outcome["processor_s"] for outcome in mutants) / CORES
        hourly = (f"{3600 * len(mutants) / seconds:.0f}" for seconds in (took_s, used_s))
        print("{} an hour as it was, {} by processor time of two cores".format(*hourly))


def _agreement(
    choices: list[str], quick: dict[str, dict[str, Any]], full: dict[str, dict[str, Any]]
) -> None:
    built_in = set(catalogue.algorithms())
    groups = {
        "built-in algorithms": [choice for choice in choices if choice in built_in],
        "mutants": [choice for choice in choices if choice not in built_in],
        "all": choices,
    }
    for what, some in groups.items():
        pairs = [
            (quick[choice]["score"], full[choice]["score"])
            for choice in some
            if quick[choice]["score"] is not None and full[choice]["score"] is not None
        ]
        if len(pairs) > 2:
            ranks(pairs, what)


if __name__ == "__main__":
    main()
