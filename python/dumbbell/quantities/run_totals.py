"""Totals of a run, in words and numbers: flows, requests, queues, doubts, the testbed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dumbbell.algorithms import catalogue
from dumbbell.base.units import NS_PER_S
from dumbbell.contract.scenario import RateConfig, Scenario, TraceConfig
from dumbbell.contract.summary import TestbedSummary
from dumbbell.engines import doubts as causes
from dumbbell.engines.result import Run
from dumbbell.quantities import flow_totals, request_totals, totals
from dumbbell.quantities.cells import Totals
from dumbbell.quantities.equal_flows import FEW, name_of
from dumbbell.quantities.flow_totals import rows
from dumbbell.quantities.modes import mode_entries, mode_share
from dumbbell.quantities.rates import utilisation
from dumbbell.quantities.shown import count, number, percent
from dumbbell.quantities.spans import Span
from dumbbell.quantities.view import FlowsView, QueueView, RunView, view_of
from dumbbell.scenario import facts


def path(run: Run) -> str:
    """Say on what a run is: rate and round-trip times of its bottleneck's path, length, stacks."""
    scenario = run.scenario
    rtts = sorted({facts.base_rtt_ns(scenario, flow) / 1e6 for flow in scenario.flows})
    ends = " to ".join(number(rtt, 4) for rtt in dict.fromkeys((rtts[0], rtts[-1]))) if rtts else ""
    stacks = dict.fromkeys(stack.profile for stack in facts.stacks(scenario))
    length = f"{number(scenario.duration_ns / NS_PER_S, 4)} s"
    return ", ".join(
        filter(None, (_rate(scenario), f"RTT {ends} ms" if ends else "", length, *stacks))
    )


def _rate(scenario: Scenario) -> str:
    """Say the rate of the bottleneck: of one that changes both ends, of a trace the mean."""
    mean_bps, place = facts.bottleneck_rate_bps(scenario), facts.bottleneck(scenario)
    if mean_bps is None or place is None:
        return ""
    match facts.sampled_links(scenario)[place].rate:
        case RateConfig(steps=tuple(steps)):
            rates = [rate_bps for at_ns, rate_bps in steps if at_ns < scenario.duration_ns]
            ends = dict.fromkeys((min(rates), max(rates)))
            return f"{' to '.join(number(rate_bps / 1e6, 4) for rate_bps in ends)} Mbit/s"
        case RateConfig(trace=TraceConfig()):
            return f"{number(mean_bps / 1e6, 4)} Mbit/s in the mean"
    return f"{number(mean_bps / 1e6, 4)} Mbit/s"


def of_run(run: Run) -> Iterator[Totals]:
    """Yield the totals of a run, as far as there are any."""
    yield from _of_traffic(run)
    changed = modes(run)
    if changed.rows:
        yield changed
    if run.summary.queues:
        yield queues(run)
    doubtful = doubts(run)
    if doubtful.rows:
        yield doubtful
    if run.summary.testbed is not None:
        yield testbed(run.summary.testbed)


def of_runs(runs: Sequence[Run]) -> Iterator[Totals]:
    """Yield the totals of a run, or the means of several with other seeds."""
    yield from of_run(runs[0]) if len(runs) == 1 else of_traffic(runs)


def of_traffic(runs: Sequence[Run], few: int = FEW) -> Iterator[Totals]:
    """Yield the tables of flows, of what they took, and of queues: means if there are several.

    More than `few` equal flows are one row.
    """
    by_head: dict[str, list[Totals]] = {}
    for run in runs:
        for table in (*_of_traffic(run, few), queues(run)):
            by_head.setdefault(table.heads[0], []).append(table)
    for tables in by_head.values():
        yield totals.mean(tables) if len(runs) > 1 else tables[0]


def _of_traffic(run: Run, few: int = FEW) -> Iterator[Totals]:
    """Yield what flows achieved, and what datagrams, requests and transfers took."""
    yield flow_totals.flows(run, few)
    for table in (
        flow_totals.datagrams(run, few),
        request_totals.requests(run),
        request_totals.by_size(run),
        request_totals.responsiveness(run),
    ):
        if table.rows:
            yield table


