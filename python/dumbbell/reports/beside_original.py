"""The original next to a fork: its figures on the same axes, and its verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import polars as pl

from dumbbell.experiments.forks import forking
from dumbbell.figures import gathering
from dumbbell.figures.kinds import FigureSpec
from dumbbell.figures.kinds.points import PointsFigure
from dumbbell.figures.spec import Coordinate
from dumbbell.judging.judging import ClaimResult
from dumbbell.reports import test_sections
from dumbbell.reports.pictures import Picture
from dumbbell.reports.test_sections import Step
from dumbbell.results.results import Results

_PREFIX: Final = "original-"
"""Beginning of the names of the original's pictures."""


@dataclass(frozen=True)
class Beside:
    """The original of a fork, as its page shows it.

    Attributes
    ----------
    of
        The original.
    missing
        The reason why its values are not shown, with the command that runs it; else empty.
    figures
        The figures of the fork, on the axes of both.
    pictures
        The original's pictures, by the names of the fork's figures.
    claims
        The original's verdicts, by the ids of claims.
    """

    of: str
    missing: str
    figures: tuple[FigureSpec, ...]
    pictures: Mapping[str, Picture]
    claims: Mapping[str, ClaimResult]


def of_fork(results: Results, folder: Path, on_step: Step) -> Beside | None:
    """Draw the original's figures into the folder of a fork's page; None if it is no fork."""
    original = forking.original(results)
    if original is None:
        return None
    of, figures = results.study.header.fork_of, results.study.figures
    if original.results is None:
        return Beside(of, original.missing, figures, {}, {})
    known = {spec.name: spec for spec in original.results.study.figures}
    aligned, pictures = [], {}
    for spec in figures:
        if spec.name not in known:
            aligned.append(spec)
            continue
        one, other = _on_same_axes(spec, results, known[spec.name], original.results)
        aligned.append(one)
        titled = {"name": f"{_PREFIX}{spec.name}", "title": f"Original: {other.title}"}
        on_step(f"{original.results.study.name}: drawing {spec.name}")
        drawn = other.model_copy(update=titled).draw(original.results)
        pictures[spec.name] = test_sections.picture(drawn, folder, [])
    claims = {claim.claim.id: claim for claim in original.results.claims()}
    return Beside(of, "", tuple(aligned), pictures, claims)


def _on_same_axes(
    one: FigureSpec, of_one: Results, other: FigureSpec, of_other: Results
) -> tuple[FigureSpec, FigureSpec]:
    """Return both figures with the same ranges, where they are means against an axis."""
    if not isinstance(one, PointsFigure) or not isinstance(other, PointsFigure):
        return one, other
    runs = (gathering.runs_of(of_one, one), gathering.runs_of(of_other, other))
    ends = {
        axis: span for axis in ("x", "y") if (span := _ends(axis, (one, other), runs)) is not None
    }
    return _ranged(one, ends), _ranged(other, ends)


def _ranged(spec: PointsFigure, ends: Mapping[str, tuple[float, float]]) -> PointsFigure:
    update = {}
    for axis, (low, high) in ends.items():
        update[axis] = getattr(spec, axis).model_copy(update={"low": low, "high": high})
    return spec.model_copy(update=update)


def _ends(
    axis: str, specs: tuple[PointsFigure, PointsFigure], runs: tuple[pl.DataFrame, pl.DataFrame]
) -> tuple[float, float] | None:
    """Return the range of an axis that holds the runs and the declared ends of both figures."""
    numbers: list[float] = []
    for spec, frame in zip(specs, runs, strict=True):
        coordinate: Coordinate = getattr(spec, axis)
        column = frame[coordinate.field].cast(pl.Float64).drop_nulls()
        values = column.filter(column.is_finite()).to_list()
        if not values:
            return None
        # A logarithm has no place for 0, which such an axis shows apart or not at all.
        numbers += [value for value in values if value > 0 or coordinate.scale == "linear"]
        numbers += [end for end in (coordinate.low, coordinate.high) if end is not None]
    return (min(numbers), max(numbers)) if numbers else None
