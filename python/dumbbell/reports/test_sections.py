"""The tests of a study with their figures, tables and runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from dumbbell.algorithms.labels import label_of
from dumbbell.base.labels import listing
from dumbbell.figures.figure import Figure
from dumbbell.figures.kinds import FigureSpec
from dumbbell.judging.judging import ClaimResult
from dumbbell.plan.tests import Test
from dumbbell.reports import pictures, run_pages
from dumbbell.reports.columns import columns
from dumbbell.reports.pictures import Picture
from dumbbell.reports.report_tables import means_frame
from dumbbell.results.results import Results
from dumbbell.study import mentions

Step = Callable[[str], None]
"""Called with the name of each step."""


@dataclass(frozen=True)
class Section:
    """A test with its figures.

    Attributes
    ----------
    test
        The test.
    runs
        Number of its runs, in words.
    run_list
        The address of the list of its runs, if there are any.
    axes
        Its axes with their values.
    pictures
        Its figures.
    has_data
        True if any of its runs is finished.
    """

    test: Test
    runs: str
    run_list: str | None
    axes: dict[str, str]
    pictures: list[Picture]
    has_data: bool


def of_test(
    results: Results,
    test: Test,
    folder: Path,
    on_step: Step,
    figures: Sequence[FigureSpec] | None = None,
) -> Section:
    """Draw a test's figures into a folder, write its tables there, and describe it.

    `figures` replace those of the study.
    """
    shown = columns(results.study, test)
    runs = results.table(test.name, shown)
    if runs.height:
        means_frame(test, runs, shown).write_csv(folder / "data" / f"{test.name}.csv")
        _with_keys(results, test, runs).write_csv(folder / "data" / f"{test.name}-runs.csv")
    pictures = []
    for spec in results.study.figures if figures is None else figures:
        if spec.section == test.name:
            on_step(f"{results.study.name}: drawing {spec.name}")
            links = list(run_pages.links(results, spec))
            pictures.append(picture(spec.draw(results), folder, links))
    return Section(
        test,
        _runs_text(results, test),
        run_pages.list_path(test.name) if results.runs(test.name) else None,
        {axis: listing([label_of(value) for value in test.axes[axis]]) for axis in test.axes},
        pictures,
        has_data=bool(runs.height),
    )


def claims_of_figures(claims: Sequence[ClaimResult], names: Sequence[str]) -> dict[str, list[str]]:
    """Return the claims that speak of each figure."""
    by_figure: dict[str, list[str]] = {name: [] for name in names}
    for claim in claims:
        for name in mentions.figures_in(claim.claim.source, names):
            by_figure[name].append(claim.claim.id)
    return by_figure


def _with_keys(results: Results, test: Test, runs: pl.DataFrame) -> pl.DataFrame:
    """Add the key of each run to the metrics table."""
    keys = [run.resolved.key for run in results.finished(test.name)]
    return runs.with_columns(key=pl.Series(keys, dtype=pl.String))


def _runs_text(results: Results, test: Test) -> str:
    runs = results.table(test.name)
    points = len(results.study.points(test))
    finished = runs.select(list(test.axes)).n_unique() if runs.height else 0
    kind = "quick runs" if runs.height and results.quick(test.name) else "runs"
    sentences = [f"{runs.height:,} {kind}, at {finished} of the {points} points of its grid."]
    keys = {listed.run.resolved.key for listed in results.runs(test.name)}
    for state, reasons in results.troubled.items():
        count = len(keys & reasons.keys())
        sentences += [f"{state}: {count}."] if count else []
    return " ".join(sentences)


def picture(figure: Figure, folder: Path, links: list[tuple[str, str]]) -> Picture:
    """Write a figure and its numbers into a folder; `links` lead to the runs behind it."""
    spec = figure.spec
    drawn = pictures.write(spec.name, figure.vega_lite, folder / "figures")
    if figure.frame is not None:
        figure.frame.write_csv(folder / "data" / f"{spec.name}.csv")
    return Picture.of(figure, drawn, links)
