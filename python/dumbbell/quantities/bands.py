"""Equal flows over time as one band: the least, the mean and the most of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from dumbbell.base.units import NS_PER_S
from dumbbell.engines.result import Run
from dumbbell.quantities import equal_flows, series
from dumbbell.quantities.series import Joined
from dumbbell.quantities.subjects import Flow, flows_of
from dumbbell.scenario import facts

_ROUND_TRIPS_MAX: Final = 10
"""Round trips between samples beyond which a line through them would show a beat."""


@dataclass(frozen=True)
class Bundle:
    """A flow that is drawn as a line, or equal flows that are drawn as a band."""

    name: str
    flows: tuple[Flow, ...]

    @property
    def is_band(self) -> bool:
        """True if it is of several flows."""
        return len(self.flows) > 1

    @property
    def connections(self) -> list[int]:
        """The numbers of the connections of its flows."""
        return [number for flow in self.flows for number in flow.connections]


def bundles(run: Run) -> list[Bundle]:
    """Return the flows of a run that have samples: more than a few equal ones are one band."""
    flows = [flow for flow in flows_of(run.scenario, run.summary.flows) if flow.first.sampled]
    return [Bundle(_name(members), members) for members in equal_flows.shown(run.scenario, flows)]


def names(run: Run) -> dict[str, str]:
    """Return what each flow of a run is called in figures, by its label."""
    flows = flows_of(run.scenario, run.summary.flows)
    return {
        flow.label: _name(members)
        for members in equal_flows.shown(run.scenario, flows)
        for flow in members
    }


def choices(run: Run, *, together: bool = True) -> dict[str, str | None]:
    """Return the algorithm of each flow or band by its name; None: it has none.

    Without `together` the flows of bands are named one by one.
    """
    flows = flows_of(run.scenario, run.summary.flows)
    if not together:
        return {flow.label: _choice(flow) for flow in flows}
    shown = equal_flows.shown(run.scenario, flows)
    return {_name(members): _choice(members[0]) for members in shown}


def _choice(flow: Flow) -> str | None:
    return None if flow.is_datagrams else facts.choice(flow.first)


def _name(members: Sequence[Flow]) -> str:
    """Name a flow or a band; of those without samples, there may be more in another run."""
    if not members[0].first.sampled:
        return facts.family(members[0].label)
    return equal_flows.name_of(members) if len(members) > 1 else members[0].label


def take(run: Run, name: str, connections: Sequence[int], spans: int) -> pl.DataFrame:
    """Return ``time_s``, ``low``, ``mean`` and ``high`` of a series of some flows.

    Each row is of one of `spans` equal parts of the run, over all samples in it, and at the time
    from which the series' way of joining values draws it. The first or last part has one more row,
    at its other end. A flow counts while it is on. A part without samples has no row.
    """
    samples = series.lines(run, name, flows=connections, spans=spans)
    span_s = run.summary.duration_ns / NS_PER_S / spans
    joined = series.named(name).joined
    # A rate is that of the part which ends with it.
    place = (pl.col("time_s") / span_s).round(6)
    # Else a rate at the end of a part, where it belongs, would count for the next part.
    number = place.ceil() - 1 if joined == "step-before" else place.floor()
    parts = (
        samples.group_by(number.clip(0, spans - 1).alias("span"))
        .agg(
            low=pl.col("value").min(),
            mean=pl.col("value").mean(),
            high=pl.col("value").max(),
        )
        .sort("span")
    )
    time_s = (pl.col("span") + _PLACED[joined]) * span_s
    rows = parts.select("low", "mean", "high", time_s=time_s)
    # A row is a point, and the band has to cover its whole part. So the outermost row is drawn once
    # more, at the far end of its part.
    ends = {"step-before": [rows.head(1)], "step-after": [rows.tail(1)], "linear": []}[joined]
    if joined == "linear" and rows.height == 1:
        rows, ends = rows.with_columns(pl.col("time_s") - span_s / 2), [rows]
    moved_s = span_s * (-1 if joined == "step-before" else 1 if joined == "step-after" else 0.5)
    other = [end.with_columns(pl.col("time_s") + moved_s) for end in ends]
    return pl.concat([rows, *other]).sort("time_s").select("time_s", "low", "mean", "high")


_PLACED: Final[Mapping[Joined, float]] = {"step-after": 0.0, "linear": 0.5, "step-before": 1.0}
"""Where in its part of the run a row stands, so that it is drawn over that part."""


def is_coarse(run: Run) -> bool:
    """Return True if samples are so many round trips apart that a line would show a beat."""
    return round_trips_apart(run) > _ROUND_TRIPS_MAX


def round_trips_apart(run: Run) -> float:
    """Return how many round trips of the shortest path lie between two samples; 0: no samples."""
    interval_ns = run.scenario.record.interval_ns
    rtts = [
        facts.base_rtt_ns(run.scenario, flow)
        for flow in run.scenario.flows
        if flow.sampled and flow.transport.tcp is not None
    ]
    shortest_ns = min((rtt for rtt in rtts if rtt), default=None)
    return 0.0 if interval_ns is None or shortest_ns is None else interval_ns / shortest_ns


def capacity(run: Run, spans: int) -> Iterator[tuple[float, float]]:
    """Yield times in s and what the bottleneck can carry from then on, in Mbit/s.

    Yield nothing if its rate is constant. For a trace, or for many changes, yield the mean over
    each of `spans` equal parts of the run.
    """
    scenario = run.scenario
    number = facts.bottleneck(scenario)
    link = None if number is None else facts.sampled_links(scenario)[number]
    if link is None or link.rate is None or not (link.rate.steps or link.rate.trace):
        return
    end_ns = scenario.duration_ns
    times = sorted({0, *(at for at, _ in link.rate.steps or () if at < end_ns)})
    if link.rate.trace or len(times) > spans:
        times = [end_ns * part // spans for part in range(spans)]
    last = 0.0
    for start_ns, stop_ns in zip(times, [*times[1:], end_ns], strict=True):
        last = (facts.mean_rate_bps(link, start_ns, stop_ns) or 0.0) / 1e6
        yield start_ns / NS_PER_S, last
    yield end_ns / NS_PER_S, last
