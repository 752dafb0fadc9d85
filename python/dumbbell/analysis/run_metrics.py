"""The metrics of a single run, those of Li, Leith and Shorten and what other studies add.

Rates count IP packets, as the paper's throughput does: a bottleneck of 250 Mbit/s carries at most
250 Mbit/s of throughput. Goodput counts payload that has arrived for the first time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from dumbbell.analysis import goodput_samples, performance
from dumbbell.analysis.convergence import convergence
from dumbbell.analysis.latency import families, percentiles, whole_transfers
from dumbbell.analysis.rtt_inflation import rtt_inflation
from dumbbell.analysis.window import Sampled, Window
from dumbbell.running.result import Run
from dumbbell.scenario import facts
from dumbbell.study.model import PlannedRun

Metrics = dict[str, float | None]


@dataclass(frozen=True)
class Metric:
    """What a metric is.

    One `per_flow` has a column for each flow that is sampled: ``goodput_mbit_1`` and so on; one
    `per_family` has a column for each family of equal flows that send requests or end.
    """

    name: str
    unit: str
    what: str
    per_flow: bool = False
    per_family: bool = False

    @property
    def column(self) -> str:
        """Its column in the table, the first one where there are several."""
        return f"{self.name}_1" if self.per_flow or self.per_family else self.name


METRICS = (
    Metric("throughput_mbit", "Mbit/s", "IP packets sent, with retransmissions", True),
    Metric("goodput_mbit", "Mbit/s", "payload that arrived for the first time", True),
    Metric("throughput_mbit", "Mbit/s", "throughput of all sampled flows"),
    Metric("goodput_mbit", "Mbit/s", "goodput of all sampled flows"),
    Metric("utilisation", "", "share of the bottleneck's rate that left it"),
    Metric("ratio_12", "", "throughput of flow 1 / flow 2"),
    Metric("ratio_21", "", "throughput of flow 2 / flow 1"),
    Metric("ratio_min_max", "", "smaller / larger throughput of two flows"),
    Metric("ratio_final", "", "the same over the last fifth of the window"),
    Metric("share", "", "share of the throughput of all sampled flows", True),
    Metric("jain", "", "Jain's fairness index of the throughputs"),
    Metric("loss_overhead", "", "retransmitted / sent segments over the last half of the window"),
    Metric("convergence_own_s", "s", "until 80 % of its own average throughput"),
    Metric("convergence_fairness_s", "s", "until 80 % of the other flow's throughput"),
    Metric("converged_fairness", "", "1 if it reached 80 % of the other's throughput, else 0"),
    Metric("convergence_bound_s", "s", "the same time; the window's length if it did not"),
    Metric("diverged", "", "1 if the flows became unfair again after that, else 0"),
    Metric("sync", "", "share of the congestion events at which the flow backed off", True),
    Metric("congestion_per_s", "1/s", "congestion events of the bottleneck per second"),
    Metric("rtt_mean_ms", "ms", "mean round-trip time with queueing, over the whole run", True),
    Metric("rtt_inflation", "", "mean round-trip time / that of the empty path, over the flows"),
    Metric("cwnd_mean", "segments", "mean congestion window", True),
    Metric("cwnd_variation", "", "standard deviation / mean of the congestion window", True),
    Metric("queue_mean", "packets", "mean backlog of the bottleneck, over the whole run"),
    Metric("queue_max", "packets", "largest backlog of the bottleneck"),
    Metric("drops", "packets", "packets dropped at the bottleneck's queue"),
    Metric("marks", "packets", "packets marked by the bottleneck's queue (ECN)"),
    Metric("timeouts", "", "retransmission timeouts of all flows"),
    *(Metric(*described) for described in goodput_samples.DESCRIBED),
    *(Metric(*described) for described in performance.DESCRIBED),
    *(
        Metric(name, unit, what, per_family=True)
        for name, unit, what in (
            ("requests_per_s", "1/s", "requests or transfers that began and ended in the window"),
            ("latency_mean_ms", "ms", "their mean latency, from issue to the last byte's reply"),
            ("latency_p50_ms", "ms", "their median latency, by nearest rank"),
            ("latency_p90_ms", "ms", "90 % of them took no longer; of 100 at least"),
            ("latency_p99_ms", "ms", "99 % of them took no longer; of 1000 at least"),
            ("latency_p999_ms", "ms", "99.9 % of them took no longer; of 10 000 at least"),
            ("latency_max_ms", "ms", "the longest of them"),
        )
    ),
)


def run_metrics(run: Run, planned: PlannedRun) -> Metrics:
    """Return all metrics of one run; None where a metric has no value."""
    sampled = Sampled(run, planned.measure)
    result: Metrics = {}
    result.update(_rates(sampled))
    result.update(_ratios(sampled))
    result.update(_overhead(sampled))
    result.update(_convergence(sampled, planned))
    result.update(_synchronisation(sampled))
    result.update(_windows(sampled))
    result.update(_whole_run(sampled))
    result.update(rtt_inflation(sampled))
    result.update(_latencies(sampled))
    result.update(goodput_samples.of_run(sampled, planned.samples))
    result.update(performance.of_run(sampled, result["jain"]))
    return result


def _numbered(name: str, values: list[float | None]) -> Iterator[tuple[str, float | None]]:
    for number, value in enumerate(values, start=1):
        yield f"{name}_{number}", value


def _ratio(numerator: float | None, denominator: float | None) -> float | None:
    if numerator is None or not denominator:
        return None
    return numerator / denominator


def _sum(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _throughputs(sampled: Sampled, window: Window | None) -> list[float | None]:
    """Return each flow's throughput in Mbit/s."""
    if window is None:
        return [None] * len(sampled.flows)
    return [
        None
        if counters is None
        else (
            counters.between("sent_bytes", window.start_ns, window.end_ns)
            + counters.between("sent_segs", window.start_ns, window.end_ns) * flow["header_bytes"]
        )
        * (8 / 1e6 / window.seconds)
        for counters, flow in zip(sampled.flow_counters, sampled.flows, strict=True)
    ]


