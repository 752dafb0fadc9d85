"""A run in a notebook: it shows itself, and measures, draws and perturbs by its own methods."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Self

import polars as pl
from msgspec import to_builtins

from dumbbell.api import frames, measuring, spreads
from dumbbell.api.measuring import WindowTables
from dumbbell.api.renaming import renamed
from dumbbell.api.spreads import Spreads
from dumbbell.base import hypertext
from dumbbell.base.arguments import Names
from dumbbell.base.arguments import name as valid_name
from dumbbell.base.units import format_time
from dumbbell.engines import engines, result
from dumbbell.engines.choices import RETRIES, EngineName
from dumbbell.engines.engine import Engine
from dumbbell.quantities import flow_totals, short_names
from dumbbell.quantities.taken import Taken
from dumbbell.scenario.resolve import ResolvedScenario

if TYPE_CHECKING:
    import altair as alt


class Run(result.Run):
    """A finished run.

    Its frames are in seconds, milliseconds and Mbit/s; `tables` and `scan` give the raw tables,
    whose times are integers in nanoseconds.

    Attributes
    ----------
    key
        The digest of the scenario and the engine, under which a store keeps it.
    scenario
        The resolved scenario (`dumbbell.contract.scenario.Scenario`): plain integers in
        nanoseconds, bits per second and bytes. It is not the `dumbbell.Scenario` of a file.
    summary
        Counts and means of the whole run, by flow and by queue.
    captures
        The packets that the sending and the receiving hosts saw, as two pcapng files; None unless
        the scenario was resolved with ``capture=True``.
    """

    @classmethod
    def holding(cls, run: result.Run) -> Self:
        """Return a run of an engine or a store as one for notebooks."""
        return cls(run.key, run.scenario, run.summary, run.lazy_tables, run.captures)

    @functools.cached_property
    def flows(self) -> pl.DataFrame:
        """Samples of TCP flows.

        Columns are ``time_s``, ``label``, ``algorithm``, ``state``, ``cwnd_segs``,
        ``ssthresh_segs`` (null before there is one), ``in_flight_segs``, ``rtt_ms`` and ``srtt_ms``
        (null before the first). ``goodput_mbit_per_s`` and ``throughput_mbit_per_s`` are means
        since the previous sample. The counters are ``retransmitted_segs`` and
        ``congestion_events``.
        """
        return frames.flows(self)

    @functools.cached_property
    def queues(self) -> pl.DataFrame:
        """Samples of queues.

        Columns are ``time_s``, ``queue`` (the name of its link), ``backlog_packets``,
        ``backlog_bytes``, ``throughput_mbit_per_s`` since the sample before, and the counters
        ``dropped_packets``, ``lost_packets`` and ``marked_packets``.
        """
        return frames.queues(self)

    @functools.cached_property
    def datagrams(self) -> pl.DataFrame:
        """Samples of flows of datagrams.

        Columns are ``time_s``, ``label``, ``algorithm``, ``goodput_mbit_per_s`` and
        ``one_way_delay_ms`` since the sample before, and the counters ``received_packets`` and
        ``lost_packets``.
        """
        return frames.datagrams(self)

    @functools.cached_property
    def delays(self) -> pl.DataFrame:
        """Histograms of the delays of single packets, if `record` has `delays`.

        Columns are ``time_s``, ``queue``, ``label``, ``algorithm``, ``delay_ms`` and ``packets``.
        """
        return frames.delays(self)

    @functools.cached_property
    def events(self) -> pl.DataFrame:
        """Congestion events, drops, retransmissions ..., as far as `record` has `events`.

        Columns are ``time_s``, ``kind``, ``label``, ``algorithm``, ``segment``, ``cwnd_segs`` and
        ``ssthresh_segs``.
        """
        return frames.events(self)

    @functools.cached_property
    def internals(self) -> pl.DataFrame:
        """Samples of the algorithms' own variables, raw, if `record` has `internals`.

        ``run.series("state:NAME")`` returns one variable by its name.
        """
        return frames.internals(self)

    @functools.cached_property
    def modes(self) -> pl.DataFrame:
        """Changes of the algorithms' modes, with the names of modes and variables."""
        return frames.modes(self)

    @functools.cached_property
    def requests(self) -> pl.DataFrame:
        """Finished requests and transfers.

        Columns are ``time_s`` (when it began), ``label``, ``algorithm``, ``number``, ``bytes`` and
        ``latency_ms``.
        """
        return frames.requests(self)

    def measure(self, *quantities: Names, windows: WindowTables | None = None) -> Taken:
        """Take quantities of the run, as `dumbbell.take` does.

        Examples
        --------
        >>> run.measure("goodput[1]", "rtt_p95_ms")
        goodput[1]: 6.0359 Mbit/s, 0.01 s to 4 s
        rtt_p95_ms: 40.8 ms, 0.01 s to 4 s
        """
        return measuring.take(self, *quantities, windows=windows)

    def series(self, name: str, spans: int | None = None) -> pl.DataFrame:
        """Return a quantity over time, as `dumbbell.series` does.

        Examples
        --------
        >>> run.series("cwnd").columns
        ['label', 'time_s', 'value']
        """
        return measuring.series(self, name, *(() if spans is None else (spans,)))

    def latencies(self) -> pl.DataFrame:
        """Return how long requests and transfers took, as `dumbbell.latencies` does.

        Examples
        --------
        >>> run.latencies().is_empty()
        True
        """
        return measuring.latencies(self)

    @renamed("what", "name")
    def chart(self, name: str = "cwnd") -> alt.VConcatChart:
        """Draw a series over time as an Altair chart; names are those of `series`.

        Raises InputError if the name is unknown.

        Examples
        --------
        >>> "RTT (ms)" in run.chart("rtt").to_json()
        True
        """
        from dumbbell.figures import charts  # noqa: PLC0415 - Altair takes a second to import

        return charts.draw(self, short_names.series(valid_name(name, "name", "cwnd")))

    def perturb(
        self,
        runs: int = 10,
        *,
        engine: Engine | str | None = None,
        retries: int = RETRIES,
        jobs: int | None = None,
        large: bool = False,
    ) -> Spreads:
        """Run its scenario again with other phases of packets, as `dumbbell.perturb` does.

        By default its own engine runs them.

        Examples
        --------
        >>> run.perturb(2).to_frame()["label"].to_list()
        ['reno', 'cubic']
        """
        chosen = self._engine if engine is None else engines.runnable(engine)
        resolved = ResolvedScenario.of(to_builtins(self.scenario), chosen.identity)
        return spreads.perturbed(
            resolved, self, runs, engine=chosen, retries=retries, jobs=jobs, large=large
        )

    @property
    def _engine(self) -> Engine:
        """The engine of the run."""
        is_real = self.summary.testbed is not None
        return engines.runnable(EngineName.TESTBED if is_real else EngineName.SIMULATOR)

    def _repr_html_(self) -> str:
        """Return what each flow achieved, for notebooks."""
        flows, length = flow_totals.flows(self), format_time(self.summary.duration_ns)
        about = f"{self.summary.packets:,} packets in {length}, seed {self.scenario.seed}"
        return hypertext.summary(f"Run {self.key[:12]}", about, flows.heads, flows.rows)
