"""Reference: a quantity lies within a bound, or is no worse than next to a reference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from dumbbell.base.errors import InputError
from dumbbell.base.labels import number
from dumbbell.inference import statistics
from dumbbell.inference.statistics import Estimate
from dumbbell.judging import words
from dumbbell.judging.evidence import TAIL, Finding, Quantifier
from dumbbell.judging.runs import Pair, Points, Sample, Source
from dumbbell.judging.spec import Measured
from dumbbell.judging.words import Named
from dumbbell.quantities.names import Chosen


@dataclass(frozen=True)
class Limit:
    """The largest or smallest value that agrees at a place.

    Attributes
    ----------
    value
        Its mean.
    pair
        The judged point and the reference by which the limit is; None: it is the bound alone.
    """

    value: float
    pair: Pair | None = None


class Reference(Measured):
    """A quantity is within a bound, or not much worse than that of reference points.

    Points of the two groups that agree in all other axes are compared. A value agrees if it is
    within the widest limit, which may come from the bound or from any reference. Runs with equal
    seeds are compared run by run.
    """

    noun: ClassVar[str] = "grid points"

    type: Literal["reference"]

    statement: Literal["number", "order", "expectation"] = "number"
    """Source of the statement: the authors' number, their order or shape, or our expectation."""

    of: Chosen
    """The group that is compared with the references."""

    to: Chosen
    """The group of references."""

    low: float | None = None
    """Bound: values from this one up agree, whatever the values of the references."""

    high: float | None = None
    """Bound: values up to this one agree, whatever the values of the references."""

    factor: float = Field(1.0, gt=0)
    """Factor of the limit: a value agrees up to so many times that of a reference, ..."""

    plus: float = 0.0
    """... plus this amount. It is negative for quantities that must not be low."""

    quantifier: Quantifier = "all"
    """Number of points that must agree."""

    @model_validator(mode="after")
    def _bounded(self) -> Self:
        if (self.low is None) is (self.high is None):
            raise InputError("needs either low or high", key="high", valid="one of both")
        return self

    @property
    def groups(self) -> tuple[Chosen, ...]:
        """The judged group and the references."""
        return self.of, self.to

    @property
    def is_most(self) -> bool:
        """True if large values disagree."""
        return self.high is not None

    @property
    def bound(self) -> float:
        """The bound whatever the references have."""
        return self.high if self.high is not None else self.low or 0.0

    def expected(self, source: Source) -> str:
        """Say what the bound is, and what references allow."""
        named = self.named(source)
        bound = named.between(self.low, self.high)
        return f"{bound}, or {self.allowance(named)} {words.selection(self.to)}"

    def allowance(self, named: Named) -> str:
        """Say how much more or less than a reference has agrees: ``2 times that of``."""
        times = "" if self.factor == 1 else f"{number(self.factor)} times "
        if not self.plus:
            return f"{times}that of"
        sign = "above" if self.plus > 0 else "below"
        return f"{named.apart.value(abs(self.plus))} {sign} {times}that of"

    def limits(self, pairs: Sequence[Pair]) -> list[Limit]:
        """Return the limits at a place, of whose judged point these are the pairs; widest first."""
        by_references = (Limit(self._allowed(pair.other.mean), pair) for pair in pairs)
        return sorted(
            (Limit(self.bound), *by_references), key=lambda limit: limit.value, reverse=self.is_most
        )

    def findings(self, source: Source) -> Iterator[Finding]:
        """Compare each judged point with its limit."""
        points, named = self.points(source), self.named(source)
        places: dict[tuple[str, ...], list[Pair]] = {}
        # A reference is not worse than itself.
        for pair in points.pairs(self.of, self.to, with_itself=True):
            places.setdefault(tuple(pair.one.axes.values()), []).append(pair)
        for pairs in places.values():
            limits = self.limits(pairs)
            findings = [self._finding(points, named, pairs, limit) for limit in limits]
            # What is clearly within a narrower limit is within the widest, too.
            # Any limit may let the value agree, so their number is corrected for (Bonferroni).
            within = (finding for finding in findings[1:] if finding.p_agrees <= TAIL / len(limits))
            yield findings[0] if findings[0].p_agrees <= TAIL else next(within, findings[0])

    def _finding(
        self, points: Points, named: Named, pairs: Sequence[Pair], limit: Limit
    ) -> Finding:
        judged, excess = pairs[0].one, self._excess(pairs[0].one, limit)
        least = "at most" if self.is_most else "at least"
        agrees = f"{least} {named.value(limit.value)} agrees"
        value = named.estimate(statistics.mean(judged.values))
        return points.finding(
            excess,
            f"{value}, where {agrees}{self._by(limit)}",
            judged,
            *(pair.other for pair in pairs),
            where=pairs[0].where,
            place=pairs[0].where,
            limit=limit.value,
            limiting=None if limit.pair is None else limit.pair.other.axes,
            margin=-excess.value if self.is_most else excess.value,
            **({"high": 0.0} if self.is_most else {"low": 0.0}),
        )

    @staticmethod
    def _by(limit: Limit) -> str:
        """Name the reference of a limit."""
        if limit.pair is None:
            return ""
        differing = limit.pair.other.axes.items() - limit.pair.place.items()
        return f" by {words.place(dict(sorted(differing)))}"

    def _excess(self, judged: Sample, limit: Limit) -> Estimate:
        """Estimate by how much the judged runs exceed the limit."""
        if limit.pair is None:
            return statistics.paired(judged.values, [limit.value] * len(judged.values))
        other = limit.pair.other
        # The factor is applied run by run: runs with equal seeds can still be compared as pairs.
        return judged.more_than(
            Sample(other.axes, tuple(map(self._allowed, other.values)), other.seeds, other.planned)
        )

    def _allowed(self, value: float) -> float:
        return self.factor * value + self.plus