def _goodputs(sampled: Sampled, window: Window | None) -> list[float | None]:
    if window is None:
        return [None] * len(sampled.flows)
    return [
        None
        if counters is None
        else counters.between("received_bytes", window.start_ns, window.end_ns)
        * (8 / 1e6 / window.seconds)
        for counters in sampled.flow_counters
    ]


def _rates(sampled: Sampled) -> Iterator[tuple[str, float | None]]:
    window = sampled.window
    for name, values in (
        ("throughput_mbit", _throughputs(sampled, window)),
        ("goodput_mbit", _goodputs(sampled, window)),
    ):
        yield name, _sum(values)
        yield from _numbered(name, values)
    utilisation = None
    if window is not None:
        departed = sampled.bottleneck.between("departed_bytes", window.start_ns, window.end_ns)
        rate_bps = facts.bottleneck_rate_bps(sampled.scenario, window.start_ns, window.end_ns)
        utilisation = _ratio(8 * departed / window.seconds, rate_bps)
    yield "utilisation", utilisation


def _ratios(sampled: Sampled) -> Iterator[tuple[str, float | None]]:
    rates = _throughputs(sampled, sampled.window)
    total = _sum(rates)
    yield from _numbered("share", [_ratio(rate, total) for rate in rates])
    squares = _sum([None if rate is None else rate**2 for rate in rates])
    known = sum(rate is not None for rate in rates)
    yield "jain", _ratio(None if total is None else total**2, (squares or 0) * known)
    final = _throughputs(sampled, sampled.final)
    pair = rates if len(rates) == 2 else [None, None]
    yield "ratio_12", _ratio(pair[0], pair[1])
    yield "ratio_21", _ratio(pair[1], pair[0])
    yield "ratio_min_max", _min_max(rates)
    yield "ratio_final", _min_max(final)


def _min_max(rates: list[float | None]) -> float | None:
    known = [rate for rate in rates if rate is not None]
    return _ratio(min(known), max(known)) if len(known) == len(rates) == 2 else None


def _overhead(sampled: Sampled) -> Iterator[tuple[str, float | None]]:
    """Yield the intrinsic loss of congestion control, without that of slow start.

    Where losses are rare, one overshoot of slow start would outweigh an hour of them.
    """
    window = sampled.settled
    overhead = None
    if window is not None:
        sent, again = (
            sum(c.between(name, window.start_ns, window.end_ns) for c in sampled.flow_counters if c)
            for name in ("sent_segs", "retransmitted_segs")
        )
        overhead = _ratio(again, sent)
    yield "loss_overhead", overhead


