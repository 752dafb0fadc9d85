"""The numbers of an optimisation, and the points of its curve."""

from __future__ import annotations

from dataclasses import dataclass

from dumbbell.base.arguments import number, wrong


@dataclass(frozen=True)
class Terms:
    """The numbers of the optimisation; the defaults are those of the baseline.

    Attributes
    ----------
    rounds
        Rounds of collecting and improving.
    places
        Paths at once.
    steps
        Steps on each path in a round.
    epochs, batches
        Passes over the steps of a round, and the parts of a pass.
    rate
        Step size of Adam.
    discount, trace
        Weights of later rewards (gamma) and of later surprises (lambda; Schulman et al. 2015,
        arXiv:1506.02438).
    clip
        Largest change of the probability of an action in a round, as a share.
    entropy
        Worth of a unit of entropy of the actions.
    hidden
        Widths of the hidden layers.
    cores
        Threads for the paths; results do not depend on it.
    """

    rounds: int = 400
    places: int = 32
    steps: int = 128
    epochs: int = 6
    batches: int = 4
    rate: float = 1e-3
    discount: float = 0.97
    trace: float = 0.9
    clip: float = 0.2
    entropy: float = 1e-3
    hidden: tuple[int, ...] = (16, 16)
    cores: int = 1

    def __post_init__(self) -> None:
        for name in ("rounds", "places", "steps", "epochs", "batches", "cores"):
            number(getattr(self, name), f"terms.{name}", 1)
        for name in ("rate", "discount", "trace", "clip"):
            _share(getattr(self, name), name)
        if not isinstance(self.hidden, tuple):
            raise wrong("terms.hidden", self.hidden, "not widths", "a tuple such as (16, 16)")
        for width in self.hidden:
            number(width, "terms.hidden", 1)


@dataclass(frozen=True)
class Point:
    """A point of the learning curve.

    Attributes
    ----------
    round, steps
        The number of the round, and the steps taken until its end.
    processor_s
        Processor time so far, in seconds.
    reward
        Mean reward of a step of the round, divided by the rate of the bottleneck.
    deviation
        Standard deviation of the normalised actions that are tried.
    """

    round: int
    steps: int
    processor_s: float
    reward: float
    deviation: float


def _share(value: object, name: str) -> None:
    if not isinstance(value, int | float) or not 0 < value <= 1:
        raise wrong(f"terms.{name}", value, "not such a number", "a number above 0, at most 1")
