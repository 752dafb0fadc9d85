"""Achievements of the flows of a run: a table of all, and one of what datagrams took."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from dumbbell.base.units import NS_PER_S
from dumbbell.engines.result import Run
from dumbbell.quantities import datagrams as of_datagrams
from dumbbell.quantities import equal_flows, losses
from dumbbell.quantities.cells import Shown, Totals
from dumbbell.quantities.delays import rtt_mean_ms
from dumbbell.quantities.equal_flows import name_of
from dumbbell.quantities.rates import (
    goodput_life_fastest_mbit_per_s,
    goodput_life_slowest_mbit_per_s,
    goodput_mbit_per_s,
)
from dumbbell.quantities.shown import count, number, percent, percentile
from dumbbell.quantities.spans import Span
from dumbbell.quantities.subjects import Flow
from dumbbell.quantities.view import FlowsView, RunView, known, view_of
from dumbbell.scenario import facts

_APART: Final = ("least of a flow", "most of a flow")
"""Columns that a table has where a row is of several flows."""


def flows(run: Run, few: int = equal_flows.FEW) -> Totals:
    """Return what each flow of a run achieved, and more than `few` equal flows together."""
    views = rows(view_of(run), few)
    several = any(len(view.flows) > 1 for view in views)
    heads = (
        "flow",
        "algorithm",
        "RTT (ms)",
        "start (s)",
        "end (s)",
        "goodput (Mbit/s)",
        *(_APART if several else ()),
        "mean RTT (ms)",
        "lost (%)",
        "retransmitted (%)",
        "congestion events",
        "timeouts",
    )
    note = "Goodput of each flow: from its start to its end."
    if several:
        note += " Of several together: from their first start to their last end."
    if given := "; ".join(_given(views)):
        note += f" Parameters: {given}."
    return Totals(heads, tuple(tuple(_flow(view, several)) for view in views), named=2, note=note)


def _given(views: Sequence[FlowsView]) -> Iterator[str]:
    """Yield the parameters that a scenario sets, with the flows that have them."""
    names: dict[str, list[str]] = {}
    for view in views:
        tcps = (flow.first.transport.tcp for flow in view.flows)
        for values in dict.fromkeys(_listed(tcp.parameters) for tcp in tcps if tcp is not None):
            if values:
                names.setdefault(values, []).append(name_of(view.flows))
    for values, flows_with_them in names.items():
        yield f"{values} ({', '.join(flows_with_them)})"


def _listed(parameters: Mapping[str, int]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in parameters.items())


def goodputs(run: Run) -> list[dict[str, Any]]:
    """Return the goodput of each of `rows` and the part of the run it is of, for JSON."""
    return [
        {
            "flow": name_of(view.flows),
            "goodput_mbit_per_s": goodput_mbit_per_s(view) if view.span.seconds > 0 else None,
            "from_s": view.span.start_ns / NS_PER_S,
            "to_s": view.span.end_ns / NS_PER_S,
        }
        for view in rows(view_of(run))
    ]


def rows(run: RunView, few: float = math.inf) -> list[FlowsView]:
    """Return each flow from its start to its end, and the equal ones without samples together.

    More than `few` equal ones with samples are together, too, as tables show them.
    """
    shown = equal_flows.shown(run.scenario, run.flows, few)
    return [_whole(run, members) for members in shown]


def _whole(run: RunView, flows: Sequence[Flow]) -> FlowsView:
    start_ns = min(flow.life.start_ns for flow in flows)
    end_ns = max(flow.life.end_ns for flow in flows)
    return FlowsView(run, tuple(flows), Span(start_ns, end_ns), whole=True)


def _flow(view: FlowsView, several: bool) -> Iterator[str]:
    """Yield the cells of a row: of several flows the sums."""
    first = view.flows[0].first
    is_tcp = first.transport.tcp is not None
    gone = known([losses.dropped_share(view), losses.lost_share(view)])
    again = losses.retransmitted_share(view)
    yield name_of(view.flows)
    yield facts.choice(first)
    yield number(facts.base_rtt_ns(view.run.scenario, first) / 1e6)
    yield _seconds(view.span.start_ns)
    yield _seconds(view.span.end_ns)
    yield number(_goodput(view, goodput_mbit_per_s), 4)
    if several:
        of_one = (goodput_life_slowest_mbit_per_s, goodput_life_fastest_mbit_per_s)
        for take in of_one:
            yield number(_goodput(view, take) if len(view.flows) > 1 else None, 4)
    yield number(rtt_mean_ms(view), 4)
    yield number(percent(sum(gone) if gone else None))
    yield number(percent(again) if is_tcp else None)
    for name in ("congestion_events", "timeouts"):
        yield count(sum(getattr(summary, name) for summary in view.summaries) if is_tcp else None)


def _seconds(time_ns: int) -> Shown:
    """Show a time in seconds, never with a power of ten."""
    shown = number(time_ns / NS_PER_S, 4)
    return Shown(f"{Decimal(shown):f}", *shown.values) if "e" in shown else shown


def _goodput(view: FlowsView, take: Callable[[FlowsView], float | None]) -> float | None:
    return take(view) if view.span.seconds > 0 else None


def datagrams(run: Run, few: int = equal_flows.FEW) -> Totals:
    """Return what the datagrams of each flow took, and how many were lost."""
    heads = (
        "datagrams",
        "goodput (Mbit/s)",
        "one-way delay (ms)",
        "50 % (ms)",
        "99 % (ms)",
        "max (ms)",
        "jitter (ms)",
        "lost (%)",
    )
    views = (view for view in rows(view_of(run), few) if _sends_datagrams(view))
    note = (
        "One-way delay: from when a datagram leaves its host to when it reaches the other. Jitter: "
        "mean difference of two in a row (RFC 3393)."
    )
    return Totals(heads, tuple(tuple(_datagrams(view)) for view in views), note=note)


def _sends_datagrams(view: FlowsView) -> bool:
    return view.flows[0].is_datagrams


def _datagrams(view: FlowsView) -> Iterator[str]:
    arrived = sum(summary.received_packets for summary in view.summaries)
    # The delays of the whole run are exact in its summary. Those of a flow's life need samples.
    delays = FlowsView(view.run, view.flows, Span(0, view.run.scenario.duration_ns), whole=True)
    yield name_of(view.flows)
    yield number(_goodput(view, goodput_mbit_per_s), 4)
    yield number(of_datagrams.one_way_delay_mean_ms(delays), 4)
    yield percentile(of_datagrams.one_way_delay_p50_ms(delays), 500, arrived)
    yield percentile(of_datagrams.one_way_delay_p99_ms(delays), 990, arrived)
    yield number(of_datagrams.one_way_delay_max_ms(delays), 4)
    yield number(of_datagrams.jitter_ms(delays), 4)
    yield number(percent(of_datagrams.datagrams_lost_share(delays)))
