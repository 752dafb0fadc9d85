"""Chance in losses."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Self

from dumbbell.contract.scenario import (
    Bernoulli,
    BitErrors,
    Bursts,
    GilbertElliott,
    LossConfig,
    Scripted,
)

_BYTES_MAX: Final = 65_535
NATS: Final = 30
"""A count is not by chance whose likelihood is below e^-30, which is 1e-13."""


@dataclass(frozen=True)
class Chance:
    """Bounds of the share of packets that are lost on a way.

    `run` is how many packets share one draw at most: 1 where each is lost on its own, more where
    losses come in bursts.
    """

    least: float
    most: float
    run: float = 1

    @classmethod
    def of(cls, losses: Iterable[LossConfig]) -> Self:
        """Return what some models make of packets that meet them one after the other."""
        passes_least, passes_most, run = 1.0, 1.0, 1.0
        for loss in losses:
            least, most, length = _bounds(loss)
            passes_least *= 1 - most
            passes_most *= 1 - least
            run = max(run, length)
        return cls(1 - passes_most, 1 - passes_least, run)

    def allows_so_many(self, lost: int, packets: int) -> bool:
        """Return True if chance may lose so many of that many packets."""
        above = lost > packets * self.most
        return not above or not self._is_unlikely(min(lost, packets), packets, self.most)

    def allows_so_few(self, lost: int, packets: int) -> bool:
        """Return True if chance may lose no more than so many of that many packets."""
        return lost >= packets * self.least or not self._is_unlikely(lost, packets, self.least)

    def _is_unlikely(self, lost: int, packets: int, share: float) -> bool:
        """Return True if losses are further from their mean than chance takes them.

        By Chernoff's bound the likelihood of `lost` of n or more is at most exp(-n D), and so is
        that of as few. D is the divergence of the two shares. It holds for packets whose number
        depends on earlier losses, too.
        """
        if packets == 0:
            return lost > 0
        return packets / self.run * _divergence(lost / packets, share) > NATS


def _bounds(loss: LossConfig) -> tuple[float, float, float]:
    """Return the least and the largest share that is lost, and the length of bursts."""
    match loss:
        case Bernoulli():
            shares = [share for _, share in loss.probability]
            return min(shares), max(shares), 1
        case GilbertElliott():
            turns = loss.to_bad + loss.to_good
            bad = loss.to_bad / turns
            share = bad * loss.loss_bad + (1 - bad) * loss.loss_good
            # It begins in the good state, so early losses are as in that.
            return min(share, loss.loss_good), max(share, loss.loss_good), max(1, 4 / turns)
        case Bursts():
            # Nobody knows which state packets meet; in each they are lost on their own.
            shares = [loss.loss_good, loss.loss_bad]
            return min(shares), max(shares), 1
        case BitErrors():
            return 0, 1 - (1 - loss.probability) ** (8 * _BYTES_MAX), 1
        case Scripted():
            # Of which nobody knows how often they are sent.
            return 0, 1, 1


def _divergence(observed: float, share: float) -> float:
    """Return the Kullback-Leibler divergence of two shares, in nats."""
    terms = [(observed, share), (1 - observed, 1 - share)]
    if any(one > 0 and other == 0 for one, other in terms):
        return math.inf
    return sum(one * math.log(one / other) for one, other in terms if one > 0)
