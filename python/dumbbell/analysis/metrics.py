"""Metrics of all runs of a test as a table, and their averages over repetitions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final
from weakref import WeakKeyDictionary

import polars as pl
from scipy import stats  # type: ignore[import-untyped]

from dumbbell.analysis.run_metrics import METRICS, Metric, Metrics, run_metrics
from dumbbell.errors import DamagedResult, unknown
from dumbbell.running import validity
from dumbbell.running.store import Store
from dumbbell.study import grid
from dumbbell.study.grid import Selection
from dumbbell.study.model import PlannedRun, Study, Test

__all__ = ["METRICS", "Metric", "Metrics", "aggregate", "frame", "metric", "run_metrics", "table"]

CONFIDENCE: Final = 0.95

# A run never changes, so its metrics are taken once for as long as its store is in use.
_taken: WeakKeyDictionary[Store, dict[object, Metrics]] = WeakKeyDictionary()


def metric(column: str) -> Metric:
    """Return what a column of the table is; an unknown one is an InputError."""
    first = re.sub(r"_\d+$", "_1", column)
    for known in METRICS:
        if known.column in (column, first):
            return known
    names = {known.column for known in METRICS}
    raise unknown("metric", column, sorted(names))


def table(
    study: Study,
    test: str | Test,
    store: Store,
    *,
    quick: bool = False,
    where: Selection | None = None,
    runs: int | None = None,
    seed: int = 0,
) -> pl.DataFrame:
    """Return the metrics of the finished runs of a test, one row per run.

    The columns are the axes as texts, their numbers (such as ``rtt_ms``), ``repetition``, and
    the metrics; runs that are not in the store, or are invalid, have no row. The other parameters
    choose runs as in `Study.runs`.
    """
    test = study.test(test) if isinstance(test, str) else test
    planned = study.runs(quick, where, runs, seed, tests=[test.name])
    return frame(test, finished(planned, store))


def finished(planned: Sequence[PlannedRun], store: Store) -> Iterator[tuple[PlannedRun, Metrics]]:
    """Yield the planned runs that are in the store and valid, with their metrics."""
    with ThreadPoolExecutor() as pool:
        results = pool.map(lambda run: _metrics_of(run, store), planned)
        for run, found in zip(planned, results, strict=True):
            if found is not None:
                yield run, found


def _metrics_of(planned: PlannedRun, store: Store) -> Metrics | None:
    """Return the metrics of one run; None if its result is absent, damaged or invalid."""
    key = (planned.resolved.key, planned.measure, planned.convergence, planned.samples)
    taken = _taken.setdefault(store, {})
    if key not in taken:
        try:
            run = store.get(planned.resolved.key)
        except (KeyError, DamagedResult):
            return None
        if validity.reasons(run.summary):
            return None
        taken[key] = run_metrics(run, planned)
    return taken[key]


def frame(test: Test, results: Iterable[tuple[PlannedRun, Metrics]]) -> pl.DataFrame:
    """Gather the metrics of a test's runs into a table; see `table`."""
    rows = [{**run.axes, "repetition": run.repetition, **metrics} for run, metrics in results]
    names = dict.fromkeys(name for row in rows for name in list(row)[len(test.axes) + 1 :])
    schema: dict[str, pl.DataType | type[pl.DataType]] = {
        **dict.fromkeys(test.axes, pl.String),
        "repetition": pl.Int64,
        **dict.fromkeys(names, pl.Float64),
    }
    return pl.DataFrame(rows, schema=schema).with_columns(_numbers(test))


def _numbers(test: Test) -> Iterator[pl.Expr]:
    """Yield the numeric columns of the axes whose values are quantities."""
    for axis, values in test.axes.items():
        column = grid.numeric_column(axis, values)
        if column is not None:
            read = {
                value: float(number[1]) for value in values if (number := grid.number_of(value))
            }
            yield (pl.col(axis).replace_strict(read, return_dtype=pl.Float64).alias(column))


def aggregate(runs: pl.DataFrame, by: Sequence[str], metric: str) -> pl.DataFrame:
    """Average a metric over repetitions.

    Returns one row per combination of the columns `by`, in the order of their first rows, with
    ``mean``, ``median``, ``se`` (standard error), ``low`` and ``high`` (95 % interval, Student's
    t), ``n`` (runs with a value) and ``runs``. Without values mean and median are null; with fewer
    than two, so are se, low and high.
    """
    value = pl.col(metric)
    averaged = runs.group_by(by, maintain_order=True).agg(
        mean=value.mean(),
        median=value.median(),
        se=value.std() / value.count().sqrt(),
        n=value.count().cast(pl.Int64),
        runs=pl.len().cast(pl.Int64),
    )
    counts = averaged["n"].unique().to_list()
    quantiles = {n: float(stats.t.ppf((1 + CONFIDENCE) / 2, n - 1)) for n in counts if n > 1}
    reach = pl.col("se") * pl.col("n").replace_strict(
        quantiles, default=None, return_dtype=pl.Float64
    )
    return averaged.with_columns(low=pl.col("mean") - reach, high=pl.col("mean") + reach)
