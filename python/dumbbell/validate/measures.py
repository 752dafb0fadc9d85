"""What checks measure of their runs, each a function that makes a measure."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Final

import numpy as np
import polars as pl

from dumbbell.analysis.window import Counters, Sampled
from dumbbell.running.result import Run
from dumbbell.scenario import facts
from dumbbell.study.model import Measure as Part
from dumbbell.units import NS_PER_S
from dumbbell.validate.check import Measure

SKIPPED: Final = 0.2
"""Share of a run that averages leave out: what slow start does."""

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


def _sampled(run: Run, skip: float = SKIPPED) -> Sampled:
    return Sampled(run, Part(skip=skip))


def _counters(sampled: Sampled) -> list[Counters]:
    """Return the samples of the flows that have any."""
    return [counters for counters in sampled.flow_counters if counters is not None]


def _rate_bps(run: Run) -> float:
    return facts.bottleneck_rate_bps(run.scenario) or NOTHING


def _queue(run: Run, from_s: float = 0.0, to_s: float = math.inf, queue: int = 0) -> pl.DataFrame:
    """Return the samples of a queue in a part of the run."""
    return run.queues.filter(
        (pl.col("queue").to_physical() == queue)
        & (pl.col("time_ns") >= from_s * NS_PER_S)
        & (pl.col("time_ns") <= to_s * NS_PER_S)
    )


def _events(run: Run, kind: str, from_s: float = 0.0) -> pl.DataFrame:
    return run.events.filter((pl.col("kind") == kind) & (pl.col("time_ns") >= from_s * NS_PER_S))


def _seconds(run: Run) -> float:
    return float(run.scenario["duration_ns"]) / NS_PER_S


def _grown(samples: pl.DataFrame, column: str) -> float:
    if samples.height < 2:
        return NOTHING
    return float(samples[column][-1] - samples[column][0])


# Rates and shares


def utilisation(run: Run) -> float:
    """Share of the bottleneck's rate that left it."""
    sampled = _sampled(run)
    window = sampled.window
    if window is None:
        return NOTHING
    departed = sampled.bottleneck.between("departed_bytes", window.start_ns, window.end_ns)
    return 8 * departed / window.seconds / _rate_bps(run)


def departed_mbit(from_s: float, to_s: float) -> One:
    """Rate at which the bottleneck sent in a part of the run."""

    def measure(run: Run) -> float:
        samples = _queue(run, from_s, to_s)
        seconds = _grown(samples, "time_ns") / NS_PER_S
        return 8 * _grown(samples, "departed_bytes") / seconds / 1e6

    return measure


def window_segs(run: Run) -> float:
    """Mean window: what is sent per round trip of a path without queueing."""
    sampled = _sampled(run)
    window = sampled.window
    if window is None:
        return NOTHING
    sent = _counters(sampled)[0].between("sent_segs", window.start_ns, window.end_ns)
    rtt_s = facts.base_rtt_ns(run.scenario, run.scenario["flows"][0]) / NS_PER_S
    return sent / window.seconds * rtt_s


def packets_per_s(run: Run) -> float:
    """Segments sent per second by the only flow, retransmissions included."""
    sampled = _sampled(run)
    window = sampled.window
    if window is None:
        return NOTHING
    sent = _counters(sampled)[0].between("sent_segs", window.start_ns, window.end_ns)
    return sent / window.seconds


def rates(run: Run, skip: float = SKIPPED) -> list[float]:
    """Goodput of each sampled flow in bytes/s, after the start of the last."""
    sampled = _sampled(run, skip)
    window = sampled.window
    if window is None:
        return [NOTHING]
    return [
        counters.between("received_bytes", window.start_ns, window.end_ns) / window.seconds
        for counters in _counters(sampled)
    ]


def goodput_mbit(run: Run) -> float:
    """Goodput of all sampled flows."""
    return 8e-6 * sum(rates(run))


def share(flow: int = 0) -> One:
    """Share of one flow in the goodput of all."""

    def measure(run: Run) -> float:
        found = rates(run)
        return found[flow] / sum(found)

    return measure


def share_of_hop(run: Run) -> float:
    """Share of the first flow in the goodput of it and of the flow on a hop, mean of the hops."""
    first, *others = rates(run)
    return float(np.mean([first / (first + other) for other in others]))


