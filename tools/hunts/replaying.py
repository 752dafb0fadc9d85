"""A found scenario, replayed from its file with seeds that no search has seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dumbbell.base.documents import read_toml
from dumbbell.base.errors import DumbbellError
from dumbbell.base.labels import listing
from dumbbell.engines import engines
from dumbbell.engines.choices import EngineName
from dumbbell.experiments import on_scenario
from dumbbell.experiments.hunt.hunting import AGAINST
from dumbbell.experiments.hunt.space import SETTLING
from dumbbell.inference import statistics
from dumbbell.inference.estimates import Estimate
from dumbbell.plan.windows import Window
from dumbbell.quantities import taking
from dumbbell.store.store import Store


class NoValidRun(DumbbellError):  # noqa: N818 - what is missing, not what went wrong
    """The testbed could not make any run of a side in time."""


@dataclass(frozen=True)
class Replayed:
    """A found scenario with what its file gives.

    Attributes
    ----------
    algorithm, scenario
        The algorithm, and the scenario in words.
    file
        Name of the scenario file.
    means
        The goodput that counts with each side, in Mbit/s, the algorithm's first.
    best
        The reference with the largest mean.
    kept
        The algorithm's value over the best reference's.
    """

    algorithm: str
    scenario: str
    file: str
    means: Mapping[str, Estimate]
    best: str
    kept: Estimate

    @property
    def regret(self) -> tuple[float, float, float]:
        """The regret and its 95 % interval."""
        return 1 - self.kept.value, 1 - self.kept.high, 1 - self.kept.low

    @property
    def sides(self) -> list[str]:
        """The algorithm and its references."""
        return list(self.means)


def replayed(
    file: Path,
    quantity: str,
    store: Store,
    runs: int,
    *,
    against: Sequence[str] = AGAINST,
    engine: EngineName = EngineName.SIMULATOR,
) -> Replayed:
    """Run a scenario file with its algorithm and the references, and compare a goodput.

    `quantity` is its name with whose it is.

    The runs are those of ``dumbbell compare ALGORITHM cubic reno --on FILE``; a goodput is without
    the first fifth of a run, as in a hunt.
    """
    table = read_toml(file)
    algorithm = table["algorithm"]
    sides = [algorithm, *(name for name in against if name != algorithm)]
    campaign = on_scenario.campaign(
        sides,
        file,
        duration=None,
        runs=runs,
        seed=0,
        store=store,
        engine=engines.named(engine),
    )
    outcome, _ = campaign.run()
    outcome.raise_for_failed(campaign.places)
    window: dict[str, Any] = {"main": Window.model_validate({"settle": SETTLING})}
    planned = [replace(run, windows={**run.windows, **window}) for run in campaign.planned]
    values: dict[str, list[float]] = {side: [] for side in sides}
    for run, quantities in taking.of_runs(planned, [quantity], store):
        values[run.axes["algorithm"]].append(quantities[quantity] or 0.0)
    if without := [side for side, of_side in values.items() if not of_side]:
        raise NoValidRun(
            f"{file.name}: no valid run of {listing(without)}; the same command repeats it"
        )
    return _compared(algorithm, table["title"], file, values)


def _compared(
    algorithm: str, scenario: str, file: Path, values: Mapping[str, Sequence[float]]
) -> Replayed:
    means = {side: statistics.mean(of_side) for side, of_side in values.items()}
    best = max((side for side in means if side != algorithm), key=lambda side: means[side].value)
    kept = statistics.ratio(values[algorithm], values[best])
    return Replayed(algorithm, scenario, file.name, means, best, kept)
