"""The modes of algorithms, if they are recorded (`record.modes`).

A row of the table `modes` shows that a connection has entered a mode. The connection stays in it
until the next row, or until it stops or its transfer is complete. On the testbed, samples show the
mode, so times are only as exact as the interval of samples. A mode that begins and ends between two
samples is missed.
"""

from __future__ import annotations

import numpy as np

from dumbbell.algorithms.catalogue import NO_OWN_ALGORITHMS, OwnAlgorithms, algorithms
from dumbbell.quantities.counters import Counters
from dumbbell.quantities.registry import MODES, of_flows
from dumbbell.quantities.spans import Span
from dumbbell.quantities.subjects import Flow
from dumbbell.quantities.view import FlowsView, known
from dumbbell.scenario import facts


def named(own_algorithms: OwnAlgorithms = NO_OWN_ALGORITHMS) -> tuple[str, ...]:
    """Return the names of the modes that algorithms have; `own_algorithms` are further ones."""
    algorithms_known = [*algorithms().values(), *own_algorithms.values()]
    return tuple(sorted({mode for algorithm in algorithms_known for mode in algorithm.modes}))


@of_flows("share of the time in a mode", percent=True, takes="mode", arguments=named, needs=MODES)
def mode_share(view: FlowsView, mode: str) -> float | None:
    """Share of a flow's time in which its algorithm is in a mode (`mode_share:drain`); their mean.

    Connections whose algorithm has no such mode do not count.
    """
    shares = known([_share(*rows_of_connection) for rows_of_connection in _changes(view, mode)])
    return float(np.mean(shares)) if shares else None


@of_flows("entries into a mode", takes="mode", arguments=named, needs=MODES)
def mode_entries(view: FlowsView, mode: str) -> float | None:
    """Entries of the flows' algorithm into a mode (`mode_entries:probe_rtt`).

    Entries of several flows are added up. A connection's start is an entry into its first mode.
    Connections whose algorithm has no such mode do not count.
    """
    entries = [_entries(*rows_of_connection) for rows_of_connection in _changes(view, mode)]
    return float(sum(entries)) if entries else None


def _changes(view: FlowsView, mode: str) -> list[tuple[Counters, int, Span]]:
    """Return the rows of each connection that may be in a mode, its number, and when it is on."""
    scenario = view.run.scenario
    if not scenario.record.modes:
        return []
    rows = view.run.samples("modes", ("mode",))
    changes = []
    for flow, connection in _connections(view):
        tcp = scenario.flows[connection].transport.tcp
        number = None if tcp is None else facts.mode_number(scenario, tcp.algorithm, mode)
        on = flow.life.inside(view.span)
        if number is not None and on is not None and connection in rows:
            changes.append((rows[connection], number, on))
    return changes


def _connections(view: FlowsView) -> list[tuple[Flow, int]]:
    return [(flow, connection) for flow in view.flows for connection in flow.connections]


def _share(rows: Counters, number: int, on: Span) -> float | None:
    """Return the share of a span in a mode; None where nothing is known of any mode in it."""
    ends_ns = np.append(rows.time_ns[1:], on.end_ns)
    lengths_ns = np.minimum(ends_ns, on.end_ns) - np.maximum(rows.time_ns, on.start_ns)
    lengths_ns = np.maximum(lengths_ns, 0)
    if not lengths_ns.any():
        return None
    return float(lengths_ns[rows.columns["mode"] == number].sum() / lengths_ns.sum())


def _entries(rows: Counters, number: int, on: Span) -> int:
    inside = (rows.time_ns >= on.start_ns) & (rows.time_ns <= on.end_ns)
    return int((inside & (rows.columns["mode"] == number)).sum())
