"""Train the policy that ships, with the curve of what it is worth meanwhile."""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from dumbbell.learning import Point, Policy, Terms, export, train, worths

SEED: Final = 1
NAME: Final = "learnt"
EVERY: Final = 50
"""Rounds from one validation to the next."""

COLUMNS: Final = ("round", "steps", "processor_s", "reward", "deviation", "validation")


def write(folder: Path, terms: Terms = Terms()) -> Policy:  # noqa: B008 - it cannot change
    """Train on the training set; write the policy, its C file and its curve."""
    rows: list[list[str]] = []

    def keep(point: Point, policy: Policy) -> None:
        is_last = point.round == terms.rounds
        validation = f"{_share(policy):.4f}" if point.round % EVERY == 0 or is_last else ""
        rows.append(
            [
                str(point.round),
                str(point.steps),
                f"{point.processor_s:.1f}",
                f"{point.reward:.4f}",
                f"{point.deviation:.3f}",
                validation,
            ]
        )
        if validation:
            print(f"round {point.round}: {point.processor_s:.0f} s, {validation}", flush=True)

    policy = train("train", seed=SEED, terms=terms, on_round=keep)
    folder.mkdir(parents=True, exist_ok=True)
    policy.save(folder / "policy.json")
    export(policy, folder / f"{NAME}.c")
    _write_curve(folder / "curve.csv", rows)
    return policy


def _share(policy: Policy) -> float:
    """Return the mean reward on the validation set, over the rates of the bottlenecks."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{NAME}.c"
        export(policy, file)
        return float(np.mean([worth.share for worth in worths(str(file), "validation")]))


def _write_curve(file: Path, rows: Sequence[Sequence[str]]) -> None:
    with file.open("w", newline="") as output:
        csv.writer(output, lineterminator="\n").writerows([COLUMNS, *rows])
