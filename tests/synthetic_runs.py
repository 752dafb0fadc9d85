"""Runs whose rates, reductions and queues are known exactly, and their quantities."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import polars as pl

from dumbbell.contract.scenario import Flow, Scenario
from dumbbell.contract.summary import FlowSummary, QueueSummary, Summary
from dumbbell.engines.engine import Output
from dumbbell.engines.result import Run
from dumbbell.plan.expanding import PlannedRun
from dumbbell.plan.settings import Settings
from dumbbell.plan.windows import Window
from dumbbell.quantities import taking
from dumbbell.quantities.reference import parse
from dumbbell.quantities.view import RunView
from dumbbell.scenario import model as scenarios
from sample_runs import blank

PAYLOAD_BYTES = 1448
MBIT_PER_SEG = PAYLOAD_BYTES * 8e-6
"""Of goodput."""

HALF_SAMPLED: Sequence[Mapping[str, Any]] = (
    {"label": "a", "group": "all"},
    {"label": "b", "group": "all", "sampled": False},
)
"""Two flows of a group, one of which has no samples."""


@dataclass(frozen=True)
class FlowTrace:
    """The course of a flow: segments per second as a function of the time since its start in s.

    Its window and its round-trip time are functions of the time of the run in s.
    """

    segs_per_s: Callable[[float], float]
    cuts_s: Sequence[float] = ()
    retransmitted: float = 0.0
    window: Callable[[float], float] = lambda _: 10.0
    rtt_us: Callable[[float], float] = lambda _: 100_000.0


def constant(rate: float, **others: Any) -> FlowTrace:
    return FlowTrace(lambda _: rate, **others)


def stepping(*rates: float) -> FlowTrace:
    """Send at each of these rates in turn, a second each, counted from the flow's start."""
    return FlowTrace(lambda time_s: rates[(int(np.ceil(time_s)) - 1) % len(rates)])


def planned(
    *,
    start_s: float = 0.0,
    flows: int | Sequence[Mapping[str, Any]] = 2,
    interval: str = "500ms",
    windows: Mapping[str, Mapping[str, str]] | None = None,
    settings: Sequence[Settings] = (),
    **top: Any,
) -> PlannedRun:
    """Plan a run of 100 s at 12 Mbit/s and 100 ms: a BDP of 100 packets of 1500 bytes.

    Flows are called ``flow 1`` and so on; the last of them starts at `start_s`, unless they are
    given.
    """
    if isinstance(flows, int):
        flows = [{"label": f"flow {number}"} for number in range(1, flows + 1)]
        flows[-1] = {**flows[-1], "start": f"{start_s}s"}
    table: dict[str, Any] = {
        "duration": "100s",
        "network": {"rate": "12mbit", "rtt": "100ms", "queue": "1bdp"},
        "flow": [{} if "transport" in flow else {"algorithm": "reno"} for flow in flows],
        "record": {"interval": interval, "events": ["congestion"]},
        **top,
    }
    for entry, flow in zip(table["flow"], flows, strict=True):
        entry.update(flow)
    resolved = scenarios.Scenario.parse(table).resolve()
    named = {name: Window.model_validate(dict(keys)) for name, keys in (windows or {}).items()}
    by_table = {setting.table: setting for setting in settings}
    return PlannedRun("test", {}, 0, resolved, {"main": Window(), **named}, by_table)


def played(plan: PlannedRun, traces: Sequence[FlowTrace]) -> Run:
    """Make the result of a run in which the flows behave as their traces say.

    The bottleneck sends 1 MB/s, drops a packet every 10 s and always has 20 packets of 1500 bytes.
    """
    data = plan.resolved.scenario
    interval_ns = data.record.interval_ns or 10**9
    times = np.arange(interval_ns, data.duration_ns + 1, interval_ns)
    flows = [
        _flow_samples(index, flow, trace, times)
        for index, (flow, trace) in enumerate(zip(data.flows, traces, strict=True))
    ]
    tables = {"flows": pl.concat(flows), "queues": _queues(times), "events": _events(traces)}
    if data.record.interval_ns is None:
        tables = {"events": tables["events"]}
    return Run.of(plan.resolved, Output(_summary(data, flows), tables))


