"""Durations of the requests and transfers of one run, as a table: a row for each kind of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import polars as pl

from dumbbell.engines.result import Run
from dumbbell.quantities import latency, queries
from dumbbell.quantities.spans import Span
from dumbbell.quantities.subjects import Flow
from dumbbell.quantities.view import FlowsView, RunView, view_of
from dumbbell.scenario import facts

_TAKEN: Final = (
    latency.requests_per_s,
    latency.requests_mbit_per_s,
    latency.latency_mean_ms,
    latency.latency_p50_ms,
    latency.latency_p90_ms,
    latency.latency_p99_ms,
    latency.latency_p999_ms,
    latency.latency_max_ms,
    latency.slowdown_mean,
    latency.slowdown_p50,
    latency.slowdown_p99,
)


_OF_QUERIES: Final = {
    "requests_per_s": queries.queries_per_s,
    "latency_mean_ms": queries.query_mean_ms,
    "latency_p50_ms": queries.query_p50_ms,
    "latency_p90_ms": queries.query_p90_ms,
    "latency_p99_ms": queries.query_p99_ms,
    "latency_max_ms": queries.query_max_ms,
}


def latencies(run: Run) -> pl.DataFrame:
    """Return what the requests and transfers of a run took, one row for each kind of flow.

    Flows of one label, algorithm and size of request are of one kind. The columns are ``flows``
    (their label), ``algorithm``, ``count`` of flows, ``finished`` and ``unfinished`` requests or
    transfers, and the quantities of ``quantities.latency``. These are from the first start of such
    a flow to the end of the run. Of requests, each flow has one unfinished at most, which is not
    counted. A transfer over several connections ends with the last of them. Flows that answer
    queries together have a second row for these, which end with their last answer.
    """
    view = view_of(run)
    rows = [row for flows in kinds(view.flows) for row in _rows(view, flows)]
    return pl.DataFrame(rows, schema=_SCHEMA)


def kinds(flows: tuple[Flow, ...]) -> list[tuple[Flow, ...]]:
    """Return the flows that send requests or end, those of one label and purpose together."""
    by_kind: dict[tuple[object, ...], list[Flow]] = {}
    for flow in flows:
        if flow.is_transfer or flow.request_bytes is not None:
            key = (facts.family(flow.label), facts.choice(flow.first), flow.request_bytes)
            by_kind.setdefault(key, []).append(flow)
    return [tuple(members) for members in by_kind.values()]


def _rows(run: RunView, flows: tuple[Flow, ...]) -> Iterator[dict[str, Any]]:
    start_ns = min(flow.life.start_ns for flow in flows)
    view = FlowsView(run, flows, Span(start_ns, run.scenario.duration_ns))
    finished = view.once(latency.finished).height
    first = flows[0]
    label = facts.family(first.label) if len(flows) > 1 else first.label
    row = {
        "flows": label,
        "algorithm": facts.choice(first.first),
        "count": len(flows),
        "finished": finished,
        "unfinished": len(flows) - finished if first.is_transfer else None,
        **{taken.__name__: taken(view) for taken in _TAKEN},
    }
    yield row
    if queries.query_of(first.first) is not None:
        yield {
            **row,
            "flows": f"{label}, whole queries",
            "finished": view.once(queries.times_ms).size,
            **{taken.__name__: None for taken in _TAKEN},
            **{name: taken(view) for name, taken in _OF_QUERIES.items()},
        }


_SCHEMA: Final = {
    "flows": pl.String,
    "algorithm": pl.String,
    "count": pl.Int64,
    "finished": pl.Int64,
    "unfinished": pl.Int64,
    **{taken.__name__: pl.Float64 for taken in _TAKEN},
}
