"""How long requests and transfers take: percentiles for each family of equal flows.

The latency of a request is from its issue to the acknowledgement of its last byte, which is its
reply. A percentile is by nearest rank, and given only where at least ten samples lie beyond it, so
the 99.9 % one needs ten thousand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, cast

import polars as pl

from dumbbell.running.result import Run
from dumbbell.scenario import facts
from dumbbell.units import NS_PER_S

PERCENTILES: Final = {"p50_ms": 500, "p90_ms": 900, "p99_ms": 990, "p999_ms": 999}
"""Columns, and the share of the samples that is not above them, in thousandths."""

_BEYOND: Final = 10
_NS_PER_MS: Final = 10**6


def nearest_rank(ordered: Sequence[int], per_mille: int) -> int | None:
    """Return a percentile of sorted values; None where fewer than ten samples lie beyond it."""
    count = len(ordered)
    if count * (1000 - per_mille) < _BEYOND * 1000:
        return None
    return ordered[-(-count * per_mille // 1000) - 1]


def percentiles(latencies_ns: pl.Series) -> dict[str, float | None]:
    """Return mean, percentiles and maximum in milliseconds; None where there are too few."""
    ordered = latencies_ns.sort().to_list()
    found = {name: nearest_rank(ordered, share) for name, share in PERCENTILES.items()}
    mean = cast("float | None", latencies_ns.mean())
    return {
        "mean_ms": None if mean is None else mean / _NS_PER_MS,
        **{name: None if ns is None else ns / _NS_PER_MS for name, ns in found.items()},
        "max_ms": ordered[-1] / _NS_PER_MS if ordered else None,
    }


def families(scenario: facts.Resolved) -> list[list[int]]:
    """Return the flows that send requests or end, those of equal name and purpose together."""
    found: dict[tuple[object, ...], list[int]] = {}
    for index, flow in enumerate(scenario["flows"]):
        match flow["transport"].get("tcp", {}).get("demand"):
            case {"requests": {"bytes": size}}:
                purpose: tuple[object, ...] = ("requests", size)
            case {"transfer": _}:
                purpose = ("transfer",)
            case _:
                continue
        key = (facts.family(flow["label"]), facts.choice(flow), *purpose)
        found.setdefault(key, []).append(index)
    return list(found.values())


def whole_transfers(requests: pl.DataFrame, scenario: facts.Resolved) -> pl.DataFrame:
    """Join the transfers of a flow's connections to one, which is done when all of them are.

    It has the number of the first connection. What single connections carry stays as it is.
    """
    several = [numbers for numbers in facts.bundles(scenario["flows"]) if len(numbers) > 1]
    if not several:
        return requests
    first = {number: numbers[0] for numbers in several for number in numbers}
    needed = {numbers[0]: len(numbers) for numbers in several}
    is_part = pl.col("flow").is_in(list(first))
    parts = requests.filter(is_part).with_columns(pl.col("flow").replace(first))
    joined = parts.group_by("flow", maintain_order=True).agg(
        pl.col(name).max()
        if name == "latency_ns"
        else pl.col(name).sum()
        if name == "bytes"
        else pl.col(name).first()
        for name in parts.columns
        if name != "flow"
    )
    arrived = parts.group_by("flow").agg(pl.len().alias("arrived"))
    complete = joined.join(arrived, on="flow").filter(
        pl.col("arrived") == pl.col("flow").replace_strict(needed, return_dtype=pl.UInt32)
    )
    return pl.concat([requests.filter(~is_part), complete.select(requests.columns)])


def latencies(run: Run) -> pl.DataFrame:
    """Return what the requests and transfers of a run took, one row for each family of flows.

    The columns are ``flows`` (the family's name), ``algorithm``, ``count`` of flows, ``finished``
    and ``unfinished`` requests or transfers, ``per_s`` and ``goodput_mbit`` from the family's first
    start to the end of the run, ``mean_ms``, ``p50_ms``, ``p90_ms``, ``p99_ms``, ``p999_ms`` and
    ``max_ms``. Of requests, each flow has one unfinished at most, which is not counted. A transfer
    over several connections ends with the last of them.
    """
    rows = [_row(run, members) for members in families(run.scenario)]
    return pl.DataFrame(rows, schema=_SCHEMA)


def _row(run: Run, members: Sequence[int]) -> dict[str, Any]:
    flows = [run.scenario["flows"][index] for index in members]
    count = len(facts.bundles(flows))
    done = run.requests.filter(pl.col("flow").is_in(members))
    done = whole_transfers(done, run.scenario)
    active_s = (run.summary["duration_ns"] - min(flow["start_ns"] for flow in flows)) / NS_PER_S
    ends = "transfer" in flows[0]["transport"]["tcp"]["demand"]
    return {
        "flows": (facts.family if count > 1 else facts.whole)(flows[0]["label"]),
        "algorithm": facts.choice(flows[0]),
        "count": count,
        "finished": done.height,
        "unfinished": count - done.height if ends else None,
        "per_s": done.height / active_s,
        "goodput_mbit": 8 * int(done["bytes"].sum()) / active_s / 1e6,
        **percentiles(done["latency_ns"]),
    }


_SCHEMA: Final = {
    "flows": pl.String,
    "algorithm": pl.String,
    "count": pl.Int64,
    "finished": pl.Int64,
    "unfinished": pl.Int64,
    "per_s": pl.Float64,
    "goodput_mbit": pl.Float64,
    "mean_ms": pl.Float64,
    **dict.fromkeys(PERCENTILES, pl.Float64),
    "max_ms": pl.Float64,
}
