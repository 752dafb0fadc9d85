"""Totals of a run, in words and numbers: flows, requests, queues, doubts, the testbed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from dumbbell.algorithms import catalogue
from dumbbell.base.units import NS_PER_S
from dumbbell.contract.summary import TestbedSummary
from dumbbell.engines import doubts as causes
from dumbbell.engines.result import Run
from dumbbell.plan.windows import Window
from dumbbell.quantities import losses
from dumbbell.quantities.counters import BEYOND
from dumbbell.quantities.delays import rtt_mean_ms
from dumbbell.quantities.latencies import latencies
from dumbbell.quantities.modes import mode_entries, mode_share
from dumbbell.quantities.rates import goodput_mbit_per_s, utilisation
from dumbbell.quantities.shown import Shown, number
from dumbbell.quantities.spans import Span
from dumbbell.quantities.subjects import Flow
from dumbbell.quantities.view import FlowsView, QueueView, RunView, known
from dumbbell.scenario import facts


@dataclass(frozen=True)
class Totals:
    """A table: `heads` begins with those of the `named` columns of words, numbers follow.

    With `intervals` each of these numbers is a mean with its interval. The `note` names the part of
    a run over which they are taken.
    """

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    named: int = 1
    intervals: bool = False
    note: str = ""

    def flat(self) -> tuple[list[str], list[list[str | float | None]]]:
        """Return heads and rows with bare numbers, and columns for the ends of intervals."""
        ends = ("", " low", " high") if self.intervals else ("",)
        numbers = [f"{head}{end}" for head in self.heads[self.named :] for end in ends]
        rows: list[list[str | float | None]] = []
        for row in self.rows:
            found: list[str | float | None] = [*row[: self.named]]
            for cell in row[self.named :]:
                known = cell.values if isinstance(cell, Shown) else (cell,)
                found += [*known, *[None] * (len(ends) - len(known))]
            rows.append(found)
        return [*self.heads[: self.named], *numbers], rows


def of_run(run: Run) -> Iterator[Totals]:
    """Yield the totals of a run, as far as there are any."""
    yield flows(run)
    asked = requests(run)
    if asked.rows:
        yield asked
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


def flows(run: Run) -> Totals:
    """Return what each flow of a run achieved; of those without samples, equal ones together."""
    heads = (
        "flow",
        "algorithm",
        "RTT (ms)",
        "start (s)",
        "end (s)",
        "goodput (Mbit/s)",
        "mean RTT (ms)",
        "lost (%)",
        "retransmitted (%)",
        "congestion events",
        "timeouts",
    )
    found = tuple(tuple(_flow(view)) for view in rows(view_of(run)))
    return Totals(heads, found, named=2, note="Goodput of each flow: from its start to its end.")


def goodputs(run: Run) -> list[dict[str, Any]]:
    """Return the goodput of each row of `flows` and the part of the run it is of, for JSON."""
    return [
        {
            "flow": name_of(view.flows),
            "goodput_mbit_per_s": goodput_mbit_per_s(view) if view.span.seconds > 0 else None,
            "from_s": view.span.start_ns / NS_PER_S,
            "to_s": view.span.end_ns / NS_PER_S,
        }
        for view in rows(view_of(run))
    ]


def view_of(run: Run) -> RunView:
    """Return a run as quantities read it, with the windows that every test has."""
    return RunView(run, {"main": Window()}, {})


def rows(run: RunView) -> list[FlowsView]:
    """Return the flows of each row, from their first start to their last end."""
    found: dict[object, list[Flow]] = {}
    for flow in run.flows:
        name = flow.label if flow.first.sampled else facts.family(flow.label)
        key = (name, flow.first.sampled, facts.choice(flow.first))
        found.setdefault(key, []).append(flow)
    return [_whole(run, members) for members in found.values()]


def _whole(run: RunView, flows: Sequence[Flow]) -> FlowsView:
    start_ns = min(flow.life.start_ns for flow in flows)
    end_ns = max(flow.life.end_ns for flow in flows)
    return FlowsView(run, tuple(flows), Span(start_ns, end_ns), whole=True)


def _flow(view: FlowsView) -> Iterator[str]:
    """Yield the cells of a row: of several flows the sums."""
    first = view.flows[0].first
    is_tcp = first.transport.tcp is not None
    gone = known([losses.dropped_share(view), losses.lost_share(view)])
    achieved = goodput_mbit_per_s(view) if view.span.seconds > 0 else None
    again = losses.retransmitted_share(view)
    yield name_of(view.flows)
    yield facts.choice(first)
    yield number(facts.base_rtt_ns(view.run.scenario, first) / 1e6)
    yield number(view.span.start_ns / NS_PER_S, 4)
    yield number(view.span.end_ns / NS_PER_S, 4)
    yield number(achieved, 4)
    yield number(rtt_mean_ms(view), 4)
    yield number(_percent(sum(gone) if gone else None))
    yield number(_percent(again) if is_tcp else None)
    yield str(sum(each.congestion_events for each in view.told)) if is_tcp else number(None)
    yield str(sum(each.timeouts for each in view.told)) if is_tcp else number(None)


def name_of(flows: Sequence[Flow]) -> str:
    """Name a flow with its connections, or a family of flows and their number."""
    label, connections = flows[0].label, len(flows[0].connections)
    if len(flows) > 1:
        return f"{facts.family(label)} × {len(flows)}"
    return f"{label} ({connections} connections)" if connections > 1 else label


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


_BEYOND: Final = (
    f"From the first start to the end of the run. A percentile needs {BEYOND} values beyond it: "
    f"50 % needs {2 * BEYOND}, 90 % {10 * BEYOND}, 99 % {100 * BEYOND:,}, "
    f"99.9 % {1000 * BEYOND:,}."
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
    }
    rows = []
    for row in latencies(run).iter_rows(named=True):
        name = row["flows"] if row["count"] == 1 else f"{row['flows']} × {row['count']}"
        cells = (row[key] for key in titles)
        told = (str(cell) if isinstance(cell, int) else number(cell, 4) for cell in cells)
        rows.append((name, *told))
    return Totals(("requests, transfers", *titles.values()), tuple(rows), note=_BEYOND)


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
                told = (number(entries), number(_percent(share)))
                rows.append((name_of(view.flows), mode, *told))
    return Totals(("mode of", "mode", "entered", "of the time (%)"), tuple(rows), named=2)


def _with_modes(run: RunView) -> list[FlowsView]:
    """Return the flows of built-in algorithms whose modes were recorded."""
    if not run.scenario.record.modes:
        return []
    sampled = [view for view in rows(run) if view.flows[0].is_sampled]
    own = run.scenario.sources
    return [view for view in sampled if facts.algorithm(view.flows[0].first) not in own]


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
    return Totals(heads, tuple(rows))


def _queue(view: QueueView) -> tuple[str, ...]:
    told, rate_bps = view.told, view.rate_bps
    return (
        told.name,
        "unlimited" if rate_bps is None else number(rate_bps / 1e6, 4),
        number(_percent(utilisation(view))),
        str(told.dropped_packets),
        str(told.lost_packets),
        str(told.marked_packets),
        number(told.waiting_bytes_mean / 1000),
        str(told.backlog_packets_max),
    )


def doubts(run: Run) -> Totals:
    """Return the causes, other than its algorithms, that may explain a run."""
    found = causes.of(run.scenario, run.summary)
    rows = tuple((causes.DECIDED_BY[doubt.cause], doubt.text) for doubt in found)
    return Totals(("doubtful: may be decided by", "because"), rows, named=2)


def testbed(told: TestbedSummary) -> Totals:
    """Return how the machine kept up with a run in real time."""
    return Totals(("testbed", ""), tuple(_kept_up(told)))


def _kept_up(told: TestbedSummary) -> Iterator[tuple[str, str]]:
    for name, time_ns in (
        ("packets too late, mean", told.lateness_mean_ns),
        ("packets too late, 99 %", told.lateness_p99_ns),
        ("packets too late, at most", told.lateness_max_ns),
        ("emulator delayed, at most", told.held_max_ns),
        ("applications delayed, at most", told.traffic_held_max_ns),
    ):
        yield name, f"{number(time_ns / 1000)} us"
    for name, share_permille in (
        ("emulator delayed", told.held_permille),
        ("applications delayed", told.traffic_held_permille),
        ("emulator busy", told.emulator_busy_permille),
        ("applications busy", told.traffic_busy_permille),
        ("flows waiting for applications", told.starved_permille),
        ("flows waiting for receivers' windows", told.window_limited_permille),
        ("time lost to others", told.stolen_permille),
    ):
        yield name, f"{number(share_permille / 10)} %"
    yield "packets lost on the way to the emulator", str(told.local_drops)
    if told.datagrams_sent_permille is not None:
        yield "datagrams sent", f"{number(told.datagrams_sent_permille / 10)} %"
    yield "kernel", told.kernel
    yield "not offered by it", ", ".join(told.not_offered) or "nothing"
    yield "valid", "no" if told.invalid else "yes"
