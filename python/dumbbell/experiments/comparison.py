"""What algorithms achieved next to each other on one path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import polars as pl

from dumbbell.base.labels import listing, window
from dumbbell.engines.engine import Engine
from dumbbell.experiments.mixes import Mix
from dumbbell.experiments.mixes import group as of_part
from dumbbell.experiments.setting import Setting, of_stack
from dumbbell.plan.expanding import PlannedRun
from dumbbell.quantities import tables, taking
from dumbbell.quantities.reference import parse
from dumbbell.quantities.registry import Quantity
from dumbbell.quantities.taking import described
from dumbbell.results.results import Results
from dumbbell.scenario import facts
from dumbbell.store.store import Store

SHOWN: Final = (
    "goodput_mbit_per_s",
    "goodput_mean_mbit_per_s",
    "utilisation",
    "rtt_mean_ms@run",
    "retransmitted_share@late",
    "jain",
)
"""The quantities by which algorithms are compared."""

_WINDOW: Final = ("window_from_s", "window_to_s")
_STATISTICS: Final = ("mean", "se", "low", "high", "n")

_NO_LINES: Final = pl.DataFrame(
    schema={
        "line": pl.String,
        "algorithm": pl.String,
        "repetition": pl.Int64,
        **dict.fromkeys(SHOWN, pl.Float64),
    }
)


@dataclass(frozen=True)
class Comparison:
    """The result of a comparison.

    Attributes
    ----------
    results
        The study that it is, and its runs.
    runs
        One row per run and line of the table: ``line``, ``algorithm``, ``repetition`` and the
        quantities of `SHOWN`.
    means
        One row per line and ``quantity``: ``mean``, ``se``, ``low``, ``high`` and ``n``.
    windows
        From when to when in a run each quantity is taken, in seconds: of all runs together, whose
        flows start at other times, from the earliest to the latest.
    """

    results: Results
    runs: pl.DataFrame
    means: pl.DataFrame
    windows: Mapping[str, tuple[float, float]]

    @classmethod
    def of(cls, results: Results) -> Comparison:
        """Take what is compared of the finished runs of a comparison."""
        lines = pl.concat([_NO_LINES, *_lines(results)])
        means = [
            tables.aggregate(lines, ["line", "algorithm"], name, share=described(name).is_share)
            .filter(pl.col("n") > 0)
            .select("line", "algorithm", pl.lit(name).alias("quantity"), *_STATISTICS)
            for name in SHOWN
        ]
        names = lines["line"].unique(maintain_order=True)
        order = {line: place for place, line in enumerate(names)}
        place = pl.col("line").replace_strict(order, return_dtype=pl.Int64, default=None)
        # Stable, so that the quantities of a line stay in the order in which they are shown.
        sorted_means = pl.concat(means).sort(place, maintain_order=True)
        return cls(results, lines, sorted_means, windows(results, SHOWN))

    @property
    def engine(self) -> Engine:
        """The engine that ran it."""
        return self.results.engine

    @property
    def setting(self) -> Setting:
        """The path, as it was requested."""
        table = self.results.study.tests[0].scenario
        network = table["network"]
        return Setting(
            network["rate"],
            network["rtt"],
            network["queue"],
            network["loss"][0]["probability"],
            table["duration"],
            *of_stack(table["stack"]),
        )

    @property
    def path(self) -> str:
        """The path, in words."""
        return self.results.study.header.summary

    @property
    def invalid(self) -> tuple[str, ...]:
        """The runs that are left out because they are invalid, with their reasons."""
        return tuple(self.results.invalid.values())

    @property
    def doubtful(self) -> tuple[str, ...]:
        """Runs that may show something else than their algorithms."""
        return tuple(self.results.doubtful)

    @property
    def shown(self) -> Mapping[str, Quantity]:
        """The quantities that have values, by their references."""
        there = set(self.means["quantity"])
        return {name: described(name) for name in SHOWN if name in there}

    @property
    def windows_in_words(self) -> str:
        """Say over which part of the runs the quantities are taken."""
        return windows_in_words(
            {
                quantity.title: self.windows[name]
                for name, quantity in self.shown.items()
                if name in self.windows
            }
        )

    def _window(self, name: str) -> dict[str, float]:
        return dict(zip(("from_s", "to_s"), self.windows.get(name, ()), strict=False))

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON, in the quantities' own units."""
        lines = []
        for (line, algorithm), part in self.means.group_by(
            "line", "algorithm", maintain_order=True
        ):
            quantities = {
                name: {**row, **self._window(name)}
                for row in part.drop("line", "algorithm").iter_rows(named=True)
                for name in [row.pop("quantity")]
            }
            lines.append({"flows": line, "algorithm": algorithm, "quantities": quantities})
        return {
            "study": self.results.study.name,
            "setting": vars(self.setting),
            "engine": self.engine.identity,
            "lines": lines,
            "invalid": list(self.invalid),
            "doubtful": list(self.doubtful),
        }


