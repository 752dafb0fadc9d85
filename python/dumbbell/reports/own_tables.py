"""Results of an experiment in numbers: for its page and for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Final

from dumbbell.base.errors import DamagedResult
from dumbbell.experiments import on_scenario
from dumbbell.experiments.comparison import Comparison
from dumbbell.experiments.compete import content, words
from dumbbell.experiments.compete.contest import Contest
from dumbbell.experiments.setting import OWN_START
from dumbbell.quantities import run_totals
from dumbbell.quantities.cells import Totals
from dumbbell.quantities.registry import Quantity
from dumbbell.quantities.shown import brief_interval
from dumbbell.results.results import Results

_ENDS: Final = ("mean", "low", "high")


def of_experiment(results: Results) -> Iterator[Totals]:
    """Yield the results of a comparison or of the runs of one scenario; of a sweep nothing."""
    (test, *_) = results.study.tests
    if test.name == "compare" and results.finished(test.name):
        yield compared(Comparison.of(results))
    elif test.name == content.TEST and results.finished(test.name):
        yield words.table(Contest.of(results))
    elif test.name == on_scenario.TEST:
        yield from on_scenario.compared(results)
    elif test.name == "run":
        runs = []
        for planned in results.finished(test.name):
            with suppress(KeyError, DamagedResult):
                runs.append(results.store.get(planned.resolved.key))
        if runs:
            yield from run_totals.of_runs(runs)


def verdict(results: Results) -> Iterator[str]:
    """Yield the sentences that answer the question of a contest; none for other experiments."""
    (test, *_) = results.study.tests
    if test.name == content.TEST and results.finished(test.name):
        yield from words.conclusion(Contest.of(results))


def compared(comparison: Comparison) -> Totals:
    """Return means with their 95 % intervals."""
    shown = comparison.shown
    cells = {(row["line"], row["quantity"]): row for row in comparison.means.iter_rows(named=True)}
    return Totals(
        ("flows", *map(_head, shown.values())),
        tuple(
            (
                line,
                *(_interval(cells.get((line, name)), quantity) for name, quantity in shown.items()),
            )
            for line in comparison.means["line"].unique(maintain_order=True)
        ),
        intervals=True,
        note=f"{comparison.windows_in_words}.",
        about=_about(comparison),
    )


def _about(comparison: Comparison) -> str:
    """Describe the runs: the path, the TCP of the hosts, the engine, and the number of runs."""
    setting, count = comparison.setting, comparison.runs["repetition"].n_unique()
    start = "" if setting.slow_start == OWN_START else f", slow start {setting.slow_start}"
    real = f", {comparison.engine.identity}" if comparison.engine.real_time else ""
    runs = f"{count} {'run' if count == 1 else 'runs'} each"
    return f"{comparison.path}, {setting.stack}{start}{real}; {runs}."


def _head(quantity: Quantity) -> str:
    return f"{quantity.title} ({quantity.shown_unit})" if quantity.shown_unit else quantity.title


def _interval(row: Mapping[str, float | None] | None, quantity: Quantity) -> str:
    if row is None:
        return ""
    ends = (row[end] for end in _ENDS)
    shown = (None if end is None else end * quantity.shown_scale for end in ends)
    return brief_interval(*shown, bounds=quantity.shown_bounds)
