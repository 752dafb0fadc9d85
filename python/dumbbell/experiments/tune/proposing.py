"""Proposers of the next points: Optuna where it is installed, else a Sobol design.

Both begin with the same Sobol points, which cover the ranges evenly. All are seeded, and a proposal
depends only on the seed and the values so far, so that a search can be repeated.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, Protocol

if TYPE_CHECKING:
    import optuna

Shares = tuple[float, ...]
"""Where a point lies between the ends of each dimension, 0 to 1."""

START_PER_DIMENSION: Final = 8
"""Points of the Sobol design before anything is learnt."""


class Proposer(Protocol):
    """Proposes points, and learns their values."""

    name: str

    def ask(self, count: int) -> list[Shares]:
        """Return so many points to try next."""
        ...

    def tell(self, values: Sequence[Sequence[float]]) -> None:
        """Learn the objectives of the points of the last `ask`, more being better."""
        ...


def proposer(dimensions: int, objectives: int, seed: int) -> Proposer:
    """Return the best proposer that is installed."""
    if find_spec("optuna") is None:
        return Sobol(dimensions, seed)
    return Learning(dimensions, objectives, seed)


class Sobol:
    """Points that cover the ranges evenly, whatever becomes of them (Sobol 1967, scrambled)."""

    name = "Sobol design (Optuna is not installed)"

    def __init__(self, dimensions: int, seed: int) -> None:
        from scipy.stats import qmc  # type: ignore[import-untyped]  # noqa: PLC0415 - takes long

        self._design = qmc.Sobol(dimensions, rng=seed)

    def ask(self, count: int) -> list[Shares]:
        """Return the next points."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of numbers that are no power of two
            return [tuple(map(float, point)) for point in self._design.random(count)]

    def tell(self, values: Sequence[Sequence[float]]) -> None:
        """Learn nothing."""


class Learning:
    """Optuna's tree-structured Parzen estimator (Bergstra et al. 2011), after a Sobol start."""

    name = "Sobol start, then Optuna's TPE"

    def __init__(self, dimensions: int, objectives: int, seed: int) -> None:
        import optuna  # noqa: PLC0415 - takes long, and need not be there

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._names = [str(number) for number in range(dimensions)]
        self._design = Sobol(dimensions, seed)
        self._start = START_PER_DIMENSION * dimensions
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # both options are called experimental
            sampler = optuna.samplers.TPESampler(
                seed=seed,
                # Parameters act together, so they are sampled together.
                multivariate=True,
                # A batch is proposed before any of its points has a value.
                constant_liar=True,
                n_startup_trials=self._start,
            )
        self._study = optuna.create_study(sampler=sampler, directions=["maximize"] * objectives)
        self._trials: list[optuna.Trial] = []

    def ask(self, count: int) -> list[Shares]:
        """Return points of the start, and then what is likely to be better than most."""
        # Optuna would begin at random; a Sobol design covers the ranges with fewer points.
        for point in self._design.ask(min(count, self._start)):
            self._study.enqueue_trial(dict(zip(self._names, point, strict=True)))
        self._start -= min(count, self._start)
        self._trials = [self._study.ask() for _ in range(count)]
        return [self._point(trial) for trial in self._trials]

    def _point(self, trial: Any) -> Shares:
        return tuple(trial.suggest_float(name, 0.0, 1.0) for name in self._names)

    def tell(self, values: Sequence[Sequence[float]]) -> None:
        """Learn."""
        for trial, worth in zip(self._trials, values, strict=True):
            self._study.tell(trial, list(worth))
