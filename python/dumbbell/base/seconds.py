"""Times of tables in seconds."""

from __future__ import annotations

import polars as pl

from dumbbell.base.units import NS_PER_S


def seconds() -> pl.Expr:
    """Return the column ``time_ns`` in seconds, which are those of Python's division.

    Polars multiplies by the inverse of a single number. With that 30 s are 30.000000000000004 s,
    which lies behind the end of a run.
    """
    time_ns = pl.col("time_ns")
    return time_ns / (time_ns * 0 + NS_PER_S)
