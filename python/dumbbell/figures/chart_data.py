"""Data inside charts: compact, rounded, thinned for display.

Whatever is computed from samples is computed from all of them; only lines on a screen are thinned.
"""

import altair as alt
import polars as pl

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


def thin(frame: pl.DataFrame, x: str, y: str, buckets: int) -> pl.DataFrame:
    """Keep the first, lowest and highest row of each of `buckets` equal spans of `x`.

    What remains draws the same picture wherever a span is narrower than a pixel.
    """
    if frame.height <= 3 * buckets:
        return frame
    low, high = frame[x].min(), frame[x].max()
    assert isinstance(low, int | float)
    assert isinstance(high, int | float)
    span = (high - low) / buckets
    numbered = frame.with_row_index("_row").with_columns(
        _bucket=((pl.col(x) - low) / span).floor().clip(0, buckets - 1)
    )
    order = pl.col("_row")
    kept = (
        numbered.group_by("_bucket")
        .agg(
            first=order.first(),
            lowest=order.sort_by(y, order).first(),
            highest=order.sort_by(y, order).last(),
        )
        .select(pl.concat_list("first", "lowest", "highest").explode().unique().alias("_row"))
    )
    last = pl.DataFrame({"_row": [frame.height - 1]}, schema={"_row": kept.schema["_row"]})
    rows = pl.concat([kept, last]).unique().sort("_row")["_row"]
    return frame[rows]