def smaller_over_larger(run: Run) -> float:
    """Ratio of the goodputs of two flows, from the start of the second on."""
    found = rates(run, skip=0.0)
    return min(found) / max(found)


def jain(run: Run) -> float:
    """Jain's index of the goodputs."""
    found = np.array(rates(run))
    return float(found.sum() ** 2 / (len(found) * (found**2).sum()))


# Windows and epochs


def epoch_s(run: Run) -> float:
    """Mean time between two reductions of the only flow's window."""
    times = _events(run, "congestion", SKIPPED * _seconds(run))["time_ns"].to_numpy()
    return float(np.diff(times.astype(np.int64)).mean()) / NS_PER_S if len(times) > 2 else NOTHING


def reductions_per_window(run: Run) -> float:
    """Largest number of reductions of a flow within one round trip of the unloaded path."""
    rtt_ns = facts.base_rtt_ns(run.scenario, run.scenario["flows"][0])
    times = np.sort(_events(run, "congestion")["time_ns"].to_numpy().astype(np.int64))
    if not times.size:
        return NOTHING
    ends = np.searchsorted(times, times + rtt_ns, side="left")
    return float((ends - np.arange(times.size)).max())


def shorten_leith_exponent(runs: Sequence[Run]) -> float:
    """Exponent k of u1/u2 = (sync2/sync1) (T2/T1)^k, averaged over the runs."""
    return float(np.mean([_exponent(run) for run in runs]))


def _exponent(run: Run) -> float:
    one, other = rates(run)
    flows = run.summary["flows"]
    rtt_1, rtt_2 = (flow["rtt_mean_us"] for flow in flows)
    cuts = run.events.filter(
        (pl.col("kind") == "congestion") & (pl.col("time_ns") >= SKIPPED * _seconds(run) * NS_PER_S)
    )
    count_1, count_2 = (cuts.filter(pl.col("flow") == flow).height for flow in (0, 1))
    # Both synchronisation factors are counts over the same number of congestion events.
    return math.log(one / other * count_1 / count_2) / math.log(rtt_2 / rtt_1)


# Queues


def queue_packets(run: Run) -> float:
    """Mean number of packets waiting or being sent."""
    return _mean(_queue(run, SKIPPED * _seconds(run))["backlog_packets"])


def queue_delay_ms(run: Run) -> float:
    """Mean time that a packet would wait, from the bytes in the queue."""
    bytes_ = _mean(_queue(run, SKIPPED * _seconds(run))["backlog_bytes"])
    return 8000 * bytes_ / _rate_bps(run)


def queue_max_packets(from_s: float = 0.0) -> One:
    """Most packets at any sample after some time."""

    def measure(run: Run) -> float:
        found = _queue(run, from_s)["backlog_packets"]
        return float(np.max(found.to_numpy())) if found.len() else NOTHING

    return measure


def queue_swing_packets(from_s: float = 0.0) -> One:
    """Difference between most and fewest packets at any sample after some time."""

    def measure(run: Run) -> float:
        found = _queue(run, from_s)["backlog_packets"].to_numpy().astype(float)
        return float(np.ptp(found)) if found.size else NOTHING

    return measure


def internal(number: int, scale: float = 1.0) -> One:
    """Mean of a variable of the algorithm, of all flows that have it."""

    def measure(run: Run) -> float:
        samples = run.internals.filter(pl.col("time_ns") >= SKIPPED * _seconds(run) * NS_PER_S)
        return _mean(samples[f"info{number}"]) / scale

    return measure


def waiting_packets(run: Run) -> float:
    """Mean number of packets that wait, over all the run."""
    size = run.scenario["flows"][0]["packet_bytes"]
    return float(run.summary["queues"][0]["waiting_bytes_mean"] / size)


def burst_bytes(rate_bps: float) -> One:
    """Return by how much departures in any time exceed what a constant rate has in it."""

    def measure(run: Run) -> float:
        samples = _queue(run)
        sent = samples["departed_bytes"].to_numpy().astype(float)
        ahead = sent - rate_bps / 8 * samples["time_ns"].to_numpy().astype(float) / NS_PER_S
        return float((ahead - np.minimum.accumulate(ahead)).max()) if ahead.size else NOTHING

    return measure


