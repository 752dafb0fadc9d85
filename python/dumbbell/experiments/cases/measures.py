"""Measures of cases: states, estimates, windows, losses.

Each measure is one function of a trace and of a check, which has its parameters. It returns a
number, or a state by its name. `UnknownError` means that the run cannot say.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from dumbbell.base.units import NS_PER_S, parse_time
from dumbbell.experiments.cases.suite import Check
from dumbbell.experiments.cases.trace import Trace, UnknownError, Visit

Measure = Callable[[Trace, Check], float | str]

MEASURES: Final[dict[str, Measure]] = {}
"""Name -> measure."""

_LEFT: Final = 0.85
"""Share of `inflight_longterm` that headroom leaves (draft: 0.15)."""

NEVER: Final = "none"
"""State after one that lasts to the end of the run."""


def _measure(function: Measure) -> Measure:
    MEASURES[function.__name__] = function
    return function


def _since_ns(trace: Trace, check: Check) -> int:
    if check.since == "start":
        return 0
    if trace.change_ns is None:
        raise UnknownError("the change did not happen")
    return trace.change_ns


def _visit(trace: Trace, check: Check) -> Visit:
    return trace.visit(check.state, check.nth, _since_ns(trace, check))


def _time_ns(trace: Trace, check: Check) -> int:
    """Return the time that a check means: an end of a visit."""
    visit = _visit(trace, check)
    if check.end == "entered":
        return visit.entered_ns
    if visit.left_ns is None:
        raise UnknownError(f"it does not leave {check.state}")
    return visit.left_ns


def _span_ns(trace: Trace, check: Check) -> tuple[int, int]:
    """Return the span of time that a check means."""
    start_ns = _since_ns(trace, check) + parse_time(check.begin)
    return start_ns, min(trace.end_ns, start_ns + parse_time(check.span))


@_measure
def next_state(trace: Trace, check: Check) -> str:
    """Return the state after a visit."""
    after = trace.after(_visit(trace, check))
    return NEVER if after is None else after.state


@_measure
def state_at(trace: Trace, check: Check) -> str:
    """Return the state at the beginning of a span."""
    start_ns, _ = _span_ns(trace, check)
    return [visit for visit in trace.visits if visit.entered_ns <= start_ns][-1].state


@_measure
def others_entered(trace: Trace, check: Check) -> float:
    """Return the number of entries into states that are not `among` some, in a span."""
    start_ns, end_ns = _span_ns(trace, check)
    return float(
        sum(
            start_ns < visit.entered_ns <= end_ns and visit.state not in check.among
            for visit in trace.visits
        )
    )


@_measure
def entries(trace: Trace, check: Check) -> float:
    """Return the number of entries into a state, in a span."""
    start_ns, end_ns = _span_ns(trace, check)
    if check.state not in trace.reported.has:
        raise UnknownError(f"it has no state {check.state}")
    visits = (visit for visit in trace.visits if visit.state == check.state)
    return float(sum(start_ns <= visit.entered_ns <= end_ns for visit in visits))


@_measure
def seconds(trace: Trace, check: Check) -> float:
    """Return the length of a visit; to the end of the run if it does not end."""
    visit = _visit(trace, check)
    return ((visit.left_ns or trace.end_ns) - visit.entered_ns) / NS_PER_S


@_measure
def rounds(trace: Trace, check: Check) -> float:
    """Return the round trips of a visit; to the end of the run if it does not end."""
    visit = _visit(trace, check)
    return trace.rounds(visit.entered_ns, visit.left_ns or trace.end_ns)


@_measure
def rounds_until(trace: Trace, check: Check) -> float:
    """Return the round trips from the beginning of a span to an end of a visit."""
    start_ns, _ = _span_ns(trace, check)
    return trace.rounds(start_ns, _time_ns(trace, check))


@_measure
def plateau(trace: Trace, check: Check) -> float:
    """Return the round trips since the estimate was a quarter below that at the end of a visit."""
    visit = _visit(trace, check)
    end_ns = _time_ns(trace, check)
    grown = trace.value("bw", end_ns) / 1.25
    inside = (trace.internals.time_ns >= visit.entered_ns) & (trace.internals.time_ns <= end_ns)
    times_ns = trace.internals.time_ns[inside]
    below = times_ns[trace.values("bw", visit.entered_ns, end_ns) < grown]
    return trace.rounds(int(below[-1]) if below.size else visit.entered_ns, end_ns)


@_measure
def value(trace: Trace, check: Check) -> float:
    """Return a variable at an end of a visit."""
    return trace.value(check.variable, _time_ns(trace, check))


@_measure
def share_of_link(trace: Trace, check: Check) -> float:
    """Return an estimate at an end of a visit, as a share of what the link passes."""
    time_ns = _time_ns(trace, check)
    return trace.value(check.variable, time_ns) / trace.payload_bps(time_ns)


@_measure
def share_of_itself(trace: Trace, check: Check) -> float:
    """Return a variable at the end of a visit, as a share of what it was on entry."""
    visit = _visit(trace, check)
    before = trace.value(check.variable, visit.entered_ns)
    if not before:
        raise UnknownError(f"{check.variable} had no value when {check.state} began")
    return trace.value(check.variable, _time_ns(trace, check)) / before


@_measure
def flight(trace: Trace, check: Check) -> float:
    """Return the data in flight at an end of a visit, as a share of the estimated BDP.

    Of the samples before and after that moment the lower one counts.
    """
    time_ns = _time_ns(trace, check)
    bdp = trace.bdp_segs(time_ns)
    around = trace.of_flow("in_flight_segs", time_ns - trace.step_ns, time_ns + trace.step_ns)
    return float(around.min()) / bdp


@_measure
def lowest_flight(trace: Trace, check: Check) -> float:
    """Return the least data in flight in a visit, as a share of the BDP estimated on entry."""
    visit = _visit(trace, check)
    end_ns = visit.left_ns or trace.end_ns
    flights = trace.of_flow("in_flight_segs", visit.entered_ns, end_ns)
    return float(flights.min()) / trace.bdp_segs(visit.entered_ns)


@_measure
def flight_to_headroom(trace: Trace, check: Check) -> float:
    """Return the data in flight at an end of a visit, as a share of what headroom leaves."""
    time_ns = _time_ns(trace, check)
    bound = trace.value("inflight_longterm", time_ns)
    if not bound:
        return 0.0
    around = trace.of_flow("in_flight_segs", time_ns - trace.step_ns, time_ns + trace.step_ns)
    return float(around.min()) / (_LEFT * bound)


@_measure
def bound(trace: Trace, check: Check) -> float:
    """Return `inflight_longterm` at an end of a visit, as a share of the estimated BDP."""
    time_ns = _time_ns(trace, check)
    return trace.value("inflight_longterm", time_ns) / trace.bdp_segs(time_ns)


@_measure
def window(trace: Trace, check: Check) -> float:
    """Return the smallest window in a visit, as a share of the BDP by the estimates before it."""
    visit = _visit(trace, check)
    end_ns = _time_ns(trace, check)
    before = trace.bdp_segs_sampled(visit.entered_ns - trace.step_ns)
    return float(trace.of_flow("cwnd_segs", visit.entered_ns, end_ns).min()) / before


@_measure
def window_reach(trace: Trace, check: Check) -> float:
    """Return the largest window up to an end of a visit, as a share of the BDP estimated then."""
    time_ns = _time_ns(trace, check)
    return float(trace.of_flow("cwnd_segs", 0, time_ns).max()) / trace.bdp_segs(time_ns)


@_measure
def window_room(trace: Trace, check: Check) -> float:
    """Return the median window in a visit, as a share of BDP and `extra_acked` at its end."""
    visit = _visit(trace, check)
    end_ns = _time_ns(trace, check)
    extra = trace.value("extra_acked", end_ns)
    windows = trace.of_flow("cwnd_segs", visit.entered_ns, end_ns)
    return float(np.median(windows)) / (trace.bdp_segs(end_ns) + extra)


@_measure
def smallest_window(trace: Trace, check: Check) -> float:
    """Return the smallest window in a span."""
    return float(trace.of_flow("cwnd_segs", *_span_ns(trace, check)).min())


@_measure
def extra(trace: Trace, check: Check) -> float:
    """Return `extra_acked` at an end of a visit, as a share of what a batch of `span` brings."""
    time_ns = _time_ns(trace, check)
    batch = trace.payload_bps(time_ns) * parse_time(check.span) / NS_PER_S
    return trace.value("extra_acked", time_ns) * 8 * trace.payload_bytes / batch


@_measure
def utilisation(trace: Trace, check: Check) -> float:
    """Return the goodput in a span, as a share of what the link passes."""
    start_ns, end_ns = _span_ns(trace, check)
    bits = 8 * trace.flow.between("received_bytes", start_ns, end_ns)
    return bits / (trace.payload_bps(start_ns) * (end_ns - start_ns) / NS_PER_S)


@_measure
def pacing(trace: Trace, check: Check) -> float:
    """Return the median rate of pacing in a span, as a share of what the link passes."""
    start_ns, end_ns = _span_ns(trace, check)
    rates = trace.of_flow("pacing_rate_bytes_per_s", start_ns, end_ns)
    return 8 * float(np.median(rates)) / trace.payload_bps(start_ns)


@_measure
def retransmitted(trace: Trace, check: Check) -> float:
    """Return the share of segments that are sent again in a span."""
    start_ns, end_ns = _span_ns(trace, check)
    sent = trace.flow.between("sent_segs", start_ns, end_ns)
    if not sent:
        raise UnknownError("it sent nothing")
    return trace.flow.between("retransmitted_segs", start_ns, end_ns) / sent


@_measure
def losses(trace: Trace, check: Check) -> float:
    """Return the number of packets lost in a visit."""
    visit = _visit(trace, check)
    times_ns = trace.events("drop", "loss")["time_ns"]
    end_ns = visit.left_ns or trace.end_ns
    return float(times_ns.is_between(visit.entered_ns, end_ns).sum())


@_measure
def probing_rounds(trace: Trace, check: Check) -> float:
    """Return the round trips in a state, since a time, until the estimate is high enough."""
    start_ns = _since_ns(trace, check)
    wanted = check.share * trace.payload_bps(start_ns)
    inside = trace.internals.time_ns >= start_ns
    values = trace.values("bw", start_ns, trace.end_ns)
    reached = np.flatnonzero(values >= wanted)
    if not reached.size:
        raise UnknownError(
            f"its estimate reaches {values.max() / trace.payload_bps(start_ns):.0%} of the link's "
            "rate"
        )
    end_ns = int(trace.internals.time_ns[inside][reached[0]])
    visits = [
        visit
        for visit in trace.visits
        if visit.state == check.state and visit.entered_ns >= start_ns
    ]
    return float(
        sum(
            trace.rounds(visit.entered_ns, min(visit.left_ns or end_ns, end_ns))
            for visit in visits
            if visit.entered_ns < end_ns
        )
    )


@_measure
def step_growth(trace: Trace, check: Check) -> float:
    """Return by which factor a round trip raises `inflight_longterm` more than the last one."""
    visit = _visit(trace, check)
    end_ns = _time_ns(trace, check)
    ends_ns = trace.round_ends(visit.entered_ns, end_ns)
    bounds = np.array([trace.sampled("inflight_longterm", end) for end in ends_ns])
    steps = np.diff(bounds)
    steps = steps[steps > 0]
    if steps.size < 2:
        raise UnknownError(f"inflight_longterm rose in {steps.size} round trips of {check.state}")
    return float(np.median(steps[1:] / steps[:-1]))


@_measure
def lowest(trace: Trace, check: Check) -> float:
    """Return the lowest effective estimate in a span, as a share of what the link then passes."""
    start_ns, end_ns = _span_ns(trace, check)
    return float(trace.values("bw", start_ns, end_ns).min()) / trace.payload_bps(start_ns)


@_measure
def bounded(trace: Trace, check: Check) -> float:
    """Return the number of changes of state in a span at which a short-term bound is set."""
    start_ns, end_ns = _span_ns(trace, check)
    if check.variable not in trace.reported.variables:
        raise UnknownError(f"it reports no {check.variable}")
    place, _ = trace.reported.variables[check.variable]
    inside = (visit for visit in trace.visits if start_ns <= visit.entered_ns <= end_ns)
    return float(sum(visit.row is not None and visit.row[place] > 0 for visit in inside))


@_measure
def undone(trace: Trace, check: Check) -> float:
    """Return the number of recoveries that the stack has undone, since a time."""
    times_ns = trace.events("undone")["time_ns"]
    return float((times_ns >= _since_ns(trace, check)).sum())


@_measure
def timeouts(trace: Trace, check: Check) -> float:
    """Return the number of timeouts since a time."""
    times_ns = trace.events("timeout")["time_ns"]
    return float((times_ns >= _since_ns(trace, check)).sum())


def _undo(trace: Trace, check: Check) -> tuple[int, int]:
    """Return when the first loss since a time was believed, and when that was undone."""
    since_ns = _since_ns(trace, check)
    undos_ns = trace.events("undone")["time_ns"]
    undos_ns = undos_ns.filter(undos_ns >= since_ns)
    lost_ns = trace.events("congestion", "timeout")["time_ns"]
    lost_ns = lost_ns.filter(lost_ns >= since_ns)
    if undos_ns.is_empty() or lost_ns.is_empty():
        raise UnknownError("nothing was undone")
    return int(lost_ns[0]), int(undos_ns[0])


@_measure
def restored(trace: Trace, check: Check) -> float:
    """Return a variable right after an undo, as a share of what it was before the loss."""
    lost_ns, undone_ns = _undo(trace, check)
    before = trace.sampled(check.variable, lost_ns - trace.step_ns)
    after = trace.sampled(check.variable, undone_ns + trace.step_ns)
    if not before:
        # No bound before: none afterwards is the same.
        return float(after == 0)
    return after / before


@_measure
def state_restored(trace: Trace, check: Check) -> str:
    """Return the state right after an undo."""
    _, undone_ns = _undo(trace, check)
    return [visit for visit in trace.visits if visit.entered_ns <= undone_ns + trace.step_ns][
        -1
    ].state
