"""Durations of the queries that several flows answer at the same time (incast).

A query takes as long as the longest of its answers. An answer lasts from the issue of the query to
the acknowledgement of the answer's last byte. A query counts only if all its answers began and
ended in the window. The selected flows must include all flows that answer it. Percentiles follow
the rules of `latency`.
"""

from __future__ import annotations

import polars as pl

from dumbbell.contract.scenario import Flow
from dumbbell.quantities.counters import Values, percentile
from dumbbell.quantities.latency import finished
from dumbbell.quantities.registry import Best, of_flows
from dumbbell.quantities.view import FlowsView

_NS_PER_MS = 10**6


def query_of(flow: Flow) -> int | None:
    """Return the number of the queries that a flow answers with others; None if it answers none."""
    tcp = flow.transport.tcp
    if tcp is None or isinstance(tcp.demand, str) or tcp.demand.requests is None:
        return None
    return tcp.demand.requests.query


def times_ms(view: FlowsView) -> Values:
    """Return how long each query took, in the order of their numbers."""
    numbers = {index: query_of(flow) for index, flow in enumerate(view.run.scenario.flows)}
    answering = {index: number for index, number in numbers.items() if number is not None}
    sizes = pl.Series(list(answering.values()), dtype=pl.Int64).value_counts(name="answers")
    rows = view.once(finished).select("flow", "number", "latency_ns").cast(pl.Int64)
    answers = rows.filter(pl.col("flow").is_in(list(answering)))
    if answers.is_empty():
        return answers["latency_ns"].cast(pl.Float64).to_numpy()
    queries = answers.with_columns(
        query=pl.col("flow").replace_strict(answering, return_dtype=pl.Int64)
    )
    taken = queries.group_by("query", "number").agg(pl.len(), pl.col("latency_ns").max())
    # A query without one of its answers is not over, whatever its other answers took.
    whole = taken.join(sizes, left_on="query", right_on="").filter(
        pl.col("len") == pl.col("answers")
    )
    return whole.sort("query", "number")["latency_ns"].cast(pl.Float64).to_numpy() / _NS_PER_MS


@of_flows("queries", "1/s", best=Best.HIGHEST)
def queries_per_s(view: FlowsView) -> float | None:
    """Count per second of the queries whose answers all began and ended in the window."""
    if not any(query_of(flow.first) is not None for flow in view.flows):
        return None
    return view.once(times_ms).size / view.span.seconds


@of_flows("mean query time", "ms", best=Best.LOWEST)
def query_mean_ms(view: FlowsView) -> float | None:
    """Mean time of a query, which several flows answer, until its last answer has arrived."""
    values = view.once(times_ms)
    return float(values.mean()) if values.size else None


@of_flows("median query time", "ms", best=Best.LOWEST)
def query_p50_ms(view: FlowsView) -> float | None:
    """Median time of a query until its last answer has arrived (nearest rank)."""
    return percentile(view.once(times_ms), 500)


@of_flows("90 % query time", "ms", best=Best.LOWEST)
def query_p90_ms(view: FlowsView) -> float | None:
    """90 % of the queries took no longer until their last answer had arrived; needs 100."""
    return percentile(view.once(times_ms), 900)


@of_flows("99 % query time", "ms", best=Best.LOWEST)
def query_p99_ms(view: FlowsView) -> float | None:
    """99 % of the queries took no longer until their last answer had arrived; needs 1000."""
    return percentile(view.once(times_ms), 990)


@of_flows("largest query time", "ms", best=Best.LOWEST)
def query_max_ms(view: FlowsView) -> float | None:
    """Longest time of a query until its last answer had arrived."""
    values = view.once(times_ms)
    return float(values.max()) if values.size else None