def queue_count(column: str, queue: int = 0) -> One:
    """Return a counter of a queue's summary."""

    def measure(run: Run) -> float:
        return float(run.summary["queues"][queue][column])

    return measure


def marked(one: One) -> One:
    """Measure nothing unless the first queue has marked packets, which is what is looked at."""

    @wraps(one)
    def measure(run: Run) -> float:
        if not run.summary["queues"][0]["marked_packets"]:
            raise ValueError("no packet was marked")
        return one(run)

    return measure


def _mean(values: pl.Series) -> float:
    return float(values.to_numpy().mean()) if values.len() else NOTHING


# Losses


def lost_share(run: Run) -> float:
    """Share of the packets that were lost at random."""
    flow = run.summary["flows"][0]
    return float(flow["lost_packets"] / flow["sent_segs"]) if flow["sent_segs"] else NOTHING


def doubled_share(run: Run) -> float:
    """Share of the packets that arrived twice."""
    flow = run.summary["flows"][0]
    return float(flow["duplicated_packets"] / flow["sent_segs"]) if flow["sent_segs"] else NOTHING


def loss_burst(run: Run) -> float:
    """Mean number of successive packets that were lost together."""
    lost = np.sort(_events(run, "loss")["segment"].to_numpy().astype(np.int64))
    return float(lost.size / (1 + (np.diff(lost) > 1).sum())) if lost.size else NOTHING


# Messages


def latency_s(run: Run) -> float:
    """Mean time from the issue of a request or transfer to its completion."""
    return _mean(run.scan("requests").collect()["latency_ns"]) / NS_PER_S


def repair_s(run: Run) -> float:
    """Time from the first sending of the last segment to its retransmission.

    That is the time of the retransmission, as everything is sent in one flight at 0 s.
    """
    again = _events(run, "retransmit")["time_ns"]
    return float(again[0]) / NS_PER_S if again.len() else NOTHING


def sent_in_recovery(run: Run) -> float:
    """Segments sent from the first inferred loss to the end of its recovery."""
    begin, end = (_events(run, kind)["time_ns"] for kind in ("congestion", "recovered"))
    if not (begin.len() and end.len()):
        return NOTHING
    samples = run.flows.filter((pl.col("time_ns") >= begin[0]) & (pl.col("time_ns") < end[0]))
    return _grown(samples, "sent_segs")


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
    found = run.flows.filter(pl.col("ssthresh_segs") < 2**31 - 1)["ssthresh_segs"]
    return float(found[0]) if found.len() else NOTHING


def acks_per_segment(run: Run) -> float:
    """Packets on the way back per data packet that arrived."""
    arrived = run.summary["flows"][0]["received_packets"]
    return float(run.summary["queues"][1]["arrived_packets"] / arrived) if arrived else NOTHING


# The network as a whole


def unaccounted(run: Run) -> float:
    """Packets that were neither delivered, dropped, lost nor under way; by flow and by queue."""
    missing = 0
    for flow in run.summary["flows"]:
        ends = ("received_packets", "dropped_packets", "lost_packets", "in_flight_packets")
        sent = flow["sent_segs"] + flow["duplicated_packets"]
        missing += abs(sent - sum(flow[name] for name in ends))
    for queue in run.summary["queues"]:
        ends = ("departed_packets", "dropped_packets", "lost_packets", "backlog_packets")
        came = queue["arrived_packets"] + queue["duplicated_packets"]
        missing += abs(came - sum(queue[name] for name in ends))
    return float(missing)


def differences(runs: Sequence[Run]) -> float:
    """Tables and summaries in which the second half of the runs differs from the first."""
    half = len(runs) // 2
    pairs = zip(runs[:half], runs[half:], strict=True)
    return float(sum(_differences(one, other) for one, other in pairs))


def _differences(one: Run, other: Run) -> int:
    tables = ("flows", "queues", "events", "internals", "requests")
    unequal = sum(
        not one.scan(name).collect().equals(other.scan(name).collect()) for name in tables
    )
    return unequal + (one.summary != other.summary)
