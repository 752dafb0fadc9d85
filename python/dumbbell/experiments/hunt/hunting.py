"""``dumbbell hunt`` as a whole: the request, and the result."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import tomli_w

from dumbbell.algorithms import catalogue
from dumbbell.algorithms.catalogue import Algorithm
from dumbbell.base.errors import InputError, placed, unknown
from dumbbell.base.shell import joined
from dumbbell.base.units import NS_PER_S, parse_time
from dumbbell.engines import engines
from dumbbell.engines.choices import EngineName
from dumbbell.engines.engine import Engine
from dumbbell.execution import bounds, parallelism
from dumbbell.execution.executor import Interrupted, Progress
from dumbbell.execution.pools import Pool
from dumbbell.experiments.hunt import claiming, goals, space
from dumbbell.experiments.hunt.claiming import Confirmation, Statement
from dumbbell.experiments.hunt.goals import APART, CALM, Goal, Traffic
from dumbbell.experiments.hunt.search import SEEDS, Course, Search
from dumbbell.experiments.hunt.space import Space
from dumbbell.experiments.hunt.trying import FIRST_SEED, Attempts, Judge, Judged
from dumbbell.experiments.mixes import named
from dumbbell.experiments.tune import proposing
from dumbbell.plan.tests import check_count
from dumbbell.results import experiments
from dumbbell.store.store import Store

AGAINST: Final = ("cubic", "reno")
"""References unless others are named; the algorithm itself is none."""

POINTS: Final = 200
"""Scenarios that are tried unless it is said."""


@dataclass(frozen=True)
class Request:
    """A request: whom to hunt, compared with whom, and where.

    Attributes
    ----------
    algorithm
        Its name, or its C file.
    against
        The references; none: `AGAINST`.
    goal
        Goal of the search: see `goals`; empty: goodput, or for two sides whatever differs.
    either
        True to tell two algorithms apart, whichever is ahead.
    over, where
        The dimensions to search, and other ranges: see `space.space`.
    duration, stack
        Length of a run, and the TCP stack of the hosts.
    points, within
        Number of scenarios to try, and the time after which no further one is; empty: no limit.
    runs
        Runs of each side that confirm the finding.
    seed
        Source of the proposals.
    confirm
        "testbed": replay the finding on the kernel, too; empty: not.
    """

    algorithm: str
    against: tuple[str, ...] = ()
    goal: str = ""
    either: bool = False
    over: tuple[str, ...] = ()
    where: Mapping[str, str] = field(default_factory=dict)
    duration: str = "30s"
    stack: str = "linux-6"
    points: int = POINTS
    within: str = ""
    runs: int = 10
    seed: int = 0
    confirm: str = ""

    @property
    def wanted(self) -> Goal:
        """Goal of the search."""
        if not self.goal:
            return APART if self.either else goals.goal("goodput")
        return goals.goal(self.goal)

    @property
    def command(self) -> list[str]:
        """The command that makes the search again."""
        who = [self.algorithm]
        if self.either:
            who = ["--distinguish", self.algorithm, *self.against]
        flags = [] if self.either or not self.against else ["--against", ",".join(self.against)]
        flags += ["--goal", self.goal] if self.goal else []
        flags += [word for name in self.over for word in ("--over", name)]
        flags += [w for pair in self.where.items() for w in ("--where", "=".join(pair))]
        flags += ["--duration", self.duration, "--stack", self.stack]
        flags += ["--points", str(self.points), "--seed", str(self.seed)]
        flags += ["--runs", str(self.runs)]
        flags += ["--within", self.within] if self.within else []
        flags += ["--confirm", self.confirm] if self.confirm else []
        return ["hunt", *who, *flags]


@dataclass(frozen=True)
class Hunted:
    """The result of a hunt.

    Attributes
    ----------
    request
        The request.
    search
        The search, with its course.
    typed
        The sides as tables call them, the algorithm first, and as they were typed.
    proposer
        The proposer.
    statement
        The claim; None: there is no weakness, or runs fail.
    confirmations
        The claim judged on the simulator, and on the kernel if that was requested.
    not_replayed
        Reason why the kernel did not replay it; empty: it did, or was not asked to.
    interrupted
        True if Ctrl-C ended the search before its time.
    """

    request: Request
    search: Search
    typed: Mapping[str, str]
    proposer: str
    statement: Statement | None = None
    confirmations: tuple[Confirmation, ...] = ()
    not_replayed: str = ""
    interrupted: bool = False

    @property
    def algorithm(self) -> str:
        """The algorithm, as tables call it."""
        return next(iter(self.typed))

    @property
    def goal(self) -> Goal:
        """Goal of the search."""
        return self.search.judge.goal

    @property
    def course(self) -> Course:
        """The course of the search."""
        return self.search.course

    @property
    def space(self) -> Space:
        """The scenarios that were searched."""
        return self.search.space

    @property
    def minimal(self) -> Judged | None:
        """The minimal scenario; None: there is no weakness."""
        return self.course.minimal

    @property
    def name(self) -> str:
        """A name for files."""
        return f"{experiments.stem(self.algorithm)}-{experiments.stem(self.goal.name)}"

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        whole, minimal = self.space, self.minimal
        return {
            "algorithm": self.algorithm,
            "against": list(self.typed)[1:],
            "goal": self.goal.name,
            "searched": {dimension.name: dimension.range for dimension in whole.searched},
            "scenarios": len(self.course.tried),
            "runs": self.search.judge.runs.count,
            "late": self.course.late,
            "interrupted": self.interrupted,
            "worst_regret": self.course.worst.regret,
            "found": None if minimal is None else self._judged(minimal),
            "claim": None if self.statement is None else self.statement.text,
            "confirmed": [confirmation.as_dict() for confirmation in self.confirmations],
            "not_replayed": self.not_replayed,
            "shortlist": [self._judged(scenario) for scenario in self.course.shortlist],
            "steps": [vars(step) for step in self.course.steps],
            "map": [self._judged(cell) for cell in self.course.cells],
            "tried": [self._judged(scenario) for scenario in self.course.tried],
        }

    def _judged(self, judged: Judged) -> dict[str, Any]:
        content = {"scenario": self.space.values(judged.point), "regret": judged.regret}
        if judged.failure:
            return {**content, "failure": judged.failure}
        if judged.gap is None:
            return content
        gap = judged.gap
        return {
            **content,
            "worse": gap.worse,
            "better": gap.better,
            "measure": gap.measure,
            "values": dict(gap.values),
        }


def hunt(
    request: Request,
    *,
    results: Store | str | Path = "results",
    jobs: int | Pool | None = None,
    large: bool = False,
    on_step: Callable[[str], None] | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Hunted:
    """Search the scenario in which an algorithm is worst, make it minimal and confirm it.

    Every run goes through the results folder, so that the same search again, or one that was
    interrupted, makes only what is not there. Ctrl-C ends the search with what it has found. Unless
    what is `large` is meant, it raises TooLarge.
    """
    tell = on_step or (lambda _: None)
    kernel = _kernel(request)
    own_algorithms: dict[str, Algorithm] = {}
    typed = _sides(request, own_algorithms)
    store = Store.of(results)
    engine = engines.named(EngineName.SIMULATOR)
    goal = request.wanted
    runs = Attempts((), store, engine, jobs, own_algorithms, goal.references, on_progress)
    sides = (*typed, *([CALM] if goal.versus_calm else []))
    judge = Judge(_space(request, typed), goal, sides, request.either, runs)
    search = Search(judge, request.points, _within_s(request))
    check_count(request.points * judge.runs_of_point)
    if not large:
        _check_size(judge, own_algorithms, jobs)
    proposer = proposing.proposer(len(search.space.searched), 1, request.seed)
    unfinished = Hunted(request, search, typed, proposer.name, interrupted=True)
    try:
        search.go(proposer, tell)
        return _finished(unfinished, store, kernel, jobs, large=large, on_step=tell)
    except Interrupted:
        if not search.course.tried:
            raise
        return unfinished


def _kernel(request: Request) -> Engine | None:
    if not request.confirm:
        return None
    if request.confirm != EngineName.TESTBED:
        raise unknown("engine", request.confirm, [EngineName.TESTBED]).at(key="confirm")
    return engines.runnable(engines.named(request.confirm))


def _sides(request: Request, own_algorithms: dict[str, Algorithm]) -> dict[str, str]:
    """Return the algorithm and its references, as tables call them and as they were typed."""
    goal = request.wanted
    with placed(key="algorithm"):
        algorithm = named(request.algorithm, own_algorithms)
    typed = {algorithm: request.algorithm}
    if goal.versus_calm:
        if request.against:
            raise InputError(
                "the goal compares with the same path without cross traffic",
                key="against",
                value=",".join(request.against),
                valid="no references with this goal",
            )
        return typed
    for choice in request.against or [name for name in AGAINST if name != algorithm]:
        with placed(key="against"):
            reference = named(choice, own_algorithms)
        if reference in typed:
            raise InputError("twice", key="against", value=choice, valid="other algorithms")
        typed[reference] = choice
    return typed


def _space(request: Request, typed: Mapping[str, str]) -> Space:
    with placed(key="duration"):
        duration_ns = parse_time(request.duration)
    if duration_ns < NS_PER_S:
        raise InputError(
            "too short for three thirds", key="duration", value=request.duration, valid="1s or more"
        )
    with placed(key="stack"):
        catalogue.stack_profile(request.stack)
    traffic = request.wanted.traffic
    beside = list(typed)[1] if traffic is Traffic.BESIDE else ""
    plain = Space(traffic, duration_ns, request.stack, beside)
    whole = space.space(plain, request.over, request.where)
    if request.wanted.versus_calm:
        space.check_cross_traffic(whole)
    return whole


def _within_s(request: Request) -> float:
    if not request.within:
        return math.inf
    with placed(key="within"):
        within_ns = parse_time(request.within)
    if within_ns == 0:
        raise InputError("no time for a scenario", key="within", value=request.within, valid="5min")
    return within_ns / NS_PER_S


def _check_size(
    judge: Judge, own_algorithms: Mapping[str, Algorithm], jobs: int | Pool | None
) -> None:
    """Raise TooLarge if the largest run is larger than anybody is likely to mean."""
    engine = judge.runs.engine
    largest = judge.space.point([1.0] * len(judge.space.searched))
    planned = judge.scene(largest).planned(judge.sides[0], {}, 0, own_algorithms, engine.identity)
    bounds.check([planned.resolved], engine, parallelism.at_once(engine, jobs))


def _finished(
    hunted: Hunted,
    store: Store,
    kernel: Engine | None,
    jobs: int | Pool | None,
    *,
    large: bool,
    on_step: Callable[[str], None],
) -> Hunted:
    """Return the hunt with its claim, judged on each engine."""
    request, minimal = hunted.request, hunted.minimal
    done = Hunted(request, hunted.search, hunted.typed, hunted.proposer)
    if minimal is None or minimal.gap is None:
        return done
    statement = Statement.of(hunted.goal, minimal.gap, hunted.space.beside)
    study = claiming.content(statement, hunted.space, minimal.point, hunted.typed, request.command)
    on_step("confirming with other seeds")
    simulator = engines.named(EngineName.SIMULATOR)
    judged = [claiming.confirm(study, store, simulator, runs=request.runs, jobs=jobs, large=large)]
    why = ""
    if kernel is not None:
        why = _too_fast(hunted.space, minimal)
        if not why:
            on_step("replaying on the kernel")
            runs = min(SEEDS, request.runs)
            judged.append(claiming.confirm(study, store, kernel, runs=runs, jobs=None, large=large))
    return Hunted(
        request, hunted.search, hunted.typed, hunted.proposer, statement, tuple(judged), why
    )


def _too_fast(whole: Space, minimal: Judged) -> str:
    fastest = whole.fastest_mbit(minimal.point)
    if fastest <= claiming.KERNEL_MBIT:
        return ""
    return f"{fastest:.0f} Mbit/s are beyond what the testbed keeps up with"


def scenario_file(hunted: Hunted, folder: Path) -> str:
    """Return the minimal scenario as the text of a file in a folder, with its claim."""
    minimal = hunted.minimal
    assert minimal is not None, "nothing was found"
    typed = hunted.typed[hunted.algorithm]
    table = hunted.space.table(minimal.point)
    title = hunted.space.words(minimal.point)
    file = folder / f"{hunted.name}.toml"
    lines = [f"Found by: {joined(['dumbbell', *hunted.request.command])}"]
    if minimal.failure:
        lines.append(f"The run of {hunted.algorithm} fails: {minimal.failure}")
        again = ["dumbbell", "simulate", str(file)]
    else:
        assert hunted.statement is not None
        lines.append(f"Claim: {hunted.statement.text}")
        lines += [
            f"On the {confirmation.engine}: {confirmation.verdict}, {confirmation.measured}"
            for confirmation in hunted.confirmations
        ]
        lines += [f"Not replayed on the testbed: {hunted.not_replayed}"] * bool(hunted.not_replayed)
        again = ["dumbbell", "compare", *hunted.typed.values(), "--on", str(file)]
        again += ["--runs", str(hunted.request.runs)]
    lines.append(f"Again: {joined(again)}")
    lines += [
        f"Judge again: {joined(['dumbbell', *confirmation.command])}"
        for confirmation in hunted.confirmations
    ]
    comment = "\n".join(f"# {line}" for text in lines for line in text.splitlines())
    content = {
        "title": title,
        "seed": FIRST_SEED,
        "algorithm": catalogue.seen_from(typed, folder),
        **table,
    }
    return f"{comment}\n{tomli_w.dumps(content)}"
