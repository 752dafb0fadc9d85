"""A part of a study: some of its figures and claims, and the grid points that these need.

``li2007:fig4`` is a figure with the claims about it, ``li2007:E10`` a claim, and
``li2007:fig4,fig9`` several of them. The runs are those of the whole study, so that both share
their results.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from dumbbell.base.errors import InputError, unknown
from dumbbell.figures.kinds import FigureSpec
from dumbbell.judging.claim import Claim
from dumbbell.judging.spec import Measured
from dumbbell.plan import grid
from dumbbell.plan.tests import Test
from dumbbell.quantities.derived import Derived, with_operands
from dumbbell.study import mentions

if TYPE_CHECKING:
    from dumbbell.study.model import Study

MARK: Final = ":"
"""Stands between a study and its part."""

_Axes = Mapping[str, str]


@dataclass(frozen=True)
class Part:
    """A part of a study.

    Attributes
    ----------
    figures, claims
        Its figures and claims.
    tests
        The tests that these need, with the grid points that they need. A test keeps the values of
        its axes that any of them has, and leaves out the other points.
    numbers
        The place of each test in the study, from 0.
    """

    figures: tuple[FigureSpec, ...]
    claims: tuple[Claim, ...]
    tests: tuple[Test, ...]
    numbers: tuple[int, ...]


def split(study: str) -> tuple[str, list[str]]:
    """Return name or path of a study, and the names of its figures and claims that are meant."""
    name, mark, wanted = study.rpartition(MARK)
    # A colon before a slash is part of a path.
    if not mark or "/" in wanted:
        return study, []
    return name, [name_of_part.strip() for name_of_part in wanted.split(",")]


def joined(study: str, names: Sequence[str]) -> str:
    """Return the text that `split` splits."""
    return f"{study}{MARK}{','.join(names)}" if names else study


def part(study: Study, names: Sequence[str]) -> Part:
    """Return some figures of a study with the claims about them, and some claims.

    An unknown name is an InputError, and so are figures and claims that need no runs.
    """
    known = [figure.name for figure in study.figures]
    claimed = [claim.id for claim in study.claims]
    for name in names:
        if not name:
            raise InputError(
                "a name is missing after the colon or a comma",
                value=joined(study.name, names),
                valid=f"{study.name}, or {joined(study.name, [*known, *claimed][:1])}",
            )
        if name not in (*known, *claimed):
            raise unknown(f"figure or claim of {study.name}", name, [*known, *claimed])
    figures = tuple(figure for figure in study.figures if figure.name in names)
    claims = tuple(
        claim
        for claim in study.claims
        if claim.id in names or set(mentions.figures_in(claim.source, known)) & set(names)
    )
    kept = [
        (number, test.restricted(points))
        for number, test in enumerate(study.tests)
        if (points := list(_needed(test, figures, claims, study.quantities)))
    ]
    if not kept:
        raise InputError(
            "needs no runs", value=",".join(names), valid="a figure or a claim that does"
        )
    return Part(figures, claims, tuple(test for _, test in kept), tuple(no for no, _ in kept))


def _needed(
    test: Test,
    figures: Sequence[FigureSpec],
    claims: Sequence[Claim],
    quantities: Sequence[Derived],
) -> Iterator[_Axes]:
    """Yield the grid points of a test that some figures and claims look at, in their order."""
    points = list(test.grid_points)
    derived = {derived_quantity.name: derived_quantity for derived_quantity in quantities}
    needed: list[_Axes] = []
    for figure in figures:
        columns = [derived[name] for name in figure.fields().values() if name in derived]
        for behind in figure.behind():
            if behind.test == test.name:
                # Derived quantities also need the grid points of their operands.
                meant = [point for point in points if grid.matches(point, behind.where)]
                needed += with_operands(meant, points, columns)
    for check in itertools.chain.from_iterable(claim.checks for claim in claims):
        if isinstance(check, Measured) and check.test == test.name:
            meant = [point for point in points if check.means(point)]
            column = derived.get(check.quantity)
            needed += with_operands(meant, points, [column] if column else [])
    names = {tuple(point.values()) for point in needed}
    yield from (point for point in points if tuple(point.values()) in names)
