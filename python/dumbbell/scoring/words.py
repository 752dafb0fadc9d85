"""A score in words and cells of tables."""

from __future__ import annotations

from typing import Final

from dumbbell.base.labels import number, with_interval
from dumbbell.inference.estimates import Estimate
from dumbbell.scoring.scoring import Score, Status
from dumbbell.scoring.worth import Ratio

COLUMNS: Final = ("part", "times the reference's", "paths", "what counts")


def cells(ratio: Ratio) -> list[str]:
    """Return the cells of a part."""
    shown = "–" if ratio.ratio is None else estimate(ratio.ratio)
    return [ratio.part.name, shown, str(ratio.paths), ratio.part.what]


def estimate(found: Estimate) -> str:
    """Render an estimate with its interval, if it has one."""
    if not found.has_interval:
        return number(found.value)
    return with_interval(found.value, found.low, found.high)


def conclusion(found: Score) -> str:
    """State the score in a sentence."""
    if found.score is None:
        count = len(found.problems)
        return f"{found.algorithm}: no score, {count} problem{'s' * (count != 1)}."
    reference = f"{found.suite.reference} has 100"
    paths = f"{len(found.worths)} paths of {found.suite.name}/{found.split}"
    text = f"{found.algorithm}: {estimate(found.score)} on {paths}; {reference}."
    if found.gain is not None:
        text += f" It has {estimate(found.gain)} times what the one to beat has."
    if found.status is Status.DROPPED:
        text += " It is clearly worse than required, so the race has dropped it."
    return text
