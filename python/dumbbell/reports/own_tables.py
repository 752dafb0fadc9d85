"""Results of an experiment in numbers: for its page and for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

import polars as pl

from dumbbell.base.errors import DamagedResult
from dumbbell.base.labels import window
from dumbbell.base.units import NS_PER_S
from dumbbell.engines.result import Run
from dumbbell.experiments.comparison import Comparison
from dumbbell.experiments.compete import content, words
from dumbbell.experiments.compete.contest import Contest
from dumbbell.quantities import run_totals, taking
from dumbbell.quantities.registry import Quantity
from dumbbell.quantities.run_totals import Totals
from dumbbell.quantities.shown import brief_interval
from dumbbell.quantities.tables import aggregate
from dumbbell.results.results import Results

_OF_FLOWS: Final = ("goodput_mbit_per_s", "rtt_mean_ms", "retransmitted_share", "timeouts")
_ENDS: Final = ("mean", "low", "high")
_FLOWS_MAX: Final = 40


def of_experiment(results: Results) -> Iterator[Totals]:
    """Yield the results of a comparison or of the runs of one scenario; of a sweep nothing."""
    (test, *_) = results.study.tests
    if test.name == "compare" and results.finished(test.name):
        yield compared(Comparison.of(results))
    elif test.name == content.TEST and results.finished(test.name):
        contest = Contest.of(results)
        found = words.table(contest)
        yield replace(found, note=" ".join([*words.conclusion(contest), found.note]))
    elif test.name == "run":
        runs = []
        for planned in results.finished(test.name):
            with suppress(KeyError, DamagedResult):
                runs.append(results.store.get(planned.resolved.key))
        yield from of_runs(runs)


def compared(comparison: Comparison) -> Totals:
    """Return means with their 95 % intervals."""
    shown = comparison.shown
    cells = {(row["line"], row["quantity"]): row for row in comparison.means.iter_rows(named=True)}
    return Totals(
        ("flows", *map(_head, shown.values())),
        tuple(
            (line, *(_interval(cells.get((line, name)), each) for name, each in shown.items()))
            for line in comparison.means["line"].unique(maintain_order=True)
        ),
        intervals=True,
        note=f"{comparison.windows_said}.",
    )


def of_runs(runs: Sequence[Run]) -> Iterator[Totals]:
    """Yield the totals of a run, or the means of several with other seeds."""
    if len(runs) == 1:
        yield from run_totals.of_run(runs[0])
    elif runs:
        yield _means(runs)


def _means(runs: Sequence[Run]) -> Totals:
    """Return what each flow achieved in the mean of several runs, with 95 % intervals."""
    flows = [flow for flow in run_totals.view_of(runs[0]).flows if flow.is_sampled][:_FLOWS_MAX]
    described = [taking.described(name) for name in _OF_FLOWS]
    rows = []
    for flow in flows:
        names = [f"{name}[{flow.number}]@run" for name in _OF_FLOWS]
        values = pl.DataFrame(
            [{"all": 0, **taking.of_run(run, names)} for run in runs],
            schema={"all": pl.Int64, **dict.fromkeys(names, pl.Float64)},
        )
        means = (
            aggregate(values, ["all"], name, share=each.is_share).row(0, named=True)
            for name, each in zip(names, described, strict=True)
        )
        rows.append((flow.label, *map(_interval, means, described)))
    heads = (f"mean of {len(runs)} runs", *map(_head, described))
    whole = window(0, runs[0].summary.duration_ns / NS_PER_S)
    return Totals(heads, tuple(rows), intervals=True, note=f"All of the whole run: {whole}.")


def _head(quantity: Quantity) -> str:
    return f"{quantity.title} ({quantity.shown_unit})" if quantity.shown_unit else quantity.title


def _interval(row: Mapping[str, float | None] | None, quantity: Quantity) -> str:
    if row is None:
        return ""
    ends = (row[end] for end in _ENDS)
    return brief_interval(*(None if end is None else end * quantity.shown_scale for end in ends))
