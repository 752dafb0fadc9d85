"""``dumbbell tune`` as a whole: the request, and the result."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from dumbbell.algorithms import catalogue
from dumbbell.algorithms.catalogue import Algorithm
from dumbbell.base.errors import InputError
from dumbbell.engines import engines
from dumbbell.engines.choices import EngineName
from dumbbell.execution.executor import Interrupted, Progress
from dumbbell.execution.pools import Pool
from dumbbell.experiments.setting import Setting
from dumbbell.experiments.tune import judging, objectives, paths, proposing, space
from dumbbell.experiments.tune.judging import Effect, Line
from dumbbell.experiments.tune.paths import NetworkPath, Traffic
from dumbbell.experiments.tune.search import Course, Search
from dumbbell.experiments.tune.trying import Runs
from dumbbell.plan.tests import check_count
from dumbbell.store.store import Store

CANDIDATES_PER_DIMENSION: Final = 24


@dataclass(frozen=True)
class Request:
    """A request: the algorithm to tune, the paths and the objectives.

    Attributes
    ----------
    algorithm
        Its name, or its C file.
    parameters
        Parameters to search: ``kp``, ``kd=100..8000``; none: those that presets set, else all.
    rates, rtts, buffers
        The paths: all combinations.
    loss, duration, stack
        As of scenarios; the same on all paths.
    scenarios, held_out
        Folders of scenario files instead of these, and of those to judge on.
    traffic
        Traffic on the paths.
    objectives
        The objectives; several without weights give a front.
    repetitions
        Runs of a path at most.
    candidates
        Number of candidates to try; None: 24 for each parameter.
    seed
        Source of the proposals.
    """

    algorithm: str
    parameters: tuple[str, ...] = ()
    rates: tuple[str, ...] = ()
    rtts: tuple[str, ...] = ()
    buffers: tuple[str, ...] = ("1bdp",)
    loss: str = "0"
    duration: str = "60s"
    stack: str = "linux-6"
    scenarios: Path | None = None
    held_out: Path | None = None
    traffic: Traffic = field(default_factory=Traffic)
    objectives: tuple[str, ...] = ("goodput",)
    repetitions: int = 5
    candidates: int | None = None
    seed: int = 0

    def settings(self) -> list[Setting]:
        """Return the paths that options describe."""
        check_count(len(self.rates) * len(self.rtts) * len(self.buffers))
        return [
            Setting(rate, rtt, buffer, self.loss, self.duration, self.stack)
            for rate, rtt, buffer in itertools.product(self.rates, self.rtts, self.buffers)
        ]


@dataclass(frozen=True)
class Tuned:
    """The result of a search.

    Attributes
    ----------
    request
        The request.
    search
        The search, with its course.
    held_out
        The paths on which `lines` judges.
    lines
        The winner, the defaults and the presets on these; none if the search was interrupted.
    effects
        Effect of each parameter around the winner.
    confirmed
        As `lines`, on the kernel; none: not requested.
    proposer
        The proposer.
    """

    request: Request
    search: Search
    held_out: Sequence[NetworkPath]
    lines: tuple[Line, ...] = ()
    effects: tuple[Effect, ...] = ()
    confirmed: tuple[Line, ...] = ()
    proposer: str = ""

    @property
    def algorithm(self) -> Algorithm:
        """The algorithm."""
        return self.search.space.algorithm

    @property
    def course(self) -> Course:
        """The course of the search."""
        return self.search.course

    @property
    def winner(self) -> dict[str, int]:
        """The best parameters."""
        assert self.course.best is not None, "nothing was searched"
        return self.search.space.values(self.course.best.candidate)

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        tried = [
            {
                "parameters": self.search.space.values(attempt.candidate),
                "objectives": list(attempt.mean),
                "repetitions": attempt.repetitions,
                "dropped": attempt.dropped,
            }
            for attempt in self.course.tried
        ]
        return {
            "algorithm": self.algorithm.name,
            "objectives": [objective.name for objective in self.search.runs.objectives],
            "paths": [path.name for path in self.search.paths],
            "held_out": [path.name for path in self.held_out],
            "left_out": list(self.search.space.left_out),
            "winner": self.winner,
            "front": [self.search.space.values(attempt.candidate) for attempt in self.course.front]
            if self.search.front
            else [],
            "lines": [line.as_dict() for line in self.lines],
            "confirmed": [line.as_dict() for line in self.confirmed],
            "effects": [effect.as_dict() for effect in self.effects],
            "tried": tried,
            "runs": self.search.runs.count,
            "interrupted": self.course.interrupted,
        }


def tune(
    request: Request,
    *,
    results: Store | str | Path = "results",
    jobs: int | Pool | None = None,
    confirm: str | None = None,
    large: bool = False,
    on_batch: Callable[[Search], None] | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Tuned:
    """Search parameters, and judge the best on paths and random numbers that were not searched.

    Every run goes through the results folder, so that the same search again, or one that was
    interrupted, makes only what is not there. Ctrl-C ends the search with what it has found. Unless
    what is `large` is meant, it raises TooLarge.
    """
    own_algorithms: dict[str, Algorithm] = {}
    choice = catalogue.named(request.algorithm, Path(), own_algorithms)
    algorithm, preset = catalogue.split_preset(choice, own_algorithms=own_algorithms)
    if preset is not None:
        raise InputError(
            "tuning begins at the initial values",
            key="algorithm",
            value=choice,
            valid=algorithm.name,
        )
    searched_paths, held_out = _paths(request)
    marks = any(path.has_marks(choice, own_algorithms) for path in searched_paths)
    searched = space.space(algorithm, request.parameters, marks=marks)
    store = Store.of(results)
    runs = Runs(
        _objectives(request),
        store,
        engines.named(EngineName.SIMULATOR),
        jobs,
        own_algorithms,
        judging.SHOWN,
        on_progress,
    )
    search = Search(
        searched,
        searched_paths,
        choice,
        runs,
        request.repetitions,
        request.candidates or CANDIDATES_PER_DIMENSION * len(searched.dimensions),
        front=_is_front(request),
    )
    times = search.candidates * search.repetitions
    check_count(len(searched_paths) * times)
    if not large:
        paths.check_size(searched_paths, choice, own_algorithms, jobs, times=times)
    count = len(runs.objectives) if search.front else 1
    proposer = proposing.proposer(len(searched.dimensions), count, request.seed)
    try:
        for _ in search.go(proposer):
            if on_batch is not None:
                on_batch(search)
    except Interrupted:
        # Nothing was finished, so there is nothing to return.
        if search.course.best is None:
            raise
        search.course.interrupted = True
        return Tuned(request, search, held_out, proposer=proposer.name)
    return Tuned(
        request,
        search,
        held_out,
        tuple(judging.lines(search, held_out, request.repetitions)),
        tuple(judging.effects(search)),
        _confirmed(search, held_out, confirm),
        proposer.name,
    )


def _objectives(request: Request) -> tuple[objectives.Objective, ...]:
    offered = request.traffic.offered
    if request.scenarios is not None:
        offered.append("several flows")
    objectives_of_request = tuple(
        objectives.objective(text, offered) for text in request.objectives
    )
    if not objectives_of_request:
        raise InputError("no objective is given", key="objective", valid="goodput")
    return objectives_of_request


def _is_front(request: Request) -> bool:
    weighted = ["*" in text for text in request.objectives]
    if len(weighted) > 1 and any(weighted) and not all(weighted):
        raise InputError(
            "some objectives have weights and some have none",
            key="objective",
            value=" ".join(request.objectives),
            valid="weights for all, as goodput*2, or for none, which gives a front",
        )
    return len(weighted) > 1 and not any(weighted)


def _paths(request: Request) -> tuple[list[NetworkPath], list[NetworkPath]]:
    """Return the paths to search on and those to judge on."""
    if request.scenarios is None:
        if request.held_out is not None:
            raise InputError("goes with scenario files", key="held_out", valid="with `scenarios`")
        for name, values in (("rate", request.rates), ("rtt", request.rtts)):
            if not values:
                raise InputError("no path", key=name, valid="a path, or `scenarios`")
        settings = request.settings()
        searched = paths.described(settings, request.traffic)
        return searched, paths.described(paths.around(settings), request.traffic)
    if request.rates or request.rtts:
        raise InputError("paths are in the files", key="scenarios", valid="no `rate`, no `rtt`")
    searched = paths.from_folder(request.scenarios, request.algorithm)
    if request.held_out is None:
        # The same paths judge, with random numbers that the search has not seen.
        return searched, searched
    return searched, paths.from_folder(request.held_out, request.algorithm)


def _confirmed(
    search: Search, held_out: Sequence[NetworkPath], confirm: str | None
) -> tuple[Line, ...]:
    """Judge winner and defaults on the kernel."""
    if confirm is None:
        return ()
    kernel = engines.runnable(engines.named(confirm))
    # Real time: a run takes as long as it lasts, and several at once would disturb each other.
    runs = replace(search.runs, engine=kernel, jobs=None, count=0, invalid=[], _values={})
    return tuple(judging.confirmed(search, held_out, min(3, search.repetitions), runs))


def preset_file(tuned: Tuned) -> str:
    """Return the winner as a preset file."""
    names = ", ".join(path.name for path in tuned.search.paths)
    wanted = ", ".join(objective.name for objective in tuned.search.runs.objectives)
    source = f"dumbbell tune: {wanted} on {names}"
    quoted = source.replace("\\", "\\\\").replace('"', '\\"')
    lines = [f'algorithm = "{tuned.algorithm.name}"', f'source = "{quoted}"', "", "[parameters]"]
    lines += [f"{name} = {value}" for name, value in tuned.winner.items()]
    text = "\n".join(lines) + "\n"
    # Read back at once: a file that nothing can read would waste the search.
    tomllib.loads(text)
    return text