def _lines(results: Results) -> Iterator[pl.DataFrame]:
    """Yield the runs of each mix as a whole, and then those of each algorithm in it."""
    (test,) = results.study.tests
    by_point: dict[str, list[PlannedRun]] = {}
    for run in results.finished(test.name):
        (value,) = run.axes.values()
        by_point.setdefault(value, []).append(run)
    for (value,) in (point.values() for point in test.grid_points):
        runs = by_point.get(value)
        if runs:
            yield from _lines_of(_mix(runs[0]), runs, results.store)


def windows_in_words(windows: Mapping[str, tuple[float, float]]) -> str:
    """Say over which part of the runs what has these titles is taken."""
    named: dict[tuple[float, float], list[str]] = {}
    for title, where in windows.items():
        named.setdefault(where, []).append(title)
    return "; ".join(f"{listing(titles)}: {window(*where)}" for where, titles in named.items())


def windows(results: Results, names: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Return from when to when quantities are taken, of all runs together, in seconds.

    Flows start at other times in other runs, so it is from the earliest to the latest.
    """
    (test,) = results.study.tests
    ends_of_windows = {
        name: [str(replace(parse(name), name=end)) for end in _WINDOW] for name in names
    }
    references = [reference for pair in ends_of_windows.values() for reference in pair]
    taken_values = [
        values
        for _, values in taking.of_runs(results.finished(test.name), references, results.store)
    ]
    spans = {}
    for name, (begins, ends) in ends_of_windows.items():
        starts = [value for values in taken_values if (value := values[begins]) is not None]
        stops = [value for values in taken_values if (value := values[ends]) is not None]
        if starts and stops:
            spans[name] = (min(starts), max(stops))
    return spans


def _mix(run: PlannedRun) -> Mix:
    """Return what shares the path in a run."""
    flows = run.resolved.scenario.flows
    counted: dict[str, int] = {}
    for numbers in facts.bundles(flows):
        # The label, as the engine knows no preset of a file.
        name = facts.family(flows[numbers[0]].label)
        counted[name] = counted.get(name, 0) + 1
    return Mix(tuple(counted.items()))


def _lines_of(mix: Mix, runs: Sequence[PlannedRun], store: Store) -> Iterator[pl.DataFrame]:
    if len(mix.parts) == 1:
        algorithm = mix.parts[0][0]
        yield _line(runs, store, f"{algorithm} × {mix.flows}", algorithm, None)
        return
    yield _line(runs, store, mix.name, None, None)
    for part, (algorithm, count) in enumerate(mix.parts, start=1):
        line = f"{algorithm} × {count} in the mix"
        yield _line(runs, store, line, algorithm, of_part(part))


def _line(
    runs: Sequence[PlannedRun],
    store: Store,
    line: str,
    algorithm: str | None,
    group: str | None,
) -> pl.DataFrame:
    """Return what is shown of all flows, or of a group; a queue is not that of a group."""
    references = {
        name: str(parse(name).of(group))
        for name in SHOWN
        if group is None or not described(name).of_queue
    }
    rows = [
        {
            "line": line,
            "algorithm": algorithm,
            "repetition": run.repetition,
            **{name: values.get(references.get(name, "")) for name in SHOWN},
        }
        for run, values in taking.of_runs(runs, list(references.values()), store)
    ]
    return pl.DataFrame(rows, schema=_NO_LINES.schema)
