"""Measures of checks, each a function that makes a measure.

Quantities are taken as such; the others are needed by checks alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Final

import numpy as np
import polars as pl

from dumbbell.algorithms import catalogue
from dumbbell.base.units import NS_PER_S
from dumbbell.engines.result import Run
from dumbbell.plan.windows import Window
from dumbbell.quantities import taking
from dumbbell.quantities.rates import goodputs, mbit_per_s
from dumbbell.quantities.series import NO_SSTHRESH
from dumbbell.quantities.view import FlowsView, QueueView, RunView
from dumbbell.scenario import facts
from fidelity import oracles
from fidelity.check import Measure

EVERYTHING: Final = Window()
"""From the start of the last flow to the end."""

SETTLED: Final = Window.model_validate({"settle": "20%"})
"""Of that the last four fifths: averages leave out what slow start does."""

NOTHING: Final = math.nan

One = Callable[[Run], float]


def mean(one: One) -> Measure:
    """Average over all runs."""

    @wraps(one)
    def measure(runs: Sequence[Run]) -> float:
        return float(np.mean([one(run) for run in runs]))

    return measure


def total(one: One) -> Measure:
    """Add up all runs."""

    @wraps(one)
    def measure(runs: Sequence[Run]) -> float:
        return float(sum(one(run) for run in runs))

    return measure


def since(time_s: float) -> Window:
    """Return the window from a time of the run on."""
    return Window.model_validate({"from": f"{time_s}s"})


def taken(reference: str, window: Window = SETTLED, per: float = 1.0) -> One:
    """Take a quantity; `window` is its main window, `per` how many of its units make one here."""

    def measure(run: Run) -> float:
        value = taking.of_run(run, [reference], {"main": window})[reference]
        return NOTHING if value is None else value / per

    return measure


def mean_of(references: Sequence[str]) -> One:
    """Average several quantities of a run, such as one of several queues."""

    def measure(run: Run) -> float:
        return float(np.mean([taken(reference)(run) for reference in references]))

    return measure


def flows_of(run: Run, subject: str | None = None, window: Window = SETTLED) -> FlowsView:
    """Return flows of a run in a window; an empty one is a ValueError."""
    view = RunView(run, {"main": window}, {}).of_flows(subject, None)
    if view is None:
        raise ValueError("the window is empty")
    return view


def bottleneck_of(run: Run, window: Window = SETTLED) -> QueueView:
    """Return the bottleneck of a run in a window; an empty one is a ValueError."""
    view = RunView(run, {"main": window}, {}).of_queue(None, None)
    if view is None:
        raise ValueError("the window is empty")
    return view


def _events(run: Run, kind: str) -> pl.DataFrame:
    return run.tables["events"].filter(pl.col("kind") == kind)


# Rates and shares


def departed_mbit(from_s: float, to_s: float) -> One:
    """Rate at which the bottleneck sent in a part of the run."""
    window = Window.model_validate({"from": f"{from_s}s", "to": f"{to_s}s"})

    def measure(run: Run) -> float:
        view = bottleneck_of(run, window)
        departed_bytes = view.grown("departed_bytes")
        return NOTHING if departed_bytes is None else mbit_per_s(departed_bytes, view.span.seconds)

    return measure


def window_segs(run: Run) -> float:
    """Mean window: what is sent per round trip of a path without queueing."""
    rtt_s = facts.base_rtt_ns(run.scenario, run.scenario.flows[0]) / NS_PER_S
    return packets_per_s(run) * rtt_s


def packets_per_s(run: Run) -> float:
    """Segments sent per second by the first flow, retransmissions included."""
    view = flows_of(run, "1")
    return sum(view.grown("sent_segs")) / view.span.seconds


def share_of_hop(run: Run) -> float:
    """Share of the first flow in the goodput of it and of the flow on a hop, mean of the hops."""
    first, *others = goodputs(flows_of(run))
    return float(np.mean([first / (first + other) for other in others]))


def share_larger(size_bytes: int) -> One:
    """Return the share of transfers that are larger than this, whether they ended or not."""
    return lambda run: float(np.mean([size > size_bytes for size in _sizes(run)]))


def mean_mb(run: Run) -> float:
    """Mean size of transfers, whether they ended or not."""
    return float(np.mean(_sizes(run))) / 1e6


def _sizes(run: Run) -> list[int]:
    demands = [flow.transport.tcp.demand for flow in run.scenario.flows if flow.transport.tcp]
    return [
        demand.transfer for demand in demands if not isinstance(demand, str) and demand.transfer
    ]


def smaller_over_larger(run: Run) -> float:
    """Ratio of the goodputs of two flows, from the start of the second on."""
    rates = goodputs(flows_of(run, window=EVERYTHING))
    return min(rates) / max(rates)


# Windows and epochs


def epoch_s(run: Run) -> float:
    """Mean time between two reductions of the only flow's window."""
    cuts = flows_of(run).events("congestion")
    if cuts is None or cuts.height < 3:
        return NOTHING
    return float(np.diff(cuts["time_ns"].to_numpy()).mean()) / NS_PER_S


