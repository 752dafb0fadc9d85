"""Running checks through the ordinary executor, and judging them."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from dumbbell.algorithms import catalogue
from dumbbell.engines.engine import Engine
from dumbbell.engines.result import Run
from dumbbell.execution import executor
from dumbbell.execution.executor import Progress
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve import ResolvedScenario
from dumbbell.store.store import Store
from fidelity.check import Check

SOURCE = Path(__file__).parent / "checks"
"""Files that scenarios name are next to the checks."""


class Verdict(StrEnum):
    """Verdict of a check."""

    WITHIN = "within"
    OUTSIDE = "outside"
    NOT_OFFERED = "not offered"


@dataclass(frozen=True)
class Judged:
    """A check and what became of it.

    Attributes
    ----------
    check
        The check.
    verdict
        Its verdict.
    expected, measured
        The two numbers; none where nothing was measured.
    remark
        Reason why it was not measured, if any.
    """

    check: Check
    verdict: Verdict
    expected: float | None = None
    measured: float | None = None
    remark: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        check = self.check
        low, high = (None, None) if self.expected is None else check.band.limits(self.expected)
        return {
            "check": check.name,
            "oracle": check.oracle,
            "unit": check.unit,
            "expected": self.expected,
            "measured": self.measured,
            "low": low,
            "high": high,
            "tolerance": str(check.band),
            "why": check.why,
            "verdict": self.verdict.value,
            "remark": self.remark,
        }


def selected(checks: Sequence[Check], only: str | None) -> list[Check]:
    """Return the checks whose name or oracle has a text in it, in any case."""
    wanted = (only or "").lower()
    return [check for check in checks if wanted in f"{check.name} {check.oracle}".lower()]


def lacking(check: Check) -> list[str]:
    """Return the switches that a check needs and the engine's TCP does not have."""
    return [switch for switch in check.needs if switch not in catalogue.stacks().switches]


def resolve(check: Check) -> list[ResolvedScenario]:
    """Return what a check runs."""
    source = str(SOURCE)
    return [Scenario.parse(table, source).resolve() for table in check.scenarios]


def validate(
    checks: Sequence[Check],
    engine: Engine,
    jobs: int = 1,
    on_progress: Callable[[Progress], None] | None = None,
) -> list[Judged]:
    """Run and judge checks; nothing is kept, and no earlier result is used."""
    offered = {
        check.name: [scenario.on(engine.identity) for scenario in resolve(check)]
        for check in checks
        if not lacking(check)
    }
    again = [run for check in checks if check.repeated for run in offered.get(check.name, [])]
    runs = [run for scenarios in offered.values() for run in scenarios]
    # The longest first, so that no processor stands idle at the end.
    runs.sort(key=lambda run: -run.scenario.duration_ns)
    with tempfile.TemporaryDirectory(prefix="dumbbell-validate-") as folder:
        first, second = Store(Path(folder) / "first"), Store(Path(folder) / "second")
        failed = dict(executor.execute(runs, first, engine, jobs, on_progress).failed)
        failed |= dict(executor.execute(again, second, engine, jobs).failed)
        stores = (first, second)
        return [_judged(check, offered.get(check.name), failed, stores) for check in checks]


def _judged(
    check: Check,
    scenarios: Sequence[ResolvedScenario] | None,
    failed: dict[ResolvedScenario, Exception],
    stores: tuple[Store, Store],
) -> Judged:
    if scenarios is None:
        missing = ", ".join(lacking(check))
        return Judged(check, Verdict.NOT_OFFERED, remark=f"the TCP stack has no {missing}")
    errors = [failed[scenario] for scenario in scenarios if scenario in failed]
    if errors:
        return Judged(check, Verdict.OUTSIDE, check.expects(), remark=str(errors[0]))
    return judge(check, list(_runs(check, scenarios, stores)))


def _runs(
    check: Check, scenarios: Sequence[ResolvedScenario], stores: tuple[Store, Store]
) -> Iterator[Run]:
    for store in stores if check.repeated else stores[:1]:
        yield from (store.get(scenario.key) for scenario in scenarios)


def judge(check: Check, runs: Sequence[Run]) -> Judged:
    """Compare what the runs show with what is expected."""
    expected = check.expects()
    if not all(run.summary.packets for run in runs):
        return Judged(check, Verdict.OUTSIDE, expected, remark="no packet arrived")
    try:
        measured = check.measure(runs)
    except (ArithmeticError, ValueError) as error:
        return Judged(check, Verdict.OUTSIDE, expected, remark=f"nothing to measure: {error}")
    within = check.band.holds(measured, expected)
    if measured != measured:  # noqa: PLR0124 - not a number
        return Judged(check, Verdict.OUTSIDE, expected, remark="nothing to measure")
    return Judged(check, Verdict.WITHIN if within else Verdict.OUTSIDE, expected, measured)
