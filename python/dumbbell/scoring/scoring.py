"""``dumbbell score`` as a whole: the request, the candidate's problems, and its score."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final

from dumbbell.algorithms import apart
from dumbbell.base.errors import InputError
from dumbbell.engines import engines
from dumbbell.engines.choices import EngineName
from dumbbell.execution import parallelism
from dumbbell.experiments.advise.conditions import HARM_MAX, percent
from dumbbell.inference import statistics
from dumbbell.inference.estimates import Estimate
from dumbbell.scoring import suites
from dumbbell.scoring.candidate import LIMITS, Candidate
from dumbbell.scoring.measuring import measured
from dumbbell.scoring.problems import Code, Problem, Refused
from dumbbell.scoring.racing import Bar, Race, race
from dumbbell.scoring.suites import Suite
from dumbbell.scoring.worth import Gauge, Ratio, ratios, score

SCHEMA: Final = 1
"""Version of the JSON."""

_OTHERS: Final = "others"
"""The part that shows harm."""


class Status(StrEnum):
    """Outcome for a candidate."""

    SCORED = "scored"
    DROPPED = "dropped"
    REFUSED = "refused"


@dataclass(frozen=True)
class Score:
    """The score of a candidate.

    Attributes
    ----------
    algorithm
        The candidate as it was named.
    suite, split, engine
        The suite, the set of its paths, and the version of the simulator.
    status
        Its outcome: all paths have run, the race has dropped it, or it has no score.
    score
        The score with its interval over paths, 100 being the reference's; None: none.
    parts
        Parts of the score.
    gain
        By which factor it exceeds the candidate that it had to beat, over the paths that both ran;
        None: there was none.
    worths
        Natural logarithm of the score over 100 on each path.
    problems
        Its problems.
    """

    algorithm: str
    suite: Suite
    split: str
    engine: str
    status: Status
    score: Estimate | None = None
    parts: tuple[Ratio, ...] = ()
    gain: Estimate | None = None
    worths: Mapping[str, float] = field(default_factory=dict, repr=False)
    problems: tuple[Problem, ...] = ()

    @property
    def passed(self) -> bool:
        """True if it ran all paths and has no problem."""
        ours = [problem for problem in self.problems if problem.code is not Code.UNAVAILABLE]
        return self.status is Status.SCORED and not ours

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "schema": SCHEMA,
            "algorithm": self.algorithm,
            "suite": self.suite.name,
            "paths": self.split,
            "engine": self.engine,
            "status": self.status.value,
            "passed": self.passed,
            "score": None if self.score is None else self.score.as_dict(),
            "gain": None if self.gain is None else self.gain.as_dict(),
            "parts": [part.as_dict() for part in self.parts],
            "runs": len(self.worths),
            "problems": [problem.as_dict() for problem in self.problems],
            "worths": dict(self.worths),
        }


@dataclass(frozen=True)
class Request:
    """A request.

    Attributes
    ----------
    algorithm
        The candidate: a C file, or an algorithm by its name; with a preset or without.
    suite
        Name of the suite.
    split
        Its set of paths: "train", "validation" or "test".
    beat
        Worths of another candidate by path: a race against it drops what is clearly worse.
    in_kernel
        True to check it in the kernel, too: compiler, verifier, parity.
    jobs
        Runs at the same time; None: one for each processor.
    """

    algorithm: str
    suite: str
    split: str = suites.TRAIN
    beat: Mapping[str, float] = field(default_factory=dict)
    in_kernel: bool = False
    jobs: int | None = None


def to_beat(content: object, suite: str, split: str) -> Mapping[str, float]:
    """Return the worths of an earlier score, the content of its JSON; None: there is none.

    InputError if it is none, or of another suite, set or version of the engine.
    """
    if content is None:
        return {}
    engine = engines.named(EngineName.SIMULATOR).identity
    expected = {"suite": suite, "paths": split, "engine": engine}
    worths = content.get("worths") if isinstance(content, Mapping) else None
    if not isinstance(content, Mapping) or not isinstance(worths, Mapping):
        raise InputError(
            "not a score",
            key="beat",
            value=content,
            valid="what `dumbbell score --json` has printed",
        )
    for key, value in expected.items():
        if content.get(key) != value:
            raise InputError(
                "not a score of these paths", key=f"beat.{key}", value=content.get(key), valid=value
            )
    if not all(
        isinstance(worth, int | float) and math.isfinite(worth) for worth in worths.values()
    ):
        raise InputError("not numbers", key="beat.worths", valid="finite numbers by path")
    return worths


def score_of(request: Request, on_step: Callable[[str], None] = lambda _: None) -> Score:
    """Score a candidate; problems of its file are part of the score.

    InputError if there is no such file, algorithm, suite or set.
    """
    suite = suites.load(request.suite)
    engine = engines.named(EngineName.SIMULATOR)
    gauge = Gauge(suite, suite.paths(request.split), request.split, measured({}))
    jobs = parallelism.jobs(engine, request.jobs)
    bar = Bar(suite.drop_below, request.beat)
    empty = Score(request.algorithm, suite, request.split, engine.identity, Status.REFUSED)
    try:
        with apart.bounded(LIMITS):
            on_step("compiling")
            candidate = Candidate.read(request.algorithm)
            candidate.check_interface()
            outcome = race(gauge, candidate, bar, jobs, lambda end: on_step(f"{end} paths"))
    except Refused as error:
        return replace(empty, problems=error.problems)
    gauge.keep()
    if request.in_kernel and not outcome.dropped:
        on_step("in the kernel")
        return _scored(empty, request, outcome, candidate.in_kernel())
    return _scored(empty, request, outcome, ())


def _scored(empty: Score, request: Request, outcome: Race, wrong: Sequence[Problem]) -> Score:
    parts = ratios(empty.suite, list(outcome.worths.values()))
    totals = outcome.totals
    gains = [math.exp(totals[name] - request.beat[name]) for name in totals if name in request.beat]
    return replace(
        empty,
        status=Status.DROPPED if outcome.dropped else Status.SCORED,
        score=score(list(totals.values())),
        parts=parts,
        gain=statistics.geometric_mean(gains) if gains else None,
        worths=totals,
        problems=(*wrong, *_harm(empty.suite, request.algorithm, parts)),
    )


def _harm(suite: Suite, algorithm: str, parts: Sequence[Ratio]) -> Iterator[Problem]:
    """Yield the problem if other flows lose clearly more than next to the reference."""
    for part in parts:
        if part.part.name != _OTHERS or part.ratio is None or part.ratio.high >= 1 - HARM_MAX:
            continue
        lost = f"{percent(1 - part.ratio.value)} ({percent(1 - part.ratio.high)} or more)"
        yield Problem(
            Code.HARM,
            f"flows next to it lose {lost} of the goodput that they have next to "
            f"{suite.reference}, over {part.paths} paths",
            algorithm,
            remedy=f"leave them {percent(1 - HARM_MAX)}: cut more on loss, or grow less",
        )
