"""A run as quantities read it: its flows and queues in a window."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

import numpy as np
import polars as pl

from dumbbell.base.errors import unknown
from dumbbell.base.remembering import remembered
from dumbbell.contract.scenario import LinkConfig, Scenario
from dumbbell.contract.summary import FlowSummary, QueueSummary
from dumbbell.engines.result import Run
from dumbbell.plan.settings import Settings
from dumbbell.plan.windows import BUILT_IN, Window
from dumbbell.quantities import placing, spans
from dumbbell.quantities.counters import Counters, Times, Values, together
from dumbbell.quantities.spans import Span
from dumbbell.quantities.subjects import Flow, absent, flows_of, named, no_flow
from dumbbell.scenario import facts

_OF_FLOWS: Final = ("sent_segs", "sent_bytes", "retransmitted_segs", "received_bytes", "cwnd_segs")
_OF_QUEUES: Final = (
    "departed_bytes",
    "departed_packets",
    "dropped_packets",
    "marked_packets",
    "backlog_packets",
    "backlog_bytes",
)
_OF_DATAGRAMS: Final = (
    "sent_segs",
    "sent_bytes",
    "received_bytes",
    "received_packets",
    "lost_packets",
    "delay_sum_ns",
    "variation_sum_ns",
)
_NUMBERED: Final = {
    "flows": "flow",
    "datagrams": "flow",
    "internals": "flow",
    "modes": "flow",
    "queues": "queue",
}

Table = TypeVar("Table", bound=Settings)
Computed = TypeVar("Computed")


class RunView:
    """One run, and the windows and settings with which its quantities are taken.

    Parameters
    ----------
    run
        The run.
    windows
        The windows of its test by name; ``main`` is the one that is meant without a name.
    settings
        The study's settings of quantities, by the names of the tables.
    """

    def __init__(
        self, run: Run, windows: Mapping[str, Window], settings: Mapping[str, Settings]
    ) -> None:
        self.run = run
        self.scenario: Scenario = run.scenario
        self.flows = flows_of(run.scenario, run.summary.flows)
        self._windows = windows
        self._settings = settings
        self._remembered: dict[object, Any] = {}

    def settings(self, kind: type[Table]) -> Table:
        """Return what the study sets for some quantities, or the defaults."""
        settings = self._settings.get(kind.table)
        return settings if isinstance(settings, kind) else kind()

    def of_flows(self, subject: str | None, window: str | None) -> FlowsView | None:
        """Return some flows in a window; None if the window is empty.

        Without a subject these are all that are sampled. A name that no flow has is an `Absent`.
        """
        flows = self.sampled
        if subject is not None:
            flows = named(self.flows, subject)
            if not flows:
                raise no_flow(subject, self.flows)
        span = self.span(window or "main")
        return None if span is None else FlowsView(self, flows, span, window == "run")

    def of_datagrams(self, window: str | None) -> FlowsView | None:
        """Return all sampled flows of datagrams in a window; None if the window is empty."""
        flows = tuple(flow for flow in self.flows if flow.is_datagrams and flow.first.sampled)
        span = self.span(window or "main")
        return None if span is None else FlowsView(self, flows, span, window == "run")

    def of_queue(self, subject: str | None, window: str | None) -> QueueView | None:
        """Return a queue in a window; None if the window is empty or nothing has a rate.

        Without a subject it is the bottleneck's. A name that no link has is an `Absent`.
        """
        number = facts.bottleneck(self.scenario)
        if subject is not None:
            links = [link.name for link in facts.sampled_links(self.scenario)]
            if subject not in links:
                raise absent("queue", subject, links)
            number = links.index(subject)
        span = self.span(window or "main")
        if span is None or number is None:
            return None
        return QueueView(self, number, span, window == "run")

    @property
    def sampled(self) -> tuple[Flow, ...]:
        """The flows that are meant without a subject."""
        return tuple(flow for flow in self.flows if flow.is_sampled)

    def remember(self, key: object, compute: Callable[[], Computed]) -> Computed:
        """Return what was computed under a key before, or compute it."""
        if key not in self._remembered:
            self._remembered[key] = compute()
        value: Computed = self._remembered[key]
        return value

    @remembered
    def span(self, name: str) -> Span | None:
        """Return where a window lies; one that the test does not have is an InputError."""
        if name == "run":
            return Span(0, self.scenario.duration_ns)
        if name in ("late", "final"):
            main = self.span("main")
            share = spans.LATE_SHARE if name == "late" else spans.FINAL_SHARE
            return None if main is None else self._on_samples(main.last(share))
        if name not in self._windows:
            raise unknown("window", name, [*self._windows, *BUILT_IN[1:]])
        window = self._windows[name]
        if name == "main":
            return self._settled(placing.main(self.scenario, self.flows, window), window.settle)
        placed = placing.placed(self.scenario, self.flows, window, self.span("main"))
        return self._settled(placed, window.settle)

    def _settled(self, span: Span | None, settle: float) -> Span | None:
        """Leave out the beginning: some ns, or a share of what lies between samples."""
        if span is not None and isinstance(settle, float):
            # First onto samples: else a share could be of time in which nothing was sampled.
            span = self._on_samples(span)
            settle *= 0 if span is None else span.end_ns - span.start_ns
        if span is None:
            return None
        return self._on_samples(Span(span.start_ns + round(settle), span.end_ns))

    def _on_samples(self, span: Span) -> Span | None:
        """Put the ends of a span on samples, so that counters are exact there.

        None without two samples in it. Without samples a span stays as it is.
        """
        if self.scenario.record.interval_ns is None:
            return span if span.start_ns < span.end_ns else None
        # Flows and queues are sampled at the same moments, so one queue shows them.
        counters = self.queue_counters(facts.bottleneck(self.scenario) or 0)
        times = np.empty(0, dtype=np.int64) if counters is None else counters.time_ns
        times = times[(times >= span.start_ns) & (times <= span.end_ns)]
        return Span(int(times[0]), int(times[-1])) if times.size > 1 else None

    @remembered
    def samples(self, table: str, columns: tuple[str, ...]) -> Mapping[int, Counters]:
        """Return columns of a table: number of the connection or queue -> its samples."""
        number = _NUMBERED[table]
        frame = self.run.scan(table, named=False).select("time_ns", number, *columns).collect()
        parts = frame.partition_by(number, as_dict=True)
        return {int(key): Counters.of(part, columns) for (key,), part in parts.items()}

    def counters(self, flow: Flow) -> Counters | None:
        """Return the samples of a flow, of its connections together; None where none are taken."""
        if not flow.first.sampled or self.scenario.record.interval_ns is None:
            return None
        if flow.is_datagrams:
            # Every quantity of a view reads the same counters, and adding up connections is slow.
            return self.remember(flow.connections, lambda: self._of_datagrams(flow))
        samples = self.samples("flows", _OF_FLOWS)
        parts = [samples[number] for number in flow.connections if number in samples]
        return self.remember(
            flow.connections, lambda: together(parts) or Counters.nothing(_OF_FLOWS)
        )

    def _of_datagrams(self, flow: Flow) -> Counters:
        """Return the samples of a flow of datagrams, of which none is sent again."""
        counters = self.samples("datagrams", _OF_DATAGRAMS).get(flow.connections[0])
        counters = counters or Counters.nothing(_OF_DATAGRAMS)
        nothing = np.zeros(counters.time_ns.size)
        none = np.full(counters.time_ns.size, np.nan)
        of_tcp_only = {"retransmitted_segs": nothing, "cwnd_segs": none}
        return Counters(counters.time_ns, {**counters.columns, **of_tcp_only})

    def queue_counters(self, number: int) -> Counters | None:
        """Return the samples of a queue; None where none are taken."""
        return self.samples("queues", _OF_QUEUES).get(number)


@remembered
def view_of(run: Run) -> RunView:
    """Return a run as quantities read it, with the windows that every test has."""
    return RunView(run, {"main": Window()}, {})


@dataclass(frozen=True)
class FlowsView:
    """Some flows of a run in a window.

    Attributes
    ----------
    run
        The run.
    flows
        The flows, in the order of the scenario.
    span
        The window.
    whole
        True if it is the whole run, of which the summary is exact.
    """

    run: RunView
    flows: tuple[Flow, ...]
    span: Span
    whole: bool = False

    def once(self, compute: Callable[[FlowsView], Computed]) -> Computed:
        """Return what a function makes of this view, computed once however often it is asked."""
        numbers = tuple(flow.number for flow in self.flows)
        return self.run.remember((compute, numbers, self.span, self.whole), lambda: compute(self))

    @property
    def on(self) -> FlowsView:
        """Those of the flows that are on in the window, or in a part of it."""
        alive = (flow for flow in self.flows if flow.life.inside(self.span) is not None)
        return replace(self, flows=tuple(alive))

    @property
    def everyone(self) -> FlowsView:
        """All flows that are sampled, and these."""
        flows = self.run.flows
        return replace(
            self, flows=tuple(flow for flow in flows if flow.is_sampled or flow in self.flows)
        )

    def within(self, span: Span) -> FlowsView:
        """Return the same flows in another window."""
        return FlowsView(self.run, self.flows, span)

    @property
    def counters(self) -> list[tuple[Flow, Counters]]:
        """The flows of which samples are taken, with these."""
        flows_with_counters = ((flow, self.run.counters(flow)) for flow in self.flows)
        return [(flow, counters) for flow, counters in flows_with_counters if counters is not None]

    def grown(self, name: str) -> list[float]:
        """Return the growth of a counter of each flow; nothing if not all are known.

        For the whole run, the summary has the counters of all flows.
        """
        if self.whole:
            summaries = self.run.run.summary.flows
            return [
                float(sum(getattr(summaries[number], name) for number in flow.connections))
                for flow in self.flows
            ]
        sampled = self.counters
        if len(sampled) < len(self.flows):
            return []
        span = self.span
        return [counters.between(name, span.start_ns, span.end_ns) for _, counters in sampled]

    def instants(self, apart_ns: int) -> Times:
        """Return instants with samples, in ns: equally far `apart_ns` at least, from the start."""
        recorded_ns = self.run.scenario.record.interval_ns or apart_ns
        # Between samples counters keep their values, which would show as beats.
        apart_ns = -(-apart_ns // recorded_ns) * recorded_ns
        return np.arange(self.span.start_ns, self.span.end_ns + 1, apart_ns, dtype=np.int64)

    @property
    def connections(self) -> list[int]:
        """The numbers of all connections of the flows, in the tables."""
        return [number for flow in self.flows for number in flow.connections]

    @property
    def summaries(self) -> list[FlowSummary]:
        """The entries of the connections in the summary of the whole run."""
        return [self.run.run.summary.flows[number] for number in self.connections]

    def events(self, *kinds: str) -> pl.DataFrame | None:
        """Return the flows' events of some kinds in the window; None unless they were recorded."""
        if not set(kinds) <= set(self.run.scenario.record.events):
            return None
        in_window = pl.col("time_ns").is_between(self.span.start_ns, self.span.end_ns)
        of_these_flows = pl.col("kind").is_in(kinds) & pl.col("flow").is_in(self.connections)
        return (
            self.run.run.scan("events", named=False)
            .filter(in_window & of_these_flows)
            .with_columns(pl.col("time_ns").cast(pl.Int64))
            .collect()
        )

    def samples(self, column: str, table: str = "flows") -> dict[int, Values]:
        """Return a column of samples in the window: the number of a connection -> its values.

        Samples after the end of a connection repeat its last values and are left out. So are
        connections without a value.
        """
        of_all = self.run.samples(table, (column,))
        values_by_connection = {
            number: of_all[number].samples(column, alive.start_ns, alive.end_ns)
            for number in self.connections
            if number in of_all and (alive := self.alive(number)) is not None
        }
        return {number: values for number, values in values_by_connection.items() if values.size}

    def alive(self, connection: int) -> Span | None:
        """Return the part of the window in which a connection is on; None if there is none."""
        start_ns = self.run.scenario.flows[connection].start_ns
        return Span(start_ns, self.run.run.summary.flows[connection].end_ns).inside(self.span)