def reductions_per_window(run: Run) -> float:
    """Largest number of reductions of a flow within one round trip of the unloaded path."""
    rtt_ns = facts.base_rtt_ns(run.scenario, run.scenario.flows[0])
    times = np.sort(_events(run, "congestion")["time_ns"].to_numpy().astype(np.int64))
    if not times.size:
        return NOTHING
    ends = np.searchsorted(times, times + rtt_ns, side="left")
    return float((ends - np.arange(times.size)).max())


def shorten_leith_exponent(runs: Sequence[Run]) -> float:
    """Exponent k of u1/u2 = (sync2/sync1) (T2/T1)^k, averaged over the runs."""
    return float(np.mean([_exponent(run) for run in runs]))


def _exponent(run: Run) -> float:
    view = flows_of(run)
    one, other = goodputs(view)
    rtt_1, rtt_2 = (flow.rtt_mean_us or NOTHING for flow in run.summary.flows)
    cuts = view.events("congestion")
    if cuts is None:
        return NOTHING
    count_1, count_2 = (cuts.filter(pl.col("flow") == flow).height for flow in (0, 1))
    # Both synchronisation factors are counts over the same number of congestion events.
    return math.log(one / other * count_1 / count_2) / math.log(rtt_2 / rtt_1)


# Queues


def queue_swing_packets(window: Window) -> One:
    """Difference between most and fewest packets at any sample of a window."""

    def measure(run: Run) -> float:
        samples = bottleneck_of(run, window).samples("backlog_packets")
        return float(np.ptp(samples)) if samples.size else NOTHING

    return measure


def burst_bytes(rate_bps: float) -> One:
    """Return by how much departures in any time exceed what a constant rate has in it."""

    def measure(run: Run) -> float:
        samples = RunView(run, {}, {}).queue_counters(0)
        if samples is None:
            return NOTHING
        elapsed_s = samples.time_ns / NS_PER_S
        ahead = samples.columns["departed_bytes"] - rate_bps / 8 * elapsed_s
        return float((ahead - np.minimum.accumulate(ahead)).max())

    return measure


def marked(one: One) -> One:
    """Measure nothing unless the first queue has marked packets, which is what is looked at."""

    @wraps(one)
    def measure(run: Run) -> float:
        if not run.summary.queues[0].marked_packets:
            raise ValueError("no packet was marked")
        return one(run)

    return measure


def coupling(run: Run) -> float:
    """Share of marks of the group `low` over the root of the share of drops of `classic`."""
    dropped = bottleneck_of(run).grown("dropped_packets")
    return NOTHING if not dropped else _low_marks(run) / math.sqrt(dropped / _sent(run, "classic"))


def scalable_law(run: Run) -> float:
    """Mean window of a flow of the group `low` over that of a scalable law with its marks."""
    marks, rtt_ms = _low_marks(run), taken("rtt_mean_ms[low]")(run)
    view = flows_of(run, "low")
    window = _sent(run, "low") / len(view.flows) / view.span.seconds * rtt_ms / 1e3
    return window / oracles.scalable_window(marks)


def _low_marks(run: Run) -> float:
    marked = bottleneck_of(run).grown("marked_packets")
    return NOTHING if not marked else marked / _sent(run, "low")


def _sent(run: Run, group: str) -> float:
    return sum(flows_of(run, group).grown("sent_segs"))


# Losses


def doubled_share(run: Run) -> float:
    """Share of the packets that arrived twice."""
    flow = run.summary.flows[0]
    return flow.duplicated_packets / flow.sent_segs if flow.sent_segs else NOTHING


def loss_burst(run: Run) -> float:
    """Mean number of successive packets that were lost together."""
    lost = np.sort(_events(run, "loss")["segment"].to_numpy().astype(np.int64))
    return float(lost.size / (1 + (np.diff(lost) > 1).sum())) if lost.size else NOTHING


# Messages


def repair_s(run: Run) -> float:
    """Time from the first sending of the last segment to its retransmission.

    That is the time of the retransmission, as everything is sent in one flight at 0 s.
    """
    again = _events(run, "retransmit")["time_ns"]
    return float(again[0]) / NS_PER_S if again.len() else NOTHING


