"""One number for an algorithm."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from dumbbell.api.table import Table
from dumbbell.base import kinds
from dumbbell.base.arguments import wrong
from dumbbell.inference.estimates import Estimate
from dumbbell.scoring import scoring, suites, words
from dumbbell.scoring.problems import Problem


class Score(Table):
    """The score of an algorithm, its parts, and its problems.

    Attributes
    ----------
    details
        All that was measured: `dumbbell.scoring.scoring.Score`.
    """

    def __init__(self, details: scoring.Score) -> None:
        self.details = details

    @property
    def value(self) -> float | None:
        """The score: 100 is the reference's, and more is better; None: there is none."""
        return None if self.details.score is None else self.details.score.value

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the score over paths; None: there is no score."""
        return None if self.details.score is None else self.details.score.interval

    @property
    def gain(self) -> Estimate | None:
        """Factor by which it exceeds the candidate to beat, path by path; None: there was none."""
        return self.details.gain

    @property
    def status(self) -> str:
        """``"scored"``, ``"dropped"`` by the race, or ``"refused"``."""
        return self.details.status.value

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Its problems: codes, places, messages and remedies."""
        return self.details.problems

    @property
    def passed(self) -> bool:
        """True if it ran on all paths and has no problem."""
        return self.details.passed

    @property
    def worths(self) -> Mapping[str, float]:
        """Natural logarithm of the score over 100 on each path that has run."""
        return self.details.worths

    def to_dict(self) -> dict[str, Any]:
        """Return what ``dumbbell score --json`` prints."""
        return self.details.as_dict()

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each part.

        ``ratio``, ``ratio_low`` and ``ratio_high`` are the geometric mean over ``paths`` of the
        ratio to the reference, to the power of the part's weight.
        """
        rows = []
        for part in self.details.parts:
            ends = {} if part.ratio is None else part.ratio.as_dict()
            values = (ends.get(end) for end in ("value", "low", "high"))
            rows.append((part.part.name, *values, part.paths))
        schema = {
            "part": pl.String,
            **dict.fromkeys(("ratio", "ratio_low", "ratio_high"), pl.Float64),
            "paths": pl.Int64,
        }
        return pl.DataFrame(rows, schema=schema, orient="row")

    @property
    def _heading(self) -> tuple[str, str]:
        lines = [words.conclusion(self.details), *map(str, self.problems)]
        return f"score of {self.details.algorithm}", " ".join(lines)


def score(
    algorithm: str | Path,
    *,
    suite: str = "internet-1",
    paths: str = suites.TRAIN,
    beat: Score | Mapping[str, Any] | None = None,
    kernel: bool = False,
    jobs: int | None = None,
) -> Score:
    """Score an algorithm: one number for a search, with its parts and its problems.

    A C file is compiled, checked and run in separate processes, whose time, memory and number are
    limited. Its faults are problems of the score, not errors.

    Parameters
    ----------
    algorithm
        Its C file or its name, with a preset or without.
    suite
        Name of the suite, with its version.
    paths
        The set of paths: "train" for a search, "validation" and "test" to judge what it has found.
    beat
        Score of another algorithm on the same paths, or its ``to_dict()``. A race, path by path,
        drops the algorithm if it is clearly worse.
    kernel
        True to check it in the kernel, too: BPF compiler, verifier and parity.
    jobs
        Runs at the same time; None: one for each processor.

    Returns
    -------
    Score
        A table with a row for each part.

    Raises
    ------
    InputError
        If there is no such file, algorithm, suite or set.

    Examples
    --------
    >>> found = dumbbell.score("reno")
    >>> found.status, round(found.value) in range(80, 120)
    ('scored', True)
    """
    if not isinstance(algorithm, str | Path):
        raise wrong("algorithm", algorithm, "not an algorithm", "its C file, or its name")
    for key, value, example in (("suite", suite, "internet-1"), ("paths", paths, "train")):
        if not isinstance(value, str):
            raise wrong(key, value, "not a text", f'a name, such as "{example}"')
    kinds.check(Path(algorithm), "an algorithm")
    request = scoring.Request(
        str(algorithm),
        suite,
        paths,
        scoring.to_beat(beat.to_dict() if isinstance(beat, Score) else beat, suite, paths),
        kernel,
        jobs,
    )
    return Score(scoring.score_of(request))
