"""The runs that checks look at: values gathered at the grid points of a test, and pairs of them."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from dumbbell.inference import statistics
from dumbbell.inference.statistics import CONFIDENCE, RUNS_MIN, Estimate, Observed
from dumbbell.judging import words
from dumbbell.judging.evidence import TAIL, Finding, Lack, Need, Place
from dumbbell.plan import grid
from dumbbell.plan.grid import Selection
from dumbbell.quantities.derived import Derived, with_operands


@dataclass(frozen=True)
class TestRuns:
    """The runs of one test that a check may use.

    Attributes
    ----------
    axes
        The axes of the test with their values.
    planned
        The grid points that were to be run.
    runs
        One row per finished run: the axes, their numbers, the requested columns, and, if it is
        known, its ``seed``.
    repetitions
        Number of planned runs of a grid point.
    is_quick
        True if these are quick runs.
    is_shorter
        True if quick runs differ from those of the study in more than their number.
    left_out
        The grid points of the study that quick runs leave out.
    """

    __test__ = False

    axes: grid.Axes
    planned: Sequence[Place]
    runs: pl.DataFrame
    repetitions: int = 1
    is_quick: bool = False
    is_shorter: bool = False
    left_out: Sequence[Place] = ()


@dataclass(frozen=True)
class Source:
    """The runs for checks.

    Attributes
    ----------
    runs
        Returns the runs of a test by its name, with the requested columns.
    derived
        The quantities that the study derives, by name.
    """

    runs: Callable[[str, Sequence[str]], TestRuns]
    derived: Mapping[str, Derived] = field(default_factory=dict)

    def named(self, quantity: str) -> words.Named:
        """Say in words what a reference names."""
        return words.named(quantity, self.derived)


@dataclass(frozen=True)
class Sample:
    """The values of a quantity in the runs of a grid point.

    Attributes
    ----------
    planned
        Number of values once the study has all its runs.
    """

    axes: Place
    values: tuple[float, ...]
    seeds: tuple[int, ...] = ()
    planned: int = 1

    @property
    def mean(self) -> float:
        """Their mean."""
        return math.fsum(self.values) / len(self.values)

    def estimate(
        self,
        statistic: str,
        margin: Callable[[float], float],
        named: words.Named,
        seen_in: float = 1.0,
    ) -> Estimate:
        """Estimate a statistic of its runs; the run with the smallest `margin` is the worst.

        The authors saw it in a share of their runs (`seen_in`). If none of our runs shows it, this
        counts only once there are enough runs to show it.
        """
        if statistic in ("worst", "best"):
            value = (min if statistic == "worst" else max)(self.values, key=margin)
            # One run is an example, or a counterexample. That there is none takes all of them.
            is_example = (margin(value) >= 0) is (statistic == "best")
            needed = 1 if is_example else max(self.planned, RUNS_MIN, runs_to_see(seen_in))
            return Observed(value, len(self.values), CONFIDENCE, needed)
        if statistic != "mean":
            share = 0.5 if statistic == "median" else int(statistic[1:]) / 100
            return statistics.quantile(self.values, share)
        if named.is_yes_or_no:
            return statistics.share(self.values)
        return (statistics.geometric_mean if named.is_ratio else statistics.mean)(self.values)

    def more_than(self, other: Sample) -> Estimate:
        """Estimate by how much its mean exceeds that of another point."""
        if both := self._in_pairs(other):
            return statistics.paired(*both)
        return statistics.difference(self.values, other.values)

    def over(self, other: Sample) -> Estimate:
        """Estimate the ratio of its mean to that of another point."""
        if both := self._in_pairs(other):
            return statistics.ratio(*both, pairs=True)
        return statistics.ratio(self.values, other.values)

    def _in_pairs(self, other: Sample) -> tuple[list[float], list[float]] | None:
        """Return the values seed by seed; None unless the runs of both have the same seeds."""
        # Runs with equal seeds share what is random, so that it cancels in pairs: common random
        # numbers (Law, "Simulation Modeling and Analysis").
        if not self.seeds or sorted(self.seeds) != sorted(other.seeds):
            return None
        ours, theirs = (
            dict(zip(sample.seeds, sample.values, strict=True)) for sample in (self, other)
        )
        return [ours[seed] for seed in ours], [theirs[seed] for seed in ours]


def runs_to_see(share: float) -> int:
    """Return the runs that show, with 97.5 % probability, what happens in a share of runs."""
    # All of n runs miss it with the chance (1 - share)^n; solved for n where that is 2.5 %.
    return 1 if share >= 1 else math.ceil(math.log(TAIL) / math.log1p(-share))


@dataclass(frozen=True)
class Points:
    """The runs of a check at its grid points.

    Attributes
    ----------
    name
        The test.
    test
        Its runs.
    runs
        Those at the chosen grid points.
    samples
        The values at each of them, in the order of the grid; there is at least one of each.
    derived
        The quantity, if the study derives it.
    """

    name: str
    test: TestRuns
    runs: pl.DataFrame
    samples: tuple[Sample, ...] = field(default=())
    derived: Derived | None = None

    def where(self, place: Place) -> str:
        """Name a grid point by the axes in which the chosen ones differ."""
        varied = {
            axis: value
            for axis, value in place.items()
            if len({sample.axes[axis] for sample in self.samples}) > 1
        }
        return words.place(varied, self.test.axes)

    def select(self, selection: Selection) -> list[Sample]:
        """Return the samples of some grid points."""
        return [sample for sample in self.samples if grid.matches(sample.axes, selection)]

    def series(self, axis: str) -> Iterator[list[Sample]]:
        """Yield the samples along an axis, in its order, for each value of all other axes."""
        order = {value: number for number, value in enumerate(self.test.axes[axis])}
        by_place: dict[tuple[str, ...], list[Sample]] = {}
        for sample in self.samples:
            others = tuple(value for name, value in sample.axes.items() if name != axis)
            by_place.setdefault(others, []).append(sample)
        for samples in by_place.values():
            if len(samples) < 2:
                raise Lack(f"fewer than two values of {axis} have been run")
            yield sorted(samples, key=lambda sample: order[sample.axes[axis]])

    def pairs(
        self, one: Selection, other: Selection, *, with_itself: bool = False
    ) -> Iterator[Pair]:
        """Yield the pairs of points of two groups that agree in all other axes.

        Both groups may have a point, as ``htcp`` also selects ``htcp@li2007``. It is paired with
        itself only on request.
        """
        common = [axis for axis in self.test.axes if axis not in {*one, *other}]
        has_pair = False
        for first, second in itertools.product(self.select(one), self.select(other)):
            if first is second and not with_itself:
                continue
            place = {axis: first.axes[axis] for axis in common}
            if all(second.axes[axis] == value for axis, value in place.items()):
                has_pair = True
                against = " against ".join(
                    words.place(
                        {axis: end.axes[axis] for axis in end.axes if axis not in place},
                        self.test.axes,
                    )
                    for end in (first, second)
                )
                yield Pair(first, second, place, self.where(place), against)
        if not has_pair:
            raise Lack(f"no pairs of grid points of {self.name} to compare")

    def finding(self, estimate: Estimate, text: str, *samples: Sample, **more: object) -> Finding:
        """Return what was found at some of the points; `more` are further attributes of it."""
        places = [sample.axes for sample in samples]
        columns = [] if self.derived is None else [self.derived]
        return Finding(
            estimate,
            text,
            test=self.name,
            points=tuple(with_operands(places, self.test.planned, columns)),
            is_quick=self.test.is_quick,
            **more,  # type: ignore[arg-type]
        )


@dataclass(frozen=True)
class Pair:
    """Two grid points that differ in the axes by which groups are chosen, and where they agree.

    `where` and `against` say in words where they agree, and which two are compared.
    """

    one: Sample
    other: Sample
    place: Place
    where: str
    against: str

    def __str__(self) -> str:
        return f"{self.against}, {self.where}" if self.where else self.against


def gather(
    name: str,
    test: TestRuns,
    quantity: str,
    chosen: Callable[[Place], bool],
    derived: Derived | None = None,
) -> Points:
    """Gather the values of a quantity at chosen grid points; raise `Lack` if any has none."""
    selected = [point for point in test.planned if chosen(point)]
    if not selected:
        raise Lack("none of the grid points belongs to the chosen runs", is_quick=test.is_quick)
    keys = pl.DataFrame(selected, schema=dict.fromkeys(test.axes, pl.String))
    runs = test.runs.join(keys, on=list(test.axes), how="semi", maintain_order="left")
    made = _by_place(runs, test.axes, quantity)
    places = (tuple(point[axis] for axis in test.axes) for point in selected)
    samples = [
        _sample(test, point, made.get(place, ()))
        for point, place in zip(selected, places, strict=True)
    ]
    _complain(name, test, runs, samples)
    return Points(name, test, runs, tuple(samples), derived)


def _by_place(
    runs: pl.DataFrame, axes: Iterable[str], quantity: str
) -> Mapping[tuple[str, ...], list[tuple[float | None, int | None]]]:
    """Return the value and the seed of each run, by its place on the axes."""
    seed = "seed" if "seed" in runs.columns else pl.lit(None).alias("seed")
    runs_by_place: dict[tuple[str, ...], list[tuple[float | None, int | None]]] = defaultdict(list)
    for *place, value, seed_of_run in runs.select(*axes, quantity, seed).iter_rows():
        runs_by_place[tuple(place)].append((value, seed_of_run))
    return runs_by_place


def _sample(
    test: TestRuns, point: Place, made: Sequence[tuple[float | None, int | None]]
) -> Sample:
    here = [(value, seed) for value, seed in made if value is not None and math.isfinite(value)]
    seeds = tuple(seed for _, seed in here if seed is not None)
    # Runs that finished without a value will not get one, so nobody waits for them.
    planned = test.repetitions - (len(made) - len(here))
    return Sample(point, tuple(value for value, _ in here), seeds, planned)


def _complain(name: str, test: TestRuns, runs: pl.DataFrame, samples: Sequence[Sample]) -> None:
    """Raise `Lack` if some of the points have no runs, or no value in any of their runs."""
    known = {tuple(row) for row in runs.select(*test.axes).iter_rows()}
    missing = [sample for sample in samples if tuple(sample.axes.values()) not in known]
    if missing:
        # A study may plan one run, which has no interval: it would leave the check undecided again.
        needed = max(test.repetitions, RUNS_MIN)
        raise Lack(
            f"{len(missing)} of {len(samples)} grid points have not been run, such as "
            f"{words.place(missing[0].axes, test.axes)}",
            [Need(name, sample.axes, needed) for sample in missing],
            is_quick=test.is_quick,
        )
    empty = [sample for sample in samples if not sample.values]
    if empty:
        raise Lack(
            f"at {len(empty)} of {len(samples)} grid points it has no value in any run, such as "
            f"{words.place(empty[0].axes, test.axes)}",
            is_quick=test.is_quick,
        )
