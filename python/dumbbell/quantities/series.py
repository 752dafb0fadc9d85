"""Series over time of a run: windows, rates, delays, drops, and what algorithms export."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Final, Literal

import polars as pl

from dumbbell.algorithms import catalogue
from dumbbell.algorithms.catalogue import NO_OWN_ALGORITHMS, OwnAlgorithms
from dumbbell.base.errors import InputError, listed, unknown
from dumbbell.base.seconds import seconds
from dumbbell.base.units import NS_PER_S
from dumbbell.contract.scenario import Flow
from dumbbell.engines.result import Run
from dumbbell.quantities.registry import quantities
from dumbbell.scenario import facts

STATE: Final = "state"
"""Prefix, before the colon, of a variable that algorithms export: ``state:alpha``."""

_BUCKETS: Final = 420
"""Spans into which a line is thinned: about two pixels of a panel each."""

_RATE_SPANS: Final = 300
"""Spans over which a rate is averaged in one panel."""

_MBIT_PER_BYTE: Final = 8e-6
_NS_PER_MS: Final = 1e6
_SCHEMA: Final = {"label": pl.String, "time_s": pl.Float64, "value": pl.Float64}
_WHEN: Final = (pl.col("label").cast(pl.String), seconds().alias("time_s"))

Flows = Collection[int] | None
"""Numbers of the connections that are meant; None: all."""


Joined = Literal["linear", "step-before", "step-after"]
"""How the values of a series are joined, in the words of Vega."""


@dataclass(frozen=True)
class Series:
    """A series: the function that reads it from a run, and its axis.

    Attributes
    ----------
    title, unit
        Its name for people, and its unit; empty: it has none.
    read
        ``label``, ``time_s`` and ``value`` of the samples of some flows, or of the queues.
    per_count
        If it is a counter: what is shown is its rate of change, of which one per second is this.
    from_zero
        True if its axis begins at zero.
    adds_up
        True if the connections of a flow are shown by their sum; else by their mean.
    of_flows
        True if its lines are flows; else they are queues.
    holds
        True if a value stays until the next one, as a window does; else it moves there.
    """

    title: str
    unit: str
    read: Callable[[Run, Flows], pl.DataFrame]
    per_count: float | None = None
    from_zero: bool = True
    adds_up: bool = True
    of_flows: bool = True
    holds: bool = False

    @property
    def axis(self) -> str:
        """Its title with its unit."""
        return f"{self.title} ({self.unit})" if self.unit else self.title

    @property
    def joined(self) -> Joined:
        """Form in which its values are joined; a rate is the mean over the time before it."""
        if self.per_count is not None:
            return "step-before"
        return "step-after" if self.holds else "linear"


LISTED: Final = "dumbbell list series"
"""The command that names all of them."""


def named(name: str) -> Series:
    """Return a series by its name; an unknown name is an InputError."""
    kind, _, variable = name.partition(":")
    if kind == STATE and variable:
        if variable not in exported():
            known = [f"{STATE}:{variable_name}" for variable_name in exported()]
            raise unknown("variable of an algorithm", name, known, LISTED)
        return Series(variable, "", _state(variable), from_zero=False, adds_up=False, holds=True)
    if name not in SERIES:
        if name in quantities():
            valid = f'take(run, "{name}"), or a series: {listed(SERIES)}'
            raise InputError("is one number of a run, not a series", value=name, valid=valid)
        known = [*SERIES, *(f"{STATE}:{variable_name}" for variable_name in exported())]
        raise unknown("series", name, known, LISTED)
    return SERIES[name]


def exported(own_algorithms: OwnAlgorithms = NO_OWN_ALGORITHMS) -> tuple[str, ...]:
    """Return references to the variables that algorithms export, `own_algorithms` too."""
    algorithms_known = [*catalogue.algorithms().values(), *own_algorithms.values()]
    return tuple(
        sorted(
            {
                name.removesuffix("_milli")
                for algorithm in algorithms_known
                for name in algorithm.sampled_info
            }
        )
    )


def take(
    run: Run,
    name: str,
    start_s: float | None = None,
    end_s: float | None = None,
    *,
    flows: Flows = None,
    spans: int | None = None,
) -> pl.DataFrame:
    """Return ``label``, ``time_s`` and ``value`` of each flow or queue, thinned for display.

    Rates are exact means over `spans` parts of the time shown; of anything else the first, lowest
    and highest sample of each part is kept. By default these are as many as a figure has room for.
    """
    frame = lines(run, name, start_s, end_s, flows=flows, spans=spans)
    if named(name).per_count is not None:
        return frame
    parts = frame.partition_by("label", maintain_order=True)
    return pl.concat(
        [thin(part, "time_s", "value", spans or _BUCKETS) for part in parts] or [frame]
    )


def lines(
    run: Run,
    name: str,
    start_s: float | None = None,
    end_s: float | None = None,
    *,
    flows: Flows = None,
    spans: int | None = None,
) -> pl.DataFrame:
    """Return the same without thinning: all samples, and rates over the spans."""
    series = named(name)
    first_s, last_s = _bounds(run, start_s, end_s)
    frame = series.read(run, flows).drop_nulls("value")
    if series.of_flows and series.per_count is None:
        frame = _until_end(run, frame)
    frame = _whole(frame, adds_up=series.adds_up)
    if series.per_count is not None:
        zeros = _flow_starts(run, flows) if series.of_flows else _queue_starts(frame)
        # Of what is sent at once when a flow starts, a sample at that moment knows already.
        # A rate needs a counter at the start, else what came before the first sample is lost.
        frame = pl.concat([zeros, frame]).unique(
            ["label", "time_s"], keep="first", maintain_order=True
        )
        frame = pl.concat(frame.partition_by("label", maintain_order=True) or [frame])
    frame = frame.filter(pl.col("time_s").is_between(first_s, last_s))
    if series.per_count is None:
        return frame
    return _rates(frame, (last_s - first_s) / (spans or _RATE_SPANS), series.per_count)


def drawn(
    run: Run,
    name: str,
    start_s: float | None = None,
    end_s: float | None = None,
    *,
    flows: Flows = None,
    spans: int | None = None,
) -> pl.DataFrame:
    """Return what `take` does, and for each rate one more row where its first span begins."""
    frame = take(run, name, start_s, end_s, flows=flows, spans=spans)
    kind = named(name)
    if kind.per_count is None or frame.is_empty():
        return frame
    zeros = _flow_starts(run, flows) if kind.of_flows else _queue_starts(frame)
    first_s, _ = _bounds(run, start_s, end_s)
    firsts = frame.group_by("label", maintain_order=True).first().select("label", "value")
    begins = zeros.select("label", pl.col("time_s").clip(lower_bound=first_s))
    # A rate is drawn as a step back to the row before it, which the first one does not have.
    begun = begins.join(firsts, on="label").select(frame.columns)
    parts = pl.concat([begun, frame]).partition_by("label", maintain_order=True)
    # Partitions come in the order of the added rows, but colours follow that of the flows.
    order = {label: place for place, label in enumerate(frame["label"].unique(maintain_order=True))}
    parts.sort(key=lambda part: order[part["label"][0]])
    return pl.concat(parts)


def resent(run: Run, start_s: float | None = None, end_s: float | None = None) -> pl.DataFrame:
    """Return when something was sent again: ``label``, ``time_s`` and the ``segs`` from then on.

    Times are those of the recorded retransmissions, or without a record those of the samples at
    which counters had grown. Each part of the time shown that is narrower than a pixel has one row
    per flow.
    """
    first_s, last_s = _bounds(run, start_s, end_s)
    span_s = (last_s - first_s) / _BUCKETS or 1.0
    if "retransmit" in run.scenario.record.events:
        events = run.scan("events").filter(pl.col("kind").cast(pl.String) == "retransmit")
        rows = events.select(*_WHEN, segs=pl.lit(1.0)).collect()
    else:
        grown = pl.col("retransmitted_segs").cast(pl.Float64)
        since = grown - grown.shift(1, fill_value=0.0).over("flow")
        rows = run.scan("flows").select(*_WHEN, segs=since).filter(pl.col("segs") > 0).collect()
    labels = {label: facts.whole(label) for label in rows["label"].unique()}
    shown = rows.filter(pl.col("time_s").is_between(first_s, last_s)).sort("time_s")
    span = ((pl.col("time_s") - first_s) / span_s).floor()
    return (
        shown.with_columns(pl.col("label").replace(labels))
        .group_by("label", span.alias("span"), maintain_order=True)
        .agg(pl.col("time_s").first(), pl.col("segs").sum())
        .drop("span")
    )


def _bounds(run: Run, start_s: float | None, end_s: float | None) -> tuple[float, float]:
    duration_s = run.summary.duration_ns / NS_PER_S
    return 0.0 if start_s is None else start_s, duration_s if end_s is None else end_s


def thin(frame: pl.DataFrame, x: str, y: str, buckets: int) -> pl.DataFrame:
    """Keep the first, lowest and highest row of each of `buckets` equal spans of `x`.

    The remaining rows draw the same picture wherever a span is narrower than a pixel.
    """
    # Three rows are kept of each bucket, so thinning could only keep all of them.
    if frame.height <= 3 * buckets:
        return frame
    low, high = frame[x].min(), frame[x].max()
    assert isinstance(low, int | float)
    assert isinstance(high, int | float)
    span = (high - low) / buckets
    numbered = frame.with_row_index("_row").with_columns(
        # The last row is at the end of the last span, and would be alone in one more.
        _bucket=((pl.col(x) - low) / span).floor().clip(0, buckets - 1)
    )
    order = pl.col("_row")
    kept = (
        numbered.group_by("_bucket")
        .agg(
            first=order.first(),
            lowest=order.sort_by(y, order).first(),
            highest=order.sort_by(y, order).last(),
        )
        .select(pl.concat_list("first", "lowest", "highest").explode().unique().alias("_row"))
    )
    # Without the last row a line would end before the run does.
    last = pl.DataFrame({"_row": [frame.height - 1]}, schema={"_row": kept.schema["_row"]})
    rows = pl.concat([kept, last]).unique().sort("_row")["_row"]
    return frame[rows]


def _until_end(run: Run, frame: pl.DataFrame) -> pl.DataFrame:
    """Leave out what a connection still has, such as its window, once it has nothing to send."""
    ends = {flow.label: flow.end_ns / NS_PER_S for flow in run.summary.flows}
    end_s = pl.col("label").replace_strict(ends, default=math.inf, return_dtype=pl.Float64)
    return frame.filter(pl.col("time_s") <= end_s)


def _whole(frame: pl.DataFrame, *, adds_up: bool) -> pl.DataFrame:
    """Turn the lines of connections into those of the flows that they carry together."""
    labels = {label: facts.whole(label) for label in frame["label"].unique()}
    if all(label == whole for label, whole in labels.items()):
        return frame
    value = pl.col("value").sum() if adds_up else pl.col("value").mean()
    named = frame.with_columns(pl.col("label").replace(labels))
    return named.group_by("label", "time_s", maintain_order=True).agg(value)


def _flow_starts(run: Run, flows: Flows) -> pl.DataFrame:
    """Return what every counter is when its flow starts."""
    sampled = [
        flow
        for number, flow in enumerate(run.scenario.flows)
        if flow.sampled and (flows is None or number in flows)
    ]
    firsts: list[Flow] = [sampled[numbers[0]] for numbers in facts.bundles(sampled)]
    return pl.DataFrame(
        {
            "label": [facts.whole(flow.label) for flow in firsts],
            "time_s": [flow.start_ns / NS_PER_S for flow in firsts],
            "value": [0.0] * len(firsts),
        },
        schema=_SCHEMA,
    )


def _queue_starts(counters: pl.DataFrame) -> pl.DataFrame:
    """Return what every counter of a queue is when the run begins."""
    labels = counters["label"].unique(maintain_order=True)
    zeros = pl.DataFrame({"label": labels}, schema={"label": pl.String})
    return zeros.select("label", time_s=pl.lit(0.0), value=pl.lit(0.0))


def _rates(counters: pl.DataFrame, span_s: float, per_count: float) -> pl.DataFrame:
    """Turn counters into the exact mean rates between samples `span_s` or more apart.

    A rate is placed at the end of its span. The first one begins with the first sample, and is of
    half a span at least.
    """
    span = (pl.col("time_s") / span_s).ceil()
    # Differences of counters between the same samples add up to the whole: no byte counts twice.
    firsts = counters.group_by("label", maintain_order=True).first()
    lasts = counters.group_by("label", span.alias("span"), maintain_order=True).last()
    ends = pl.concat([firsts, lasts.select(firsts.columns)])
    ends = ends.unique(["label", "time_s"], keep="first", maintain_order=True)
    ends = ends.filter(~_is_short_start(span_s))
    elapsed_s = pl.col("time_s").diff().over("label")
    grown = pl.col("value").diff().over("label")
    return ends.select("label", "time_s", value=grown / elapsed_s * per_count).drop_nulls("value")


def _is_short_start(span_s: float) -> pl.Expr:
    """Return where a first rate would be of less than half a span; it becomes part of the next.

    The first packets of a flow are no rate if the first sample comes right after them.
    """
    place = pl.int_range(pl.len()).over("label")
    elapsed_s = pl.col("time_s").diff().over("label")
    return (place == 1) & (elapsed_s < span_s / 2) & (pl.len().over("label") > 2)


def _flows(
    column: str, per_unit: float = 1.0, none: int | None = None
) -> Callable[[Run, Flows], pl.DataFrame]:
    """Return a function that reads a column; `none` marks a missing value in it."""

    def read(run: Run, flows: Flows) -> pl.DataFrame:
        samples = _of(run.scan("flows"), flows)
        if none is not None:
            samples = samples.filter(pl.col(column) != none)
        return samples.select(*_WHEN, value=pl.col(column) / per_unit).collect()

    return read


def _sent_bytes(run: Run, flows: Flows) -> pl.DataFrame:
    """Read what was sent in IP packets, headers included."""
    headers = {number: flow.header_bytes for number, flow in enumerate(run.scenario.flows)}
    header = pl.col("flow").replace_strict(headers, return_dtype=pl.Float64)
    value = pl.col("sent_bytes") + pl.col("sent_segs") * header
    return pl.concat(
        _of(run.scan(table), flows).select(*_WHEN, value=value).collect()
        for table in ("flows", "datagrams")
    )


def _received_bytes(run: Run, flows: Flows) -> pl.DataFrame:
    value = pl.col("received_bytes").cast(pl.Float64)
    return pl.concat(
        _of(run.scan(table), flows).select(*_WHEN, value=value).collect()
        for table in ("flows", "datagrams")
    )


def _one_way_delay_ms(run: Run, flows: Flows) -> pl.DataFrame:
    """Read the mean delay of the datagrams that arrived since the sample before."""
    samples = _of(run.scan("datagrams"), flows)
    since = {
        # The first sample has none before it: it has grown from 0.
        name: pl.col(name).cast(pl.Float64).diff().over("flow").fill_null(pl.col(name))
        for name in ("delay_sum_ns", "received_packets")
    }
    arrivals = samples.with_columns(**since).filter(pl.col("received_packets") > 0)
    delay_ms = pl.col("delay_sum_ns") / pl.col("received_packets") / _NS_PER_MS
    return arrivals.select(*_WHEN, value=delay_ms).collect()


def _of(samples: pl.LazyFrame, flows: Flows) -> pl.LazyFrame:
    return samples if flows is None else samples.filter(pl.col("flow").is_in(list(flows)))


def _queues(column: str) -> Callable[[Run, Flows], pl.DataFrame]:
    """Read the queues that data passes; a single one is just the bottleneck."""

    def read(run: Run, _: Flows) -> pl.DataFrame:
        names = facts.data_queues(run.scenario)
        if len(names) == 1:
            names = dict.fromkeys(names, "bottleneck")
        return (
            run.scan("queues")
            .with_columns(label=pl.col("queue").replace_strict(names, default=None))
            .drop_nulls("label")
            .select(*_WHEN, value=pl.col(column).cast(pl.Float64))
            .collect()
        )

    return read


def _state(variable: str) -> Callable[[Run, Flows], pl.DataFrame]:
    """Read what algorithms export; of flows whose algorithm does not there is nothing."""

    def read(run: Run, flows: Flows) -> pl.DataFrame:
        parts = [
            run.scan("internals")
            .filter(pl.col("flow") == number)
            .select(*_WHEN, value=pl.col(column) / per_unit)
            for number, flow in enumerate(run.scenario.flows)
            if flow.transport.tcp is not None and (flows is None or number in flows)
            if (
                exported_column := facts.state_column(run.scenario, facts.algorithm(flow), variable)
            )
            for column, per_unit in [exported_column]
        ]
        return pl.concat([pl.LazyFrame(schema=_SCHEMA), *parts]).collect()

    return read


NO_SSTHRESH: Final = 2**31 - 1
"""Value in samples of the slow-start threshold before there is one."""

SERIES: Final[Mapping[str, Series]] = {
    "cwnd_segs": Series("cwnd", "segments", _flows("cwnd_segs"), holds=True),
    "ssthresh_segs": Series(
        "ssthresh", "segments", _flows("ssthresh_segs", none=NO_SSTHRESH), holds=True
    ),
    "in_flight_segs": Series("in flight", "segments", _flows("in_flight_segs")),
    "rtt_ms": Series("RTT", "ms", _flows("rtt_us", 1e3), adds_up=False),
    "one_way_delay_ms": Series("one-way delay", "ms", _one_way_delay_ms, adds_up=False),
    "throughput_mbit_per_s": Series("throughput", "Mbit/s", _sent_bytes, per_count=_MBIT_PER_BYTE),
    "goodput_mbit_per_s": Series("goodput", "Mbit/s", _received_bytes, per_count=_MBIT_PER_BYTE),
    "queue_packets": Series("queue", "packets", _queues("backlog_packets"), of_flows=False),
    "carried_mbit_per_s": Series(
        "carried", "Mbit/s", _queues("departed_bytes"), per_count=_MBIT_PER_BYTE, of_flows=False
    ),
    "drops_per_s": Series(
        "drops", "packets/s", _queues("dropped_packets"), per_count=1.0, of_flows=False
    ),
    "retransmissions_per_s": Series(
        "retransmitted", "segments/s", _flows("retransmitted_segs"), per_count=1.0
    ),
}
"""The series that there are, besides the state that algorithms export."""
