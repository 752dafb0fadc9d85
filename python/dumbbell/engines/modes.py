"""Changes of algorithms' modes with the names of modes and variables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import polars as pl

from dumbbell.contract.scenario import Scenario
from dumbbell.scenario import facts

_BESIDE: Final = ("time_ns", "flow", "label", "algorithm", "mode")


def readable(frame: pl.DataFrame, scenario: Scenario) -> pl.DataFrame:
    """Return the table `modes` as people read it.

    Columns are those of the table, `mode` by its name, and the variables of all algorithms by
    theirs, null where a flow's algorithm does not export them.
    """
    parts = list(_parts(frame, scenario))
    if not parts:
        return frame.select(*_BESIDE).cast({"mode": pl.String})
    # Of one time several rows may be those of one flow, in their order.
    return pl.concat(parts, how="diagonal").sort("time_ns", "flow", maintain_order=True)


def _parts(frame: pl.DataFrame, scenario: Scenario) -> Iterator[pl.DataFrame]:
    """Yield the rows of each algorithm."""
    for name in facts.algorithms(scenario):
        numbers = [n for n, flow in enumerate(scenario.flows) if facts.algorithm(flow) == name]
        rows = frame.filter(pl.col("flow").is_in(numbers))
        if rows.is_empty():
            continue
        described = facts.described(scenario, name)
        modes = dict(enumerate(described.modes))
        # One that the algorithm calls nothing keeps its number.
        mode = pl.col("mode").cast(pl.Int64)
        other = mode.cast(pl.String)
        called = mode.replace_strict(modes, default=other, return_dtype=pl.String)
        variables = [
            pl.col(f"info{number}").alias(variable)
            for number, variable in enumerate(described.info)
            if variable not in _BESIDE
        ]
        yield rows.select(*_BESIDE[:-1], called.alias("mode"), *variables)
