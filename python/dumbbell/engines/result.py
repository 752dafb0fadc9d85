"""One finished run: its summary, its frames and quick charts of them."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING

import polars as pl

from dumbbell.base import hypertext
from dumbbell.base.units import format_time
from dumbbell.contract.scenario import Scenario
from dumbbell.contract.summary import Summary
from dumbbell.engines.engine import Output, empty_frame
from dumbbell.engines.modes import readable
from dumbbell.scenario import facts
from dumbbell.scenario.resolve import ResolvedScenario

if TYPE_CHECKING:
    import altair as alt

    from dumbbell.figures.charts import Kind


class Run:
    """A finished run.

    `scenario` is what was run and `summary` what it came to. Frames are read when they are first
    asked for; `scan` reads only the columns and rows that a query needs. `captures` is what the
    sending and what the receiving hosts saw of their packets, as pcapng files, if the scenario was
    resolved with ``capture=True``; no store keeps it.
    """

    def __init__(
        self,
        key: str,
        scenario: Scenario,
        summary: Summary,
        tables: Mapping[str, pl.LazyFrame],
        captures: tuple[bytes, bytes] | None = None,
    ) -> None:
        self.key = key
        self.scenario = scenario
        self.summary = summary
        self.captures = captures
        self._tables = tables

    @classmethod
    def of(cls, scenario: ResolvedScenario, output: Output) -> Run:
        """Wrap what an engine has just returned."""
        tables = {name: table.lazy() for name, table in output.tables.items()}
        return cls(scenario.key, scenario.scenario, output.summary, tables, output.captures)

    def scan(self, table: str, *, named: bool = True) -> pl.LazyFrame:
        """Return a table lazily; those with a `flow` column have its label and algorithm.

        Unless `named`, they are left out, which is quicker.
        """
        found = self._tables.get(table)
        if found is None:
            found = empty_frame(table).lazy()
        if named and "flow" in found.collect_schema().names():
            return found.join(self._names, on="flow", how="left", maintain_order="left")
        return found

    @functools.cached_property
    def _names(self) -> pl.LazyFrame:
        flows = self.scenario.flows
        return pl.LazyFrame(
            {
                "flow": pl.Series(range(len(flows)), dtype=pl.UInt32),
                "label": pl.Series([flow.label for flow in flows], dtype=pl.Categorical),
                "algorithm": pl.Series(map(facts.choice, flows), dtype=pl.Categorical),
            }
        )

    @functools.cached_property
    def flows(self) -> pl.DataFrame:
        """Samples of each flow."""
        return self.scan("flows").collect()

    @functools.cached_property
    def queues(self) -> pl.DataFrame:
        """Samples of each queue."""
        return self.scan("queues").collect()

    @functools.cached_property
    def datagrams(self) -> pl.DataFrame:
        """Samples of each flow of datagrams."""
        return self.scan("datagrams").collect()

    @functools.cached_property
    def delays(self) -> pl.DataFrame:
        """Histograms of the delays of single packets, as far as they were recorded."""
        return self.scan("delays").collect()

    @functools.cached_property
    def events(self) -> pl.DataFrame:
        """Congestion events, state changes, drops, retransmissions ..."""
        return self.scan("events").collect()

    @functools.cached_property
    def internals(self) -> pl.DataFrame:
        """Samples of the algorithms' own variables, if they were recorded."""
        return self.scan("internals").collect()

    @functools.cached_property
    def modes(self) -> pl.DataFrame:
        """Changes of the algorithms' modes, with their names and those of variables."""
        return readable(self.scan("modes"), self.scenario)

    @functools.cached_property
    def requests(self) -> pl.DataFrame:
        """Each finished request and transfer, with its latency."""
        return self.scan("requests").collect()

    def chart(self, what: Kind = "cwnd") -> alt.VConcatChart:
        """Draw one quantity over time: "cwnd", "goodput", "rtt" or "queue"."""
        from dumbbell.figures import charts  # noqa: PLC0415 - charts are drawn from runs

        return charts.draw(self, what)

    def _repr_html_(self) -> str:
        """Return what each flow achieved, for notebooks."""
        from dumbbell.quantities import run_totals  # noqa: PLC0415 - totals are taken of runs

        flows, length = run_totals.flows(self), format_time(self.summary.duration_ns)
        about = f"{self.summary.packets:,} packets in {length}, seed {self.scenario.seed}"
        return hypertext.summary(f"Run {self.key[:12]}", about, flows.heads, flows.rows)

    def __repr__(self) -> str:
        labels = ", ".join(flow.label for flow in self.scenario.flows)
        return f"<Run {self.key[:12]}: {labels}>"