def _queues(times: np.ndarray[Any, Any]) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "time_ns": pl.Series(times, dtype=pl.UInt64),
            "queue": pl.Series([0] * len(times), dtype=pl.UInt32),
            "departed_bytes": (times / 1e9 * 1_000_000).astype(np.uint64),
            "departed_packets": (times / 1e9 * 1000).astype(np.uint64),
            "dropped_packets": (times // 10**10).astype(np.uint64),
            "marked_packets": (times // 10**10).astype(np.uint64) * 2,
            "backlog_packets": pl.Series([20] * len(times), dtype=pl.UInt32),
            "backlog_bytes": pl.Series([30_000] * len(times), dtype=pl.UInt64),
        }
    )


def _summary(data: Scenario, flows: Sequence[pl.DataFrame]) -> Summary:
    summaries = tuple(
        _flow_summary(index, flow, frame, data.duration_ns)
        for index, (flow, frame) in enumerate(zip(data.flows, flows, strict=True))
    )
    queue = blank(
        QueueSummary,
        backlog_packets_max=90,
        waiting_bytes_mean=30_000,
        departed_bytes=100_000_000,
        dropped_packets=10,
        marked_packets=3,
    )
    return blank(Summary, duration_ns=data.duration_ns, flows=summaries, queues=(queue,))


def _flow_summary(index: int, flow: Flow, frame: pl.DataFrame, duration_ns: int) -> FlowSummary:
    totals = {
        name: round(frame[name][-1]) if frame.height else 0
        for name in ("sent_segs", "sent_bytes", "retransmitted_segs", "received_bytes")
    }
    return blank(
        FlowSummary,
        flow=index,
        label=flow.label,
        start_ns=flow.start_ns,
        end_ns=duration_ns if flow.stop_ns is None else flow.stop_ns,
        rtt_mean_us=100_000,
        timeouts=index,
        **totals,
    )


def _flow_samples(
    index: int, flow: Flow, trace: FlowTrace, times: np.ndarray[Any, Any]
) -> pl.DataFrame:
    active = times[times > flow.start_ns]
    steps_s = np.diff(np.concatenate(([flow.start_ns], active))) / 1e9
    end_ns = np.inf if flow.stop_ns is None else flow.stop_ns
    rates = [
        trace.segs_per_s((time - flow.start_ns) / 1e9) if time <= end_ns else 0.0 for time in active
    ]
    sent = np.cumsum(np.array(rates) * steps_s)
    return pl.DataFrame(
        {
            "time_ns": pl.Series(active, dtype=pl.UInt64),
            "flow": pl.Series([index] * len(active), dtype=pl.UInt32),
            "sent_segs": sent,
            "sent_bytes": sent * PAYLOAD_BYTES,
            "retransmitted_segs": sent * trace.retransmitted,
            "received_bytes": sent * (1 - trace.retransmitted) * PAYLOAD_BYTES,
            "cwnd_segs": [float(trace.window(time / 1e9)) for time in active],
            "rtt_us": [float(trace.rtt_us(time / 1e9)) for time in active],
        }
    )


def _events(traces: Sequence[FlowTrace]) -> pl.DataFrame:
    rows = sorted((cut, index) for index, trace in enumerate(traces) for cut in trace.cuts_s)
    return pl.DataFrame(
        {
            "time_ns": pl.Series([round(cut * 1e9) for cut, _ in rows], dtype=pl.UInt64),
            "kind": pl.Series(["congestion"] * len(rows), dtype=pl.String),
            "flow": pl.Series([index for _, index in rows], dtype=pl.UInt32),
        }
    )


def with_flows(run: Run, *changes: Mapping[str, Any]) -> Run:
    """Change the summary of a run's connections."""
    flows = tuple(
        msgspec.structs.replace(flow, **changed)
        for flow, changed in zip(run.summary.flows, changes, strict=True)
    )
    run.summary = msgspec.structs.replace(run.summary, flows=flows)
    return run


def with_table(run: Run, name: str, table: pl.DataFrame) -> Run:
    """Put another table in the place of one of a run's."""
    names = ("flows", "queues", "events", "requests", "internals")
    tables = {name: run.scan(name, named=False) for name in names} | {name: table.lazy()}
    return Run(run.key, run.scenario, run.summary, tables)


class Taken:
    """The quantities of a run by their references, each taken on request."""

    def __init__(self, run: Run, plan: PlannedRun) -> None:
        self.view = RunView(run, plan.windows, plan.settings)

    def __getitem__(self, reference: str) -> float | None:
        return taking.take(self.view, parse(reference))


def measured(plan: PlannedRun, *traces: FlowTrace) -> Taken:
    return Taken(played(plan, traces), plan)