@dataclass(frozen=True)
class QueueView:
    """A queue of a run in a window.

    Attributes
    ----------
    run
        The run.
    number
        Its number among the sampled links.
    span
        The window.
    whole
        True if it is the whole run, of which the summary is exact.
    """

    run: RunView
    number: int
    span: Span
    whole: bool = False

    def samples(self, name: str) -> Values:
        """Return its samples of a column in the window."""
        counters = self.run.queue_counters(self.number)
        if counters is None:
            return np.empty(0)
        return counters.samples(name, self.span.start_ns, self.span.end_ns)

    def grown(self, name: str) -> float | None:
        """Return the growth of a counter; None without samples, except for the whole run."""
        if self.whole:
            return float(getattr(self.summary, name))
        counters = self.run.queue_counters(self.number)
        if counters is None:
            return None
        return counters.between(name, self.span.start_ns, self.span.end_ns)

    @property
    def summary(self) -> QueueSummary:
        """Its entry in the summary of the whole run."""
        return self.run.run.summary.queues[self.number]

    @property
    def link(self) -> LinkConfig:
        """The link that it belongs to."""
        return facts.sampled_links(self.run.scenario)[self.number]

    @property
    def rate_bps(self) -> float | None:
        """Its mean rate in the window; None: unlimited."""
        return facts.mean_rate_bps(self.link, self.span.start_ns, self.span.end_ns)


def known(values: Sequence[float | None]) -> list[float]:
    """Return the values that there are."""
    return [value for value in values if value is not None]
