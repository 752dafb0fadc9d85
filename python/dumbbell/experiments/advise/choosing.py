"""The choice among candidates: only what is fit is advised, the rest is refused with a reason."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from dumbbell.base.units import parse_probability, parse_time
from dumbbell.experiments.advise import conditions
from dumbbell.experiments.advise.candidates import Candidate, plain
from dumbbell.experiments.advise.conditions import Fault
from dumbbell.experiments.setting import Setting
from dumbbell.experiments.tune import paths
from dumbbell.inference import statistics
from dumbbell.inference.estimates import Estimate

AS_GOOD: Final = 0.98
"""With this share of the best goodput of what is fit an algorithm is as good."""

SAME_DELAY: Final = 1.1
"""Round-trip times within this factor make no difference."""

FLOOR: Final = 1e-6
"""Mbit/s; smaller goodputs count as this, so that ratios have an end."""


@dataclass(frozen=True)
class Advice:
    """The algorithm to use, and the unfit ones.

    Attributes
    ----------
    setting, legacy, runs
        The path, the legacy algorithm, and the repetitions of each run.
    candidates
        The field: first what is fit, the most goodput first, then what is not, the least bad first.
    faults
        Faults of each of them, the worst first; empty: it is fit.
    of_best
        Goodput over that of the fit one that has most, on all paths; empty if none is fit.
    advised
        The one to use; None: none is fit.
    left_out
        Algorithms that were not run, and why.
    windows
        From when to when in a run numbers are taken, in seconds; of all runs together.
    """

    setting: Setting
    legacy: str
    runs: int
    candidates: tuple[Candidate, ...]
    faults: Mapping[str, tuple[Fault, ...]]
    of_best: Mapping[str, Estimate]
    advised: Candidate | None
    left_out: Mapping[str, str]
    windows: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def fit(self) -> tuple[Candidate, ...]:
        """The fit algorithms, the most goodput first."""
        return tuple(candidate for candidate in self.candidates if not self.faults[candidate.name])

    @property
    def least_bad(self) -> Candidate | None:
        """The one that exceeds bounds least; None if one is fit."""
        return self.candidates[0] if self.advised is None else None

    @property
    def refused(self) -> dict[str, str]:
        """Reason why each of the others is never advised, in a clause."""
        unfit = [candidate.name for candidate in self.candidates if self.faults[candidate.name]]
        return {**{name: self.faults[name][0].reason for name in unfit}, **self.left_out}

    @property
    def as_good(self) -> tuple[Candidate, ...]:
        """The fit algorithms with as much goodput as the best of them."""
        return tuple(
            candidate for candidate in self.fit if self.of_best[candidate.name].value >= AS_GOOD
        )

    @property
    def undecided(self) -> tuple[Candidate, ...]:
        """The fit algorithms that have less goodput by the mean, but not by the interval."""
        less = [candidate for candidate in self.fit if candidate not in self.as_good]
        return tuple(
            candidate for candidate in less if self.of_best[candidate.name].high >= AS_GOOD
        )

    @property
    def round_trips(self) -> float:
        """Length of a run, in round trips of the longest path."""
        longest = max(parse_time(setting.rtt) for setting in paths.around([self.setting]))
        return parse_time(self.setting.duration) / longest

    @property
    def matters(self) -> bool:
        """True if the choice among the fit ones makes a difference."""
        delays = [candidate.rtt.value for candidate in self.as_good if candidate.rtt is not None]
        fewer = len(self.as_good) < len(self.fit)
        # Where delays differ clearly, the choice matters even among equal goodputs.
        return fewer or (bool(delays) and max(delays) > SAME_DELAY * min(delays))

    @property
    def reason(self) -> str:
        """The reason why it is advised, or why nothing is."""
        if self.least_bad is not None:
            return self.refused[self.least_bad.name]
        fit, as_good = len(self.fit), len(self.as_good)
        if fit == 1:
            return "nothing else is fit" if len(self.candidates) > 1 else "it is fit"
        share = conditions.percent(AS_GOOD)
        if as_good == 1:
            others = "the other" if fit == 2 else f"each of the {fit - 1} others"
            return f"{others} that is fit has less than {share} of its goodput"
        every = "both" if fit == 2 else f"all {fit}"
        some = every if as_good == fit else f"{as_good} of the {fit}"
        return (
            f"{some} that are fit have at least {share} of the best goodput; "
            "of these it has the shortest round-trip time"
        )

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        loss = parse_probability(self.setting.loss)
        return {
            "setting": vars(self.setting),
            "beside": self.legacy,
            "runs": self.runs,
            "windows": {
                name: {"from_s": from_s, "to_s": to_s}
                for name, (from_s, to_s) in self.windows.items()
            },
            "advised": None if self.advised is None else self.advised.name,
            "least_bad": None if self.least_bad is None else self.least_bad.name,
            "reason": self.reason,
            "matters": self.matters,
            "conditions": [
                vars(condition) for condition in conditions.conditions(self.legacy, loss)
            ],
            "candidates": [
                {
                    **candidate.as_dict(),
                    "goodput_of_best": plain(self.of_best.get(candidate.name)),
                    "fit": not self.faults[candidate.name],
                    "faults": [
                        {"condition": fault.condition, "reason": fault.reason}
                        for fault in self.faults[candidate.name]
                    ],
                }
                for candidate in self.candidates
            ],
            "refused": self.refused,
        }


def choose(
    setting: Setting,
    legacy: str,
    runs: int,
    candidates: Sequence[Candidate],
    left_out: Mapping[str, str],
    *,
    windows: Mapping[str, tuple[float, float]] | None = None,
) -> Advice:
    """Return the advice that follows from what was measured."""
    loss = parse_probability(setting.loss)
    faults = {
        candidate.name: tuple(conditions.faults(candidate, legacy, loss))
        for candidate in candidates
    }
    fit = [candidate for candidate in candidates if not faults[candidate.name]]
    best = max(fit, key=_goodput, default=None)
    of_best = (
        {} if best is None else {candidate.name: _over(candidate, best) for candidate in candidates}
    )
    unfit = [candidate for candidate in candidates if faults[candidate.name]]
    order = [
        *sorted(fit, key=lambda candidate: -of_best[candidate.name].value),
        # The least bad comes first; of equally bad ones the faster.
        *sorted(
            unfit, key=lambda candidate: (faults[candidate.name][0].excess, -_goodput(candidate))
        ),
    ]
    advice = Advice(
        setting, legacy, runs, tuple(order), faults, of_best, None, left_out, windows or {}
    )
    return advice if best is None else replace(advice, advised=min(advice.as_good, key=_rtt))


def _goodput(candidate: Candidate) -> float:
    """Return the mean of logarithms, in which slow and fast paths count equally."""
    return statistics.mean([math.log(max(goodput, FLOOR)) for goodput in candidate.goodputs]).value


def _over(one: Candidate, other: Candidate) -> Estimate:
    pairs = zip(one.goodputs, other.goodputs, strict=True)
    return statistics.geometric_mean([max(a, FLOOR) / max(b, FLOOR) for a, b in pairs])


def _rtt(candidate: Candidate) -> float:
    return math.inf if candidate.rtt is None else candidate.rtt.value
