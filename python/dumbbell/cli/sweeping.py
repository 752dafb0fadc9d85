"""``dumbbell compare`` over several paths: a sweep, run as a study and shown on pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl
import typer

from dumbbell.base.labels import number
from dumbbell.cli import campaign, pages
from dumbbell.cli.output import Form, print_csv, print_table
from dumbbell.cli.tables import plain, table
from dumbbell.engines import engines
from dumbbell.experiments import sweeps
from dumbbell.experiments.setting import of_setting
from dumbbell.experiments.sweeps import Axis
from dumbbell.quantities.taking import described
from dumbbell.results.campaign import Campaign
from dumbbell.results.plans import Plan
from dumbbell.results.results import Results
from dumbbell.store.store import Store

if TYPE_CHECKING:
    from dumbbell.cli.compare_command import How


def sweep(
    algorithms: Sequence[str],
    axes: Sequence[Axis],
    how: How,
    *,
    duration: str,
    stack: str,
    runs: int,
    seed: int,
) -> None:
    """Run a sweep and say what is best where; the exit code is 1 if a run failed or is invalid."""
    content = sweeps.sweep(algorithms, axes, duration=duration, stack=stack, runs=runs)
    store = Store(how.results)
    store.create()
    engine = engines.named(how.engine)
    with of_setting():
        campaign_of_sweep = Campaign.of_experiment(content, store, engine, Plan.asked(seed=seed))
    outcome = campaign.run(campaign_of_sweep, jobs=how.jobs, retries=how.retries, large=how.large)
    _show(campaign_of_sweep.results(), how.form)
    pages.tell(campaign_of_sweep, how.report)
    if outcome.failed or outcome.invalid:
        raise typer.Exit(1)


@dataclass(frozen=True)
class _Best:
    """The best algorithm by a quantity, and its mean in the unit that is shown."""

    algorithm: str
    mean: float
    unit: str

    def __str__(self) -> str:
        return f"{self.algorithm} {number(self.mean)} {self.unit}".strip()


def _show(found: Results, wanted: Form) -> None:
    """Print which algorithm is the best at each point, by each quantity."""
    names = [name for name in sweeps.SHOWN if described(name).best is not None]
    frame = found.table("sweep", names)
    axes = [axis for axis in found.study.test("sweep").axes if axis != "algorithm"]
    swept = [axis for axis in axes if frame[axis].n_unique() > 1]
    means = frame.group_by([*swept, "algorithm"], maintain_order=True).agg(pl.col(names).mean())
    points = [
        (point, [_best(rows, name) for name in names])
        for point, rows in means.group_by(swept, maintain_order=True)
    ]
    if wanted is Form.CSV:
        heads = [head for name in names for head in _heads(name)]
        print_csv([*swept, *heads], ([*point, *_flat(best)] for point, best in points))
        return
    result = table(*swept, *(f"{sweeps.SHOWN[name]}: best" for name in names))
    for point, best in points:
        result.add_row(*map(plain, point), *(plain("–" if each is None else each) for each in best))
    print_table(result)


def _best(rows: pl.DataFrame, name: str) -> _Best | None:
    """Return the best of the algorithms at one point; None if no run has a value."""
    quantity = described(name)
    known = rows.drop_nulls(name).sort(name, descending=quantity.best == "highest")
    if known.is_empty():
        return None
    row = known.row(0, named=True)
    return _Best(row["algorithm"], row[name] * quantity.shown_scale, quantity.shown_unit)


def _heads(name: str) -> tuple[str, str]:
    title, unit = sweeps.SHOWN[name], described(name).shown_unit
    return f"{title}: best", f"{title} ({unit})" if unit else title


def _flat(best: Sequence[_Best | None]) -> Iterator[str | float | None]:
    for each in best:
        yield from (None, None) if each is None else (each.algorithm, each.mean)
