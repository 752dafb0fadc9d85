"""A finding as a claim that anybody can judge again: a study, and its verdict on an engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from dumbbell.algorithms.labels import label_of, labels_of
from dumbbell.engines.choices import EngineName
from dumbbell.engines.engine import Engine
from dumbbell.execution.pools import Pool
from dumbbell.experiments.hunt.goals import CALM, HUNTED, Gap, Goal
from dumbbell.experiments.hunt.space import SETTLING, Point, Space
from dumbbell.inference import statistics
from dumbbell.inference.estimates import Estimate
from dumbbell.judging.evidence import Verdict
from dumbbell.judging.judging import ClaimResult
from dumbbell.quantities import taking
from dumbbell.results import experiments
from dumbbell.results.campaign import Campaign
from dumbbell.results.plans import Plan
from dumbbell.results.results import Results
from dumbbell.store.store import Store

TEST: Final = "hunt"
"""The name of the test."""

HELD_OUT: Final = 1000
"""The source of seeds of confirming runs, which no search has seen."""

KERNEL_MBIT: Final = 1000
"""The emulator keeps up to this rate on ordinary machines (docs/benchmarks.md)."""

LEVELS: Final[Mapping[float, str]] = {
    0.1: "a tenth",
    0.2: "a fifth",
    0.5: "half",
    0.8: "four fifths",
}
"""Bounds of claims, and what they are called."""

SHOWN: Final = (
    f"goodput_mbit_per_s[{HUNTED}]",
    f"rtt_mean_ms[{HUNTED}]",
    f"retransmitted_share[{HUNTED}]",
)
"""Quantities that are shown next to the claim's."""

MORE: Final = (1, 2, 4)
"""The simulator runs so many times the requested runs, until they decide the claim."""

_MARGIN: Final = 0.8
_TRAFFIC, _WITH, _WITHOUT = "traffic", "with", "without"
"""The axis of an attack, and its values."""


@dataclass(frozen=True)
class Statement:
    """The claim of a hunt: the smaller side has less than a part of the other.

    Attributes
    ----------
    goal, gap
        The goal, and the gap that was found.
    level
        The bound, one of `LEVELS`.
    beside
        The algorithm of the flow next to the hunted one; empty: there is none.
    """

    goal: Goal
    gap: Gap
    level: float
    beside: str = ""

    @classmethod
    def of(cls, goal: Goal, gap: Gap, beside: str = "") -> Statement:
        """Return the strongest claim that the search leaves a margin for."""
        less, more = gap.less
        share = gap.values[less] / gap.values[more] if gap.values[more] else 0.0
        bounds = [level for level in LEVELS if share <= _MARGIN * level]
        return cls(goal, gap, min(bounds, default=max(LEVELS)), beside)

    @property
    def text(self) -> str:
        """The claim in a sentence."""
        part, (less, more) = LEVELS[self.level], self.gap.less
        if self.goal.versus_calm:
            return (
                f"With {label_of(self.gap.worse)} the link is used less than {part} as much under "
                "the cross traffic as without it."
            )
        measure = next(m for m in self.goal.measures if m.reference == self.gap.measure)
        beside = label_of(self.beside) if self.beside else ""
        what = measure.what or self.goal.what.format(beside)
        labels = labels_of(self.gap.values)
        return f"With {labels[less]} the {what} is less than {part} of that with {labels[more]}."

    def check(self) -> dict[str, Any]:
        """Return the check of the claim, as a study has it."""
        less, more = self.gap.less
        common = {
            "statement": "expectation",
            "test": TEST,
            "quantity": self.gap.measure,
            "high": self.level,
        }
        if self.goal.versus_calm:
            traffic = {"of": {_TRAFFIC: _WITH}, "to": {_TRAFFIC: _WITHOUT}}
            return {"type": "ratio", **traffic, **common}
        return {"type": "ratio", "of": self._selected(less), "to": self._selected(more), **common}

    def _selected(self, side: str) -> dict[str, str]:
        """Return a side as a study selects it; without a preset it would mean any of them."""
        has_presets = any(name.startswith(f"{side}@") for name in self.gap.values)
        return {"algorithm": f"{side}@" if has_presets else side}


