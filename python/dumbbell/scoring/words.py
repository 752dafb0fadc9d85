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


def estimate(estimated: Estimate) -> str:
    """Render an estimate with its interval, if it has one."""
    if not estimated.has_interval:
        return number(estimated.value)
    return with_interval(estimated.value, estimated.low, estimated.high)


def conclusion(score: Score) -> str:
    """State the score in a sentence."""
    if score.score is None:
        count = len(score.problems)
        return f"{score.algorithm}: no score, {count} problem{'s' * (count != 1)}."
    reference = f"{score.suite.reference} has 100"
    paths = f"{len(score.worths)} paths of {score.suite.name}/{score.split}"
    text = f"{score.algorithm}: {estimate(score.score)} on {paths}; {reference}."
    if score.gain is not None:
        text += f" It has {estimate(score.gain)} times what the one to beat has."
    if score.status is Status.DROPPED:
        text += " It is clearly worse than required, so the race has dropped it."
    return text
