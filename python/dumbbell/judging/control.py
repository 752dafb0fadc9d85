"""A negative control of claims: how many hold if the names of the algorithms are exchanged.

A check that passes whatever the names of the algorithms shows nothing about them. So the same runs
are judged again with names exchanged at random. This needs no new runs. The names form a random
round, and each passes its runs on to the next in it; no name keeps its own. A test that has only
some of them skips the others, so that it is still a round there. The reference, such as standard
TCP, keeps its name.
"""

from __future__ import annotations

import itertools
import math
import random
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import polars as pl

from dumbbell.algorithms import catalogue
from dumbbell.base.errors import InputError
from dumbbell.judging.claim import Claim
from dumbbell.judging.evidence import Place, Verdict
from dumbbell.judging.judging import ClaimResult, judge
from dumbbell.judging.runs import Source, TestRuns
from dumbbell.judging.spec import Measured
from dumbbell.plan import grid
from dumbbell.plan.grid import Selection
from dumbbell.plan.tests import Test

_LEAST: Final = 2
"""Fewer names cannot be exchanged."""


@dataclass(frozen=True)
class Draw:
    """The verdicts under one exchange.

    Attributes
    ----------
    names
        Algorithm -> the name under which its runs were judged, where a test has all of them.
    claims
        The verdicts, in the order of the claims.
    """

    names: Mapping[str, str]
    claims: Sequence[ClaimResult]

    @property
    def counts(self) -> Counter[Verdict]:
        """Number of claims by verdict."""
        return Counter(result.verdict for result in self.claims)


@dataclass(frozen=True)
class Control:
    """The verdicts on claims with the right names and with exchanged ones.

    Attributes
    ----------
    seed
        Source of the draws.
    names
        The names that are exchanged.
    claims
        The verdicts with the right names on all claims that single out one of these.
    blind
        The numbers of the other claims judged by runs of several of them: their checks treat all
        alike, so no exchange can change the verdict.
    draws
        The verdicts on the same claims under each exchange.
    """

    seed: int
    names: Sequence[str]
    claims: Sequence[ClaimResult]
    blind: Sequence[str]
    draws: Sequence[Draw]

    def held(self, claim: int) -> int:
        """Return under how many exchanges a claim holds, by its place."""
        return sum(draw.claims[claim].verdict.is_good for draw in self.draws)

    @property
    def right(self) -> Counter[Verdict]:
        """Number of claims by verdict, with the right names."""
        return Counter(result.verdict for result in self.claims)

    def mean(self, verdict: Verdict) -> float:
        """Return the mean number of claims with a verdict under the exchanges."""
        return statistics.fmean(draw.counts[verdict] for draw in self.draws)

    @property
    def careless(self) -> list[str]:
        """The claims that hold under more than half of the exchanges: they do not discriminate."""
        return [
            result.claim.id
            for place, result in enumerate(self.claims)
            if 2 * self.held(place) > len(self.draws)
        ]


def control(
    claims: Sequence[Claim],
    tests: Sequence[Test],
    source: Source,
    *,
    reference: Sequence[str],
    draws: int,
    seed: int,
) -> Control:
    """Judge claims with the right names and with `draws` exchanges of them.

    There are fewer draws if fewer exchanges exist. Raises InputError if there is nothing to
    exchange.
    """
    axes = {test.name: dict(_axes(test, reference)) for test in tests}
    names = list(
        dict.fromkeys(name for of in axes.values() for values in of.values() for name in values)
    )
    if len(names) < _LEAST:
        raise InputError(
            "there are no names to exchange",
            key="control",
            valid=f"a study with two algorithms or more besides {', '.join(reference)}",
        )
    # Arithmetic needs no runs, and an expectation of ours is no statement of the authors.
    judged = [claim for claim in claims if claim.statement in ("number", "order")]
    several = [claim for claim in judged if any(axes[test] for test in _tests(claim))]
    singled = [claim for claim in several if _singles_out(claim, axes)]
    return Control(
        seed,
        names,
        [judge(claim, source) for claim in singled],
        [claim.id for claim in several if claim not in singled],
        [
            Draw(
                dict(zip(order, (*order[1:], order[0]), strict=True)),
                [judge(claim, _exchanged(source, axes, order)) for claim in singled],
            )
            for order in _rounds(names, draws, seed)
        ],
    )


def _axes(test: Test, reference: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the axes of a test on which there are names to exchange, with these."""
    for axis, values in test.axes.items():
        names = [
            value
            for value in values
            if (base := value.partition("@")[0]) not in reference
            and (base in catalogue.algorithms() or value in test.own_algorithms)
        ]
        if len(names) >= _LEAST:
            yield axis, names


def _tests(claim: Claim) -> Iterator[str]:
    return (check.test for check in claim.checks if isinstance(check, Measured))


def _singles_out(claim: Claim, axes: Mapping[str, Mapping[str, Sequence[str]]]) -> bool:
    """Return True if a check of the authors' statement treats some of the names differently."""
    for check in claim.checks:
        if not isinstance(check, Measured) or check.statement == "expectation":
            continue
        for selection in (check.where, *check.groups):
            for axis, names in axes[check.test].items():
                if axis in selection and 0 < _chosen(selection, axis, names) < len(names):
                    return True
    return False


def _chosen(selection: Selection, axis: str, names: Iterable[str]) -> int:
    wanted = grid.wanted_values(selection, axis)
    return sum(any(grid.same_value(name, value) for value in wanted) for name in names)


def _rounds(names: Sequence[str], draws: int, seed: int) -> Iterator[Sequence[str]]:
    """Yield different rounds of the names: all of them if there are no more than `draws`."""
    # A round has no beginning. With one name fixed in front, each round occurs once: (n - 1)!.
    first, *others = names
    if math.factorial(len(others)) <= draws:
        yield from ((first, *order) for order in itertools.permutations(others))
        return
    chance = random.Random(seed)
    # A dictionary keeps the order of drawing, so that a seed gives the same draws every time.
    drawn: dict[tuple[str, ...], None] = {}
    while len(drawn) < draws:
        drawn[tuple(chance.sample(others, len(others)))] = None
    yield from ((first, *order) for order in drawn)


def _exchanged(
    source: Source, axes: Mapping[str, Mapping[str, Sequence[str]]], order: Sequence[str]
) -> Source:
    """Return the runs with names exchanged."""

    def runs(test: str, columns: Sequence[str]) -> TestRuns:
        test_runs = source.runs(test, columns)
        for axis, names in axes[test].items():
            there = {point[axis] for point in test_runs.planned}
            test_runs = _renamed(
                test_runs, axis, [name for name in order if name in names and name in there]
            )
        return test_runs

    return replace(source, runs=runs)


def _renamed(test_runs: TestRuns, axis: str, ring: Sequence[str]) -> TestRuns:
    """Give the runs of each name in a ring to the next one."""
    if len(ring) < _LEAST:
        return test_runs
    given = dict(zip(ring, (*ring[1:], ring[0]), strict=True))

    def moved(points: Iterable[Place]) -> list[Place]:
        return [{**point, axis: given.get(point[axis], point[axis])} for point in points]

    return replace(
        test_runs,
        planned=moved(test_runs.planned),
        left_out=moved(test_runs.left_out),
        # All names at once: one after the other, a run would be renamed again by the next.
        runs=test_runs.runs.with_columns(pl.col(axis).replace(given)),
    )
