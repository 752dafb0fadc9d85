"""Spread of goodputs with the phase of packets, as a table."""

from __future__ import annotations

from typing import Final

import polars as pl

from dumbbell.api.table import Rows
from dumbbell.base import arguments
from dumbbell.engines.engine import Engine
from dumbbell.engines.result import Run
from dumbbell.experiments import phases
from dumbbell.experiments.phases import Spread
from dumbbell.scenario.resolve import ResolvedScenario

_SCHEMA: Final = {
    "label": pl.String,
    "goodput_mbit_per_s": pl.Float64,
    "perturbed_mean": pl.Float64,
    "perturbed_min": pl.Float64,
    "perturbed_max": pl.Float64,
    "spread_share": pl.Float64,
}


class Spreads(Rows[Spread]):
    """The goodput of each flow, as it is and with other phases: a sequence of `Spread`."""

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each flow.

        ``goodput_mbit_per_s`` is that of the scenario as it is. The mean, the smallest and the
        largest value of the perturbed runs are also in Mbit/s. ``spread_share`` is the span of all
        runs divided by the mean; null if the mean is 0.
        """
        rows = [
            (
                spread.label,
                spread.as_is,
                spread.mean,
                min(spread.perturbed),
                max(spread.perturbed),
                spread.width,
            )
            for spread in self
        ]
        return pl.DataFrame(rows, schema=_SCHEMA, orient="row")

    @property
    def _heading(self) -> tuple[str, str]:
        runs = len(self[0].perturbed) if self else 0
        return "Goodput with other phases of packets", f"{runs} perturbed runs, Mbit/s"


def perturbed(
    scenario: ResolvedScenario,
    run: Run,
    times: int,
    *,
    engine: Engine,
    retries: int,
    jobs: int | None,
    large: bool,
) -> Spreads:
    """Run a scenario, whose result is `run`, `times` more times with other phases of packets."""
    arguments.number(times, "runs", 1)
    return Spreads(
        phases.perturb(scenario, run, times, engine=engine, retries=retries, jobs=jobs, large=large)
    )
