"""Durations of the requests and transfers of a run: by kinds of flows, and by size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import polars as pl

from dumbbell.base.labels import window
from dumbbell.base.units import NS_PER_S
from dumbbell.engines.result import Run
from dumbbell.quantities import counters, latency
from dumbbell.quantities.cells import Shown, Totals
from dumbbell.quantities.latencies import kinds, latencies
from dumbbell.quantities.responsiveness import (
    foreign_rtt_ms,
    is_probe,
    loaded_rtt_ms,
    responsiveness_rpm,
)
from dumbbell.quantities.shown import count, number, percentile
from dumbbell.quantities.spans import Span
from dumbbell.quantities.view import FlowsView, view_of
from dumbbell.scenario import facts

_PER_MILLE: Final = {"50": 500, "90": 900, "99": 990, "999": 999}
_COUNTS: Final = ("finished", "unfinished")
_BEYOND: Final = (
    f"From the first start to the end of the run. A percentile needs {counters.BEYOND} values "
    "beyond it. Slow-down: the latency / that over an empty path."
)


def requests(run: Run) -> Totals:
    """Return what requests and transfers took."""
    titles = {
        "finished": "finished",
        "unfinished": "unfinished",
        "requests_per_s": "per second",
        "requests_mbit_per_s": "goodput (Mbit/s)",
        "latency_mean_ms": "mean (ms)",
        "latency_p50_ms": "50 % (ms)",
        "latency_p90_ms": "90 % (ms)",
        "latency_p99_ms": "99 % (ms)",
        "latency_p999_ms": "99.9 % (ms)",
        "latency_max_ms": "max (ms)",
        "slowdown_mean": "slow-down",
        "slowdown_p99": "slow-down, 99 %",
    }
    rows = []
    for row in latencies(run).iter_rows(named=True):
        name = row["flows"] if row["count"] == 1 else f"{row['flows']} × {row['count']}"
        rows.append((name, *(_cell(row, key) for key in titles)))
    return Totals(("requests, transfers", *titles.values()), tuple(rows), note=_BEYOND)


def _cell(row: Mapping[str, Any], key: str) -> Shown:
    """Show a value; of a percentile without one how many it needs."""
    per_mille = _PER_MILLE.get(key.rpartition("_p")[2].removesuffix("_ms"))
    if per_mille is not None:
        return percentile(row[key], per_mille, row["finished"])
    return count(row[key]) if key in _COUNTS else number(row[key], 4)


def by_size(run: Run) -> Totals:
    """Return what transfers and requests took by their size, where a kind has several sizes."""
    heads = ("by size", "finished", "mean (ms)", "99 % (ms)", "slow-down", "its 99 %")
    view, end_ns = view_of(run), run.scenario.duration_ns
    of_kinds: list[tuple[str, list[tuple[str, pl.DataFrame]]]] = []
    for flows in kinds(view.flows):
        start_ns = min(flow.life.start_ns for flow in flows)
        completions = latency.completions(FlowsView(view, flows, Span(start_ns, end_ns)))
        if len(parts := list(_decades(completions))) > 1:
            of_kinds.append((facts.family(flows[0].label), parts))
    rows = [
        (f"{name} {size}" if len(of_kinds) > 1 else size, *_by_size(part))
        for name, parts in of_kinds
        for size, part in parts
    ]
    note = f"Sizes are those of the payload: above the row before. {_BEYOND}"
    return Totals(heads, tuple(rows), note=note)


def _decades(completions: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield what has up to 1 kB, from there to 10 kB and so on: the most, and what is there."""
    # Rounding, as log10 of a power of ten may be above its exponent by the last bit.
    decade = pl.col("bytes").log10().round(9).ceil().cast(pl.Int64).clip(lower_bound=_SMALLEST)
    for (power,), part in completions.sort("bytes").group_by(decade, maintain_order=True):
        assert isinstance(power, int)
        yield f"≤ {10 ** (power % 3)} {'kMGT'[power // 3 - 1]}B", part


_SMALLEST: Final = 3


def _by_size(part: pl.DataFrame) -> Iterator[str]:
    yield count(part.height)
    for name in ("latency_ms", "slowdown"):
        values = part[name].to_numpy()
        yield number(float(values.mean()), 4)
        yield percentile(counters.percentile(values, 990), 990, part.height)


def responsiveness(run: Run) -> Totals:
    """Return the round trips per minute where something next to the load probes the path."""
    heads = ("responsiveness", "round trips per minute", "of probes (ms)", "of the load (ms)")
    view = view_of(run)
    is_probed = any(is_probe(flow) or flow.is_datagrams for flow in view.flows)
    span = view.span("main") if is_probed else None
    if span is None:
        return Totals(heads, ())
    flows = FlowsView(view, view.sampled, span)
    rpm = responsiveness_rpm(flows)
    values = (rpm, foreign_rtt_ms(flows), loaded_rtt_ms(flows))
    rows = (("all flows", *(number(value, 4) for value in values)),)
    where = window(span.start_ns / NS_PER_S, span.end_ns / NS_PER_S)
    note = (
        "As draft-ietf-ippm-responsiveness defines it, from when the last TCP flow has started: "
        f"{where}."
    )
    return Totals(heads, () if rpm is None else rows, note=note)