def handshake_s(run: Run) -> float:
    """Mean time from a flow's start to that of its connection, for flows that send data."""
    opened = _events(run, "start")
    starts_ns = [run.scenario.flows[flow].start_ns for flow in opened["flow"]]
    waits_ns = opened["time_ns"].to_numpy().astype(np.int64) - np.array(starts_ns, dtype=np.int64)
    return float(np.mean(waits_ns)) / NS_PER_S if waits_ns.size else NOTHING


def sent_in_recovery(run: Run) -> float:
    """Segments sent from the first inferred loss to the end of its recovery."""
    begin, end = (_events(run, kind)["time_ns"] for kind in ("congestion", "recovered"))
    if not (begin.len() and end.len()):
        return NOTHING
    samples = run.tables["flows"].filter(
        (pl.col("time_ns") >= begin[0]) & (pl.col("time_ns") < end[0])
    )
    sent = samples["sent_segs"]
    return float(sent[-1] - sent[0]) if sent.len() > 1 else NOTHING


def sent_share_in_recovery(run: Run) -> float:
    """Those segments relative to the window before."""
    before = _events(run, "congestion")["cwnd_segs"]
    return sent_in_recovery(run) / float(before[0]) if before.len() else NOTHING


def window_kept(run: Run) -> float:
    """Window after the first recovery relative to the window before."""
    before = _events(run, "congestion")["cwnd_segs"]
    after = _events(run, "recovered")["cwnd_segs"]
    return float(after[0] / before[0]) if before.len() and after.len() else NOTHING


def first_ssthresh(run: Run) -> float:
    """Slow-start threshold that the flow first found."""
    thresholds = run.tables["flows"].filter(pl.col("ssthresh_segs") < NO_SSTHRESH)["ssthresh_segs"]
    return float(thresholds[0]) if thresholds.len() else NOTHING


def kept_share(run: Run) -> float:
    """Share of the window that is kept at a reduction, mean of all."""
    cuts = flows_of(run, "1").events("congestion")
    if cuts is None or not cuts.height:
        return NOTHING
    return float((cuts["ssthresh_segs"] / cuts["cwnd_segs"]).to_numpy().mean())


def law_factor(run: Run) -> float:
    """Mean window times the root of the reductions per segment that is sent."""
    view = flows_of(run, "1")
    cuts = view.events("congestion")
    if cuts is None or not cuts.height:
        return NOTHING
    return window_segs(run) * math.sqrt(cuts.height / sum(view.grown("sent_segs")))


def acks_per_segment(run: Run) -> float:
    """Packets on the way back per data packet that arrived."""
    arrived = run.summary.flows[0].received_packets
    return run.summary.queues[1].arrived_packets / arrived if arrived else NOTHING


def segments_per_ack(run: Run) -> float:
    """Segments that arrived per packet on the way back, once settled."""
    first = run.scenario.flows[0]
    segment_bytes = first.packet_bytes - first.header_bytes
    arrived_bytes = sum(flows_of(run, "1").grown("received_bytes"))
    back = RunView(run, {"main": SETTLED}, {}).of_queue("reverse", None)
    acks = None if back is None else back.grown("departed_packets")
    return arrived_bytes / segment_bytes / acks if acks else NOTHING


def dropped_share(run: Run) -> float:
    """Share of the first flow's packets that queues turned away."""
    first = run.summary.flows[0]
    return first.dropped_packets / first.sent_segs if first.sent_segs else NOTHING


# The network as a whole


def unaccounted(run: Run) -> float:
    """Packets that were neither delivered, dropped, lost nor under way; by flow and by queue."""
    missing = 0
    for flow in run.summary.flows:
        sent = flow.sent_segs + flow.duplicated_packets
        gone = flow.received_packets + flow.dropped_packets + flow.lost_packets
        missing += abs(sent - gone - flow.in_flight_packets)
    for queue in run.summary.queues:
        came = queue.arrived_packets + queue.duplicated_packets
        gone = queue.departed_packets + queue.dropped_packets + queue.lost_packets
        missing += abs(came - gone - queue.backlog_packets)
    return float(missing)


def differences(runs: Sequence[Run]) -> float:
    """Tables and summaries in which the second half of the runs differs from the first."""
    half = len(runs) // 2
    pairs = zip(runs[:half], runs[half:], strict=True)
    return float(sum(_differences(one, other) for one, other in pairs))


def _differences(one: Run, other: Run) -> int:
    unequal = sum(
        not one.scan(name).collect().equals(other.scan(name).collect())
        for name in catalogue.schema().tables
    )
    return unequal + (one.summary != other.summary)
