"""The result of a search, in words and cells of tables."""

from __future__ import annotations

from typing import Final

from dumbbell.base.labels import listing, number, with_interval
from dumbbell.experiments.tune.judging import SHOWN, Line
from dumbbell.experiments.tune.search import Search
from dumbbell.experiments.tune.tuning import Tuned
from dumbbell.inference.estimates import Estimate
from dumbbell.quantities.taking import described

SETTLED: Final = 1.02
"""A gain below this is no reason to change anything."""


def tried(search: Search) -> str:
    """Say how far a search is."""
    return f"{len(search.course.tried)} of {search.candidates} candidates"


def columns(tuned: Tuned) -> list[str]:
    """Return the headings of the table of lines."""
    objectives = [
        f"{objective.name}, times the default" for objective in tuned.search.runs.objectives
    ]
    shown = [described(name) for name in SHOWN]
    quantities = [f"{quantity.title} ({quantity.shown_unit})" for quantity in shown]
    return ["parameters", *objectives, *quantities]


def cells(line: Line) -> list[str]:
    """Return the cells of a line."""
    gains = [factor(gain) for gain in line.gain]
    scales = {name: described(name).shown_scale for name in SHOWN}
    means = [
        number(line.means[name] * scales[name]) if name in line.means else "–" for name in SHOWN
    ]
    return [line.name, *gains, *means]


def factor(estimate: Estimate) -> str:
    """Render a factor with its interval."""
    if not estimate.has_interval:
        return number(estimate.value)
    return with_interval(estimate.value, estimate.low, estimate.high)


def conclusion(tuned: Tuned) -> str:
    """Say in a sentence whether tuning was worth it, on the paths that were not searched."""
    best = tuned.course.best
    assert best is not None, "nothing was searched"
    winner = tuned.search.space.words(best.candidate)
    if tuned.course.interrupted:
        return f"Interrupted; the best so far is {winner}, not judged on other paths yet."
    if tuned.search.front:
        return (
            f"{len(tuned.course.front)} of {len(tuned.course.tried)} candidates are on the front."
        )
    line = next(line_of_name for line_of_name in tuned.lines if line_of_name.name == "tuned")
    gain = line.gain[0]
    others = "with random numbers" if tuned.held_out is tuned.search.paths else "on paths"
    where = f"{others} that the search has not seen"
    if gain.low > 1:
        small = ", a gain that hardly matters" if gain.value < SETTLED else ""
        return f"{winner}: {factor(gain)} times the default {where}{small}."
    if gain.high < 1:
        return f"The default is better {where}: {winner} has {factor(gain)} times as much there."
    objective = tuned.search.runs.objectives[0].name
    return (
        f"The search found nothing clearly better: {others} that it has not seen, {winner} has "
        f"{factor(gain)} times the default's {objective}."
    )


def left_out(tuned: Tuned) -> str:
    """Say which parameters were not searched as they have no effect; empty: none."""
    names = tuned.search.space.left_out
    if not names:
        return ""
    act = "acts" if len(names) == 1 else "act"
    return f"Not searched: {listing(names)} {act} only on congestion marks, and no path has any."
