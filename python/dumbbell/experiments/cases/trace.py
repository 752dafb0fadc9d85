"""A run of one flow as cases read it: its visits of states, and samples of flow and algorithm."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import polars as pl

from dumbbell.engines.result import Run
from dumbbell.experiments.cases.reported import PHASED, Reported
from dumbbell.quantities.counters import Counters, Values
from dumbbell.scenario import facts

_FLOW: Final = (
    "cwnd_segs",
    "in_flight_segs",
    "pacing_rate_bytes_per_s",
    "received_bytes",
    "retransmitted_segs",
    "sent_bytes",
    "sent_segs",
)
_SAME: Final = 0.01
"""Distance from 1 below which a gain of pacing is that of a phase at the estimate."""


class UnknownError(Exception):
    """A run says nothing about something; the text is the reason, a sentence without full stop."""


@dataclass(frozen=True)
class Visit:
    """A stay in a state.

    Attributes
    ----------
    state
        The state.
    entered_ns, left_ns
        When it began and ended; it did not end within the run: None.
    row
        The algorithm's exported values on entry; None: only samples show them.
    """

    state: str
    entered_ns: int
    left_ns: int | None
    row: tuple[float, ...] | None


class Trace:
    """A run of one flow.

    Parameters
    ----------
    run
        The run.
    reported
        What its algorithm reports.
    change_ns
        The moment of its change; None: it has none.
    """

    def __init__(self, run: Run, reported: Reported, change_ns: int | None = None) -> None:
        self.run = run
        self.reported = reported
        self.change_ns = change_ns
        self.end_ns = run.scenario.duration_ns
        self.step_ns = run.scenario.record.interval_ns or 0
        flow = run.scenario.flows[0]
        self.payload_bytes = flow.packet_bytes - flow.header_bytes
        self.packet_bytes = flow.packet_bytes

    @cached_property
    def flow(self) -> Counters:
        """Samples of the flow."""
        return Counters.of(self.run.scan("flows", named=False).collect(), _FLOW)

    @cached_property
    def internals(self) -> Counters:
        """Samples of the algorithm's first variables."""
        names = [f"info{place}" for place in range(self.reported.sampled)]
        return Counters.of(self.run.scan("internals", named=False).collect(), names)

    def events(self, *kinds: str) -> pl.DataFrame:
        """Return the events of some kinds, in order of time."""
        return (
            self.run.scan("events", named=False)
            .filter(pl.col("kind").cast(pl.String).is_in(kinds))
            .with_columns(pl.col("time_ns").cast(pl.Int64))
            .collect()
        )

    @cached_property
    def visits(self) -> tuple[Visit, ...]:
        """Its visits of states, in order."""
        begun = list(self._begun())
        ends = [visit.entered_ns for visit in begun[1:]]
        return tuple(
            Visit(visit.state, visit.entered_ns, end, visit.row)
            for visit, end in zip(begun, [*ends, None], strict=True)
        )

    def _begun(self) -> Iterator[Visit]:
        frame = self.run.scan("modes", named=False).collect()
        values = frame.select(pl.col("^info[0-9]+$").cast(pl.Float64)).rows()
        times_ns = frame["time_ns"].cast(pl.Int64).to_list()
        ends_ns = [*times_ns[1:], self.end_ns]
        for mode, time_ns, end_ns, row in zip(
            frame["mode"].to_list(), times_ns, ends_ns, values, strict=True
        ):
            states = self.reported.states
            state = states[mode] if mode < len(states) else None
            if state == PHASED:
                yield from self._phases(time_ns, end_ns, row)
            else:
                yield Visit(state or f"mode {mode}", time_ns, None, row)

    def _phases(self, start_ns: int, end_ns: int, row: tuple[float, ...]) -> Iterator[Visit]:
        """Yield the phases of a mode that is one for all, by the samples of the gain of pacing."""
        place, factor = self.reported.variables["pacing_gain"]
        yield Visit(_phase(row[place] * factor), start_ns, None, row)
        before = _phase(row[place] * factor)
        inside = (self.internals.time_ns > start_ns) & (self.internals.time_ns < end_ns)
        times_ns = self.internals.time_ns[inside]
        gains = self.internals.columns[f"info{place}"][inside] * factor
        for time_ns, gain in zip(times_ns.tolist(), gains.tolist(), strict=True):
            if _phase(gain) != before:
                before = _phase(gain)
                yield Visit(before, time_ns, None, None)

    def visit(self, state: str, nth: int = 1, since_ns: int = 0) -> Visit:
        """Return a visit that begins at a time or later; UnknownError if there is none."""
        if state not in self.reported.has:
            raise UnknownError(f"it has no state {state}")
        visits = [
            visit for visit in self.visits if visit.state == state and visit.entered_ns >= since_ns
        ]
        if len(visits) < nth:
            often = {1: "", 2: " twice"}.get(nth, f" {nth} times")
            raise UnknownError(f"it did not enter {state}{often} in time")
        return visits[nth - 1]

    def after(self, visit: Visit) -> Visit | None:
        """Return the next visit; None: it stays to the end."""
        place = self.visits.index(visit) + 1
        return self.visits[place] if place < len(self.visits) else None

    def value(self, variable: str, time_ns: int) -> float:
        """Return a variable at a time, in bit/s, seconds or segments; 0 is no bound.

        On entry of a state it is exact. Between entries samples have the first variables.
        """
        if variable not in self.reported.variables:
            raise UnknownError(f"it reports no {variable}")
        place, factor = self.reported.variables[variable]
        for visit in self.visits:
            if visit.entered_ns == time_ns and visit.row is not None:
                return visit.row[place] * factor
        if place < self.reported.sampled:
            return self.internals.at(f"info{place}", time_ns) * factor
        if variable == "max_bw":
            return self.value("bw", time_ns)
        raise UnknownError(f"{variable} is not sampled between changes of modes")

    def values(self, variable: str, start_ns: int, end_ns: int) -> Values:
        """Return the samples of a variable in a span of time."""
        if not self.reported.is_sampled(variable):
            raise UnknownError(f"it has no samples of {variable}")
        place, factor = self.reported.variables[variable]
        return self.internals.samples(f"info{place}", start_ns, end_ns) * factor

    def of_flow(self, column: str, start_ns: int, end_ns: int) -> Values:
        """Return the samples of a column of the flow in a span of time; UnknownError: none."""
        samples = self.flow.samples(column, start_ns, end_ns)
        if not samples.size:
            raise UnknownError("it did not last from one sample to the next")
        return samples

    def payload_bps(self, time_ns: int) -> float:
        """Return the rate at which the bottleneck passes payload from a time on."""
        rate_bps = facts.bottleneck_rate_bps(self.run.scenario, time_ns, time_ns + 1) or 0.0
        policed_bps = self._policed_bps
        if policed_bps is not None:
            rate_bps = min(rate_bps, policed_bps)
        return rate_bps * self.payload_bytes / self.packet_bytes

    @cached_property
    def _policed_bps(self) -> float | None:
        number = facts.bottleneck(self.run.scenario)
        policer = None if number is None else facts.sampled_links(self.run.scenario)[number].policer
        return None if policer is None else float(policer.rate_bps)

    def sampled(self, variable: str, time_ns: int) -> float:
        """Return the last sample of a variable by a time."""
        if not self.reported.is_sampled(variable):
            raise UnknownError(f"it has no samples of {variable}")
        place, factor = self.reported.variables[variable]
        return self.internals.at(f"info{place}", time_ns) * factor

    def bdp_segs(self, time_ns: int) -> float:
        """Return the algorithm's estimate of the bandwidth-delay product at a time, in segments."""
        bits = self.value("max_bw", time_ns) * self.value("min_rtt", time_ns)
        return bits / (8 * self.payload_bytes)

    def bdp_segs_sampled(self, time_ns: int) -> float:
        """Return it by the last samples before a time, by the effective estimate."""
        bits = self.sampled("bw", time_ns) * self.sampled("min_rtt", time_ns)
        return bits / (8 * self.payload_bytes)

    def first_sent(self, time_ns: int) -> float:
        """Return how many segments had been sent for the first time by a time."""
        return self.flow.at("sent_segs", time_ns) - self.flow.at("retransmitted_segs", time_ns)

    def rounds(self, start_ns: int, end_ns: int) -> float:
        """Return how many round trips fit between two times, the last one in part."""
        ends_ns = self.round_ends(start_ns, end_ns)
        sent, left = self.first_sent(ends_ns[-1]), self._left(ends_ns[-1])
        part = (self._left(end_ns) - left) / (sent - left) if sent > left else 0.0
        return len(ends_ns) - 1 + max(part, 0.0)

    def round_ends(self, start_ns: int, end_ns: int) -> list[int]:
        """Return a start and, up to an end, when each round trip from there on is over.

        One is over when more has left the network than had been sent at its beginning.
        """
        inside = (self.flow.time_ns > start_ns) & (self.flow.time_ns <= end_ns)
        times_ns = self.flow.time_ns[inside]
        columns = {name: self.flow.columns[name][inside] for name in _FLOW}
        sent = columns["sent_segs"] - columns["retransmitted_segs"]
        left = sent - columns["in_flight_segs"]
        ends_ns, due = [start_ns], self.first_sent(start_ns)
        for time_ns, sent_by, left_by in zip(
            times_ns.tolist(), sent.tolist(), left.tolist(), strict=True
        ):
            if left_by > due:
                ends_ns.append(time_ns)
                due = sent_by
        return ends_ns

    def _left(self, time_ns: int) -> float:
        """Return how many segments had left the network by a time, arrived or lost."""
        return self.first_sent(time_ns) - self.flow.at("in_flight_segs", time_ns)


def _phase(gain: float) -> str:
    """Return the phase of a gain of pacing."""
    if abs(gain - 1) < _SAME:
        return "cruise"
    return "up" if gain > 1 else "down"