def content(
    statement: Statement,
    space: Space,
    point: Point,
    typed: Mapping[str, str],
    command: Sequence[str],
) -> dict[str, Any]:
    """Return a finding as a study of one test and one claim.

    `typed` has the sides as tables call them, and as they were typed.
    """
    table, (first, *_) = space.table(point), typed
    windows = [{"name": name, **ends} for name, ends in space.windows.items()]
    test: dict[str, Any] = {
        "name": TEST,
        "title": space.words(point),
        "seeds": "shared",
        "folder": str(Path.cwd()),
        "measure": {"settle": SETTLING},
        "window": windows,
        "axes": {"algorithm": list(typed.values())},
        "scenario": {**table, "algorithm": "{algorithm}"},
    }
    if statement.goal.versus_calm:
        del test["scenario"]["flow"]
        test["axes"][_TRAFFIC] = [_WITH, _WITHOUT]
        test["vary"] = [
            {"where": {_TRAFFIC: value}, "set": {"flow": space.table(where)["flow"]}}
            for value, where in ((_WITH, point), (_WITHOUT, space.calm(point)))
        ]
    series = _TRAFFIC if statement.goal.versus_calm else "algorithm"
    return {
        **experiments.head(
            f"hunt-{experiments.stem(first)}-{experiments.stem(statement.goal.name)}",
            [test],
            command=command,
            title=statement.text.removesuffix("."),
            summary=space.words(point),
        ),
        "claim": [
            {
                "id": "H01",
                "source": "dumbbell hunt",
                "text": statement.text,
                "expectation": statement.text,
                "check": [statement.check()],
            }
        ],
        "figure": list(experiments.of_traffic(table, TEST, series)),
    }


@dataclass(frozen=True)
class Confirmation:
    """The claim, judged by runs that the search has not seen.

    Attributes
    ----------
    engine
        The engine.
    results
        The study and its runs.
    claim
        The verdict on the claim.
    means
        Means of the claim's quantity and of `SHOWN` for each side.
    invalid, because
        Number of runs that the machine disturbed, which do not count, and reasons of the first.
    """

    engine: EngineName
    results: Results
    claim: ClaimResult
    means: Mapping[str, Mapping[str, Estimate]]
    invalid: int = 0
    because: str = ""

    @property
    def is_judged(self) -> bool:
        """False if no run counts."""
        return bool(self.means)

    @property
    def command(self) -> list[str]:
        """The command that judges the claim by the runs on this engine again."""
        on = [] if self.engine is EngineName.SIMULATOR else ["--engine", self.engine.value]
        return ["claims", self.results.study.name, *on]

    @property
    def verdict(self) -> str:
        """The verdict in a word or two."""
        if not self.is_judged:
            return "not judged"
        words = {Verdict.MET: "confirmed", Verdict.UNDECIDED: "undecided"}
        return words.get(self.claim.verdict, "not confirmed")

    @property
    def measured(self) -> str:
        """What was measured, and which runs do not count."""
        which = f"{self.invalid} runs" if self.is_judged else f"all {self.invalid} runs"
        disturbed = f"the machine disturbed {which}, which do not count ({self.because})"
        parts = [self.claim.measured] if self.is_judged else []
        return "; ".join([*parts, *([disturbed] if self.invalid else [])])

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "engine": self.engine.value,
            "study": self.results.study.name,
            "verdict": self.verdict,
            "measured": self.measured,
            "means": {
                side: {name: mean.as_dict() for name, mean in means.items()}
                for side, means in self.means.items()
            },
            "invalid": self.invalid,
        }


def confirm(
    study: Mapping[str, Any],
    store: Store,
    engine: Engine,
    *,
    runs: int,
    jobs: int | Pool | None,
    large: bool,
) -> Confirmation:
    """Run the study of a finding on an engine with seeds of its own, and judge the claim."""
    store.create()
    for times in (1,) if engine.real_time else MORE:
        plan = Plan.requested(runs=runs * times, seed=HELD_OUT)
        campaign = Campaign.of_experiment(study, store, engine, plan)
        outcome = campaign.complete(large=large, jobs=jobs)
        # Those of this plan alone, so that a hunt that is resumed judges the same runs.
        results = campaign.own_results()
        (claim,) = results.claims()
        if claim.verdict is not Verdict.UNDECIDED:
            break
    (check,) = study["claim"][0]["check"]
    name = EngineName.TESTBED if engine.real_time else EngineName.SIMULATOR
    means = _means(results, (check["quantity"], *SHOWN))
    because = "; ".join(outcome.invalid[0][1]) if outcome.invalid else ""
    return Confirmation(name, results, claim, means, len(outcome.invalid), because)


def _means(results: Results, references: Sequence[str]) -> dict[str, dict[str, Estimate]]:
    wanted = tuple(dict.fromkeys(references))
    taken: dict[str, dict[str, list[float]]] = {}
    for run, values in taking.of_runs(results.finished(TEST), wanted, results.store):
        side = CALM if run.axes.get(_TRAFFIC) == _WITHOUT else run.axes["algorithm"]
        of_side = taken.setdefault(side, {name: [] for name in wanted})
        for name, value in values.items():
            of_side[name] += [] if value is None else [value]
    return {
        side: {name: statistics.mean(some) for name, some in of_side.items() if some}
        for side, of_side in taken.items()
    }
