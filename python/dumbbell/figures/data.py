"""Data inside charts: compact and rounded."""

from __future__ import annotations

import polars as pl

from dumbbell.base.lazy import altair as alt

_DIGITS = 6
_KINDS = {pl.String: "string", pl.Boolean: "boolean"}


def inline(frame: pl.DataFrame) -> alt.InlineData:
    """Put a frame into a chart as CSV text, a third of the size of Vega-Lite's usual records."""
    rounded = frame.with_columns(
        pl.col(pl.Float64, pl.Float32).cast(pl.Float64).round_sig_figs(_DIGITS)
    )
    kinds = {name: _KINDS.get(type(kind), "number") for name, kind in frame.schema.items()}
    return alt.InlineData(
        values=rounded.write_csv(),
        format=alt.CsvDataFormat(type="csv", parse=kinds),
    )