def modes(run: Run) -> Totals:
    """Return how often algorithms entered each of their modes, and how long they were in it.

    A user's own algorithms are left out: what names their modes is code, which nobody runs who only
    reads a stored run.
    """
    rows = []
    for view in _with_modes(view_of(run)):
        for mode in catalogue.algorithm(facts.algorithm(view.flows[0].first)).modes:
            entries, share = mode_entries(view, mode), mode_share(view, mode)
            if entries is not None:
                cells = (number(entries), number(percent(share)))
                rows.append((name_of(view.flows), mode, *cells))
    return Totals(("mode of", "mode", "entered", "of the time (%)"), tuple(rows), named=2)


def _with_modes(run: RunView) -> list[FlowsView]:
    """Return the flows of built-in algorithms whose modes were recorded."""
    if not run.scenario.record.modes:
        return []
    sampled = [view for view in rows(run) if view.flows[0].is_sampled]
    user_defined = run.scenario.sources
    return [view for view in sampled if facts.algorithm(view.flows[0].first) not in user_defined]


def queues(run: Run) -> Totals:
    """Return what happened at each sampled link."""
    heads = (
        "queue",
        "rate (Mbit/s)",
        "used (%)",
        "dropped",
        "lost",
        "marked",
        "mean backlog (kB)",
        "max backlog (packets)",
    )
    view, everything = view_of(run), Span(0, run.summary.duration_ns)
    rows = (
        _queue(QueueView(view, number, everything, whole=True))
        for number in range(len(run.summary.queues))
    )
    return Totals(heads, tuple(rows), note="Queues: over the whole run.")


def _queue(view: QueueView) -> tuple[str, ...]:
    summary, rate_bps = view.summary, view.rate_bps
    return (
        summary.name,
        "unlimited" if rate_bps is None else number(rate_bps / 1e6, 4),
        number(percent(utilisation(view))),
        count(summary.dropped_packets),
        count(summary.lost_packets),
        count(summary.marked_packets),
        number(summary.waiting_bytes_mean / 1000),
        count(summary.backlog_packets_max),
    )


def doubts(run: Run) -> Totals:
    """Return the causes, other than its algorithms, that may explain a run."""
    causes_of_run = causes.of(run.scenario, run.summary)
    rows = tuple((causes.DECIDED_BY[doubt.cause], doubt.text) for doubt in causes_of_run)
    return Totals(("doubtful: may be decided by", "because"), rows, named=2)


def testbed(summary: TestbedSummary) -> Totals:
    """Return how the machine kept up with a run in real time."""
    return Totals(("testbed", ""), tuple(_kept_up(summary)))


def _kept_up(summary: TestbedSummary) -> Iterator[tuple[str, str]]:
    for name, time_ns in (
        ("packets too late, mean", summary.lateness_mean_ns),
        ("packets too late, 99 %", summary.lateness_p99_ns),
        ("packets too late, at most", summary.lateness_max_ns),
        ("emulator delayed, at most", summary.held_max_ns),
        ("applications delayed, at most", summary.traffic_held_max_ns),
    ):
        yield name, f"{number(time_ns / 1000)} us"
    for name, share_permille in (
        ("emulator delayed", summary.held_permille),
        ("applications delayed", summary.traffic_held_permille),
        ("emulator busy", summary.emulator_busy_permille),
        ("applications busy", summary.traffic_busy_permille),
        ("flows waiting for applications", summary.starved_permille),
        ("flows waiting for receivers' windows", summary.window_limited_permille),
        ("time lost to others", summary.stolen_permille),
    ):
        yield name, f"{number(share_permille / 10)} %"
    yield "packets lost on the way to the emulator", str(summary.local_drops)
    if summary.datagrams_sent_permille is not None:
        yield "datagrams sent", f"{number(summary.datagrams_sent_permille / 10)} %"
    yield "kernel", summary.kernel
    yield "not offered by it", ", ".join(summary.not_offered) or "nothing"
    yield "valid", "no" if summary.invalid else "yes"
