"""Invalid runs, which show nothing, and doubtful ones, which may not show their algorithms.

The testbed marks the former as invalid: they are repeated, and no verdict depends on them. The
latter are *doubtful* (`doubts`): a host was their bottleneck, say, or packets kept one phase. That
follows from the scenario and may be intended, so they are valid and count, but reports name them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dumbbell.base.errors import GivenUp
from dumbbell.contract.summary import Summary
from dumbbell.engines.cancelling import CancelToken
from dumbbell.engines.doubts import DECIDED_BY, AnyDoubt
from dumbbell.engines.engine import Engine, HastyEngine, Output
from dumbbell.plan.places import words
from dumbbell.scenario.resolve import ResolvedScenario


def reasons(summary: Summary) -> tuple[str, ...]:
    """Return why a run is invalid; nothing: it is valid."""
    return () if summary.testbed is None else summary.testbed.invalid


def attempts(
    engine: Engine, scenario: ResolvedScenario, cancel: CancelToken | None, retries: int
) -> Iterator[Output]:
    """Run a scenario until its run is valid, but no more often than that.

    All but the last attempt are given up as soon as nothing can make them valid: of these there is
    no output.
    """
    # Nothing is lost by giving up early while attempts are left. The last one shows why it failed.
    hasty = engine.hasty() if isinstance(engine, HastyEngine) else engine
    for left in range(retries, -1, -1):
        try:
            output = (hasty if left else engine).run(scenario, cancel)
        except GivenUp:
            continue
        yield output
        if not reasons(output.summary):
            return


def described(scenario: ResolvedScenario, why: tuple[str, ...]) -> str:
    """Name an invalid run for people, with its reasons."""
    return f"invalid run {scenario.key[:12]} ({words(scenario)}): {'; '.join(why)}"


def doubtful(runs: Iterable[tuple[ResolvedScenario, Iterable[AnyDoubt]]]) -> list[str]:
    """Say for people which of some runs are doubtful: how many of each cause, and the first."""
    total = 0
    by_cause: dict[str, list[tuple[ResolvedScenario, AnyDoubt]]] = {}
    for scenario, doubts in runs:
        total += 1
        # Reversed, so that the first doubt of a cause is the one that stays in the dictionary.
        first_of_each = {doubt.cause: doubt for doubt in reversed(tuple(doubts))}
        for cause, doubt in first_of_each.items():
            by_cause.setdefault(cause, []).append((scenario, doubt))
    return [
        f"{len(doubted)} of {total} runs may be decided by {DECIDED_BY[cause]}; "
        f"{doubted[0][0].key[:12]} ({words(doubted[0][0])}): {doubted[0][1].text}"
        for cause in DECIDED_BY
        if (doubted := by_cause.get(cause))
    ]
