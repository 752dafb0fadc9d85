"""The chart of a comparison: a plot per quantity, a row per line of its table."""

from __future__ import annotations

import polars as pl

from dumbbell.base.lazy import altair as alt
from dumbbell.experiments.comparison import Comparison
from dumbbell.figures import style
from dumbbell.figures.gathering import engine_notes
from dumbbell.figures.looks import Look
from dumbbell.figures.means import INTERVAL_RUNS, drawn
from dumbbell.figures.style import FAINT
from dumbbell.reports import interval_plots
from dumbbell.reports.interval_plots import DOTS, MEANS, Plot


def draw(comparison: Comparison) -> alt.ConcatChart:
    """Draw every quantity that has values."""
    rows = comparison.runs["line"].unique(maintain_order=True).to_list()
    known = [algorithm for algorithm in comparison.runs["algorithm"].unique() if algorithm]
    looks = style.looks(sorted(known))
    repetitions = comparison.runs["repetition"].n_unique()
    intervals = " with 95 % intervals" if repetitions >= INTERVAL_RUNS else ""
    notes = [
        f"Means of {repetitions} runs{intervals}; small dots are single runs.",
        *engine_notes(comparison.engine, len(comparison.invalid)),
    ]
    title = alt.TitleParams(comparison.path, subtitle=notes)
    plots = [_plot(comparison, name, looks) for name in comparison.shown]
    return interval_plots.draw(plots, rows, title)


def _plot(comparison: Comparison, name: str, looks: dict[str, Look]) -> Plot:
    quantity = comparison.shown[name]
    lines = comparison.runs.select("line", "algorithm").unique(maintain_order=True)
    shown = pl.DataFrame(
        [_row(line, looks.get(algorithm)) for line, algorithm in lines.iter_rows()],
        schema={name: MEANS[name] for name in ("row", "label", "colour", "shape")},
        orient="row",
    )
    runs = comparison.runs.select(row="line", value=pl.col(name) * quantity.shown_scale)
    means = comparison.means.filter(pl.col("quantity") == name).select(
        pl.col("line").alias("row"),
        "n",
        *(pl.col(end) * quantity.shown_scale for end in ("mean", "low", "high")),
    )
    return Plot(
        quantity,
        shown.join(drawn(means), on="row", maintain_order="left").select(*MEANS),
        shown.join(runs.drop_nulls("value"), on="row", maintain_order="left").select(*DOTS),
    )


def _row(line: str, look: Look | None) -> tuple[str, str, str, str]:
    """Return how a line is shown; one of all flows together has no algorithm's look."""
    return (line, look.label, look.colour, look.shape) if look else (line, "all", FAINT, "circle")