def _convergence(sampled: Sampled, planned: PlannedRun) -> Iterator[tuple[str, float | None]]:
    found = convergence(sampled, planned.convergence)
    window = sampled.window
    if found is None or window is None:
        for name in ("own_s", "fairness_s", "bound_s"):
            yield f"convergence_{name}", None
        yield "converged_fairness", None
        yield "diverged", None
        return
    yield "convergence_own_s", found.own_s
    yield "convergence_fairness_s", found.fairness_s
    bound = window.seconds if found.fairness_s is None else found.fairness_s
    yield "convergence_bound_s", bound
    yield "converged_fairness", float(found.fairness_s is not None)
    yield "diverged", float(found.diverged)


def _synchronisation(sampled: Sampled) -> Iterator[tuple[str, float | None]]:
    """Gather the flows' window reductions into congestion events of the network.

    Reductions belong to one event if they follow one another within a round-trip time.
    """
    window = sampled.window
    count = len(sampled.flows)
    if window is None or "congestion" not in sampled.scenario["record"]["events"]:
        yield from _numbered("sync", [None] * count)
        yield "congestion_per_s", None
        return
    cuts = (
        sampled.run.scan("events")
        .filter(
            (pl.col("kind") == "congestion")
            & pl.col("time_ns").is_between(window.start_ns, window.end_ns)
        )
        .select(pl.col("time_ns").cast(pl.Int64), "flow")
        .sort("time_ns")
        .collect()
    )
    rtts_us = [told["rtt_mean_us"] or 0 for told in sampled.run.summary["flows"]]
    gaps_ns = np.diff(cuts["time_ns"].to_numpy(), prepend=0)
    events = np.cumsum(gaps_ns > 1000 * max(rtts_us))
    total = len(np.unique(events))
    flows = cuts["flow"].to_numpy()
    backed_off = [
        float(len(np.unique(events[np.isin(flows, numbers)]))) for numbers in sampled.connections
    ]
    yield from _numbered("sync", [_ratio(number, total) for number in backed_off])
    yield "congestion_per_s", total / window.seconds


def _windows(sampled: Sampled) -> Iterator[tuple[str, float | None]]:
    window = sampled.window
    means: list[float | None] = [None] * len(sampled.flows)
    variations = list(means)
    if window is not None:
        for index, counters in enumerate(sampled.flow_counters):
            if counters is None:
                continue
            values = counters.samples("cwnd_segs", window.start_ns, window.end_ns)
            means[index] = float(values.mean()) if values.size else None
            variations[index] = _ratio(float(values.std()), means[index]) if values.size else None
    yield from _numbered("cwnd_mean", means)
    yield from _numbered("cwnd_variation", variations)


def _whole_run(sampled: Sampled) -> Iterator[tuple[str, float | None]]:
    """Yield what the run's summary has counted."""
    summary = sampled.run.summary
    rtts_us = [
        [us for n in numbers if (us := summary["flows"][n]["rtt_mean_us"]) is not None]
        for numbers in sampled.connections
    ]
    means_us = [float(np.mean(each)) if each else None for each in rtts_us]
    yield from _numbered("rtt_mean_ms", [None if us is None else us / 1000 for us in means_us])
    number = facts.bottleneck(sampled.scenario)
    queue = {} if number is None else summary["queues"][number]
    packet_bytes = max(flow["packet_bytes"] for flow in sampled.scenario["flows"])
    yield "queue_mean", _ratio(queue.get("waiting_bytes_mean"), packet_bytes)
    yield "queue_max", queue.get("backlog_packets_max")
    yield "drops", queue.get("dropped_packets")
    yield "marks", queue.get("marked_packets")
    yield "timeouts", float(sum(flow["timeouts"] for flow in summary["flows"]))


def _latencies(sampled: Sampled) -> Iterator[tuple[str, float | None]]:
    """Yield the latencies of what began and ended in the window, by families in their order."""
    window = sampled.window
    done = None
    if window is not None:
        begun = pl.col("time_ns").cast(pl.Int64)
        ended = begun + pl.col("latency_ns").cast(pl.Int64)
        inside = (begun >= window.start_ns) & (ended <= window.end_ns)
        done = whole_transfers(sampled.run.scan("requests").collect(), sampled.scenario)
        done = done.filter(inside).select("flow", "latency_ns")
    for number, members in enumerate(families(sampled.scenario), start=1):
        if window is None or done is None:
            own = pl.Series(dtype=pl.UInt64)
            per_s = None
        else:
            own = done.filter(pl.col("flow").is_in(members))["latency_ns"]
            per_s = own.len() / window.seconds
        yield f"requests_per_s_{number}", per_s
        for name, value in percentiles(own).items():
            yield f"latency_{name}_{number}", value
