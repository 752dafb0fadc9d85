"""The runs of a contest, and what they show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from dumbbell.base.errors import DumbbellError
from dumbbell.engines import engines
from dumbbell.engines.choices import RETRIES, EngineName
from dumbbell.engines.engine import Engine
from dumbbell.execution.executor import Progress
from dumbbell.execution.pools import Pool
from dumbbell.experiments import sweeps
from dumbbell.experiments.compare import check_runs
from dumbbell.experiments.compete.content import content
from dumbbell.experiments.compete.contest import Contest
from dumbbell.experiments.compete.sides import sides
from dumbbell.experiments.setting import Setting, of_setting
from dumbbell.experiments.sweeps import Axis
from dumbbell.plan.tests import check_count
from dumbbell.results.campaign import Campaign
from dumbbell.results.plans import Plan
from dumbbell.results.results import Results
from dumbbell.store.store import Store

_ORDERS = 2
_MIXES = 3


@dataclass(frozen=True)
class Paths:
    """The path of a contest, or a sweep of paths; values as for `compare`."""

    rate: str
    rtt: str
    buffer: str = "1bdp"
    loss: str = "0"
    duration: str = "60s"
    stack: str = "linux-6"

    @property
    def axes(self) -> list[Axis]:
        """The keys that have several values, with these."""
        swept = ((name, getattr(self, name)) for name in ("rate", "rtt", "buffer", "loss"))
        return [sweeps.axis(name, text) for name, text in swept if sweeps.is_sweep(text)]

    @property
    def first(self) -> Setting:
        """The path, or the first one of a sweep."""
        return Setting(**{**vars(self), **{axis.name: axis.values[0] for axis in self.axes}})

    @property
    def flags(self) -> list[str]:
        """The options that describe it."""
        return [word for name, text in vars(self).items() for word in (f"--{name}", text)]


def compete(
    algorithms: Sequence[str],
    paths: Paths,
    *,
    runs: int = 5,
    seed: int = 0,
    engine: Engine | str = EngineName.SIMULATOR,
    results: Store | str | Path = "results",
    jobs: int | Pool | None = None,
    retries: int = RETRIES,
    large: bool = False,
    on_progress: Callable[[Progress], None] | None = None,
) -> Contest:
    """Run two algorithms against each other and return what each achieved.

    Parameters
    ----------
    algorithms
        Both sides: algorithms with their numbers of flows, such as ``bbr3:4`` and ``cubic:4``.
    paths
        The path.
    runs
        Repetitions with different seeds.
    seed, engine, results, jobs, retries, large, on_progress
        As for `compare`.
    """
    store = Store.of(results)
    planned = campaign(
        algorithms, paths, runs=runs, seed=seed, store=store, engine=engines.named(engine)
    )
    planned.complete(large=large, jobs=jobs, retries=retries, on_progress=on_progress)
    return contest(planned)


def campaign(
    algorithms: Sequence[str], paths: Paths, *, runs: int, seed: int, store: Store, engine: Engine
) -> Campaign:
    """Keep a contest in a results folder and return what is to be run; see `compete`."""
    both, axes = sides(algorithms), paths.axes
    check_runs(runs)
    # Both sides together and each among its own kind, with either side first.
    count = _MIXES * _ORDERS * runs
    for axis in axes:
        count *= len(axis.values)
    check_count(count)
    study = content(both, paths.first, axes, flags=paths.flags)
    store.create()
    with of_setting():
        return Campaign.of_experiment(study, store, engine, Plan.requested(runs=runs, seed=seed))


def contest(campaign: Campaign) -> Contest:
    """Return the result of the planned runs; DumbbellError if none is valid."""
    results = Results(campaign.study, campaign.store, [campaign.plan], campaign.engine)
    result = Contest.of(results)
    if not result.outcomes:
        raise DumbbellError(f"no run is valid; the first is {next(iter(results.invalid.values()))}")
    return result
