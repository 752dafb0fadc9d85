"""Runs of a test that are written down, and checks judged by them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
from pydantic import TypeAdapter, ValidationError

from dumbbell.judging.evidence import CheckResult, Verdict
from dumbbell.judging.kinds import AnyCheck
from dumbbell.judging.runs import Source, TestRuns

AXES = {"algorithm": ("reno", "htcp", "fast"), "rtt": ("16ms", "42ms", "162ms")}

YES, NO, OPEN = Verdict.HOLDS, Verdict.CONTRADICTED, Verdict.UNDECIDED

Values = Mapping[tuple[str, str], Sequence[float | None]]


def runs(
    values: Values,
    *,
    also_planned: Sequence[tuple[str, str]] = (),
    seeds: Sequence[int] | None = None,
    quick: bool = False,
    repetitions: int = 2,
) -> TestRuns:
    """Make the runs of a test from the values of one quantity at each grid point."""
    rows = [
        {
            "algorithm": algorithm,
            "rtt": rtt,
            "ratio_min_max": value,
            "queue_bdp": 0.2,
            **({} if seeds is None else {"seed": seeds[number]}),
        }
        for (algorithm, rtt), repetitions in values.items()
        for number, value in enumerate(repetitions)
    ]
    planned = [dict(zip(AXES, point, strict=True)) for point in [*values, *also_planned]]
    schema: dict[str, Any] = dict.fromkeys(AXES, pl.String)
    schema |= dict.fromkeys(("ratio_min_max", "queue_bdp"), pl.Float64)
    schema |= {} if seeds is None else {"seed": pl.Int64}
    frame = pl.DataFrame(rows, schema=schema)
    return TestRuns(AXES, planned, frame, repetitions=repetitions, is_quick=quick)


def _evaluated(keys: Mapping[str, Any], test: TestRuns) -> CheckResult:
    spec: AnyCheck = TypeAdapter(AnyCheck).validate_python(keys)
    return spec.judge(Source(lambda name, columns: test))  # noqa: ARG005


def check(**keys: Any) -> CheckResult:
    return _evaluated(keys, runs({}))


def measured(test: TestRuns, **keys: Any) -> CheckResult:
    return _evaluated({"test": "pair", "quantity": "ratio_min_max", **keys}, test)


def steady(value: float, spread: float = 0.001) -> list[float]:
    return [value - spread, value, value + spread]


THREE = runs(
    {
        ("reno", "16ms"): steady(0.9),
        ("reno", "42ms"): steady(0.8),
        ("reno", "162ms"): steady(0.5),
        ("htcp", "16ms"): steady(0.95),
        ("htcp", "42ms"): steady(0.94),
        ("htcp", "162ms"): steady(0.96),
    }
)
"""Each interval reaches 0.0025 to either side."""

NOISY = runs(
    {
        ("reno", "16ms"): [0.1, 0.5, 0.9],
        ("reno", "42ms"): [0.2, 0.5, 0.9],
        ("htcp", "16ms"): [0.2, 0.6, 0.9],
        ("htcp", "42ms"): [0.3, 0.6, 0.9],
    }
)

RATIOS = {"of": {"algorithm": "htcp"}, "to": {"algorithm": "reno"}}
GOOD = {"type": "band", "where": {"algorithm": "reno"}, "low": 0.4}


def problem_of(error: ValidationError) -> str:
    """Return the only problem of a check that was refused."""
    (problem,) = error.errors()
    return str(problem["msg"]).removeprefix("Value error, ")
