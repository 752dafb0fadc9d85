"""One finished run as engines return it and stores keep it: its summary and its tables."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Self

import polars as pl

from dumbbell.algorithms import catalogue
from dumbbell.base.errors import unknown
from dumbbell.contract.scenario import Scenario
from dumbbell.contract.summary import Summary
from dumbbell.engines.engine import Output, empty_frame
from dumbbell.scenario import facts
from dumbbell.scenario.resolve import ResolvedScenario


class Run:
    """A finished run.

    Attributes
    ----------
    key
        The digest of the scenario and the engine, under which a store keeps it.
    scenario
        The resolved scenario: plain integers in nanoseconds, bits per second and bytes.
    summary
        Counts and means of the whole run, by flow and by queue.
    lazy_tables
        The raw tables by their names, as `scan` reads them.
    captures
        The packets that the sending and the receiving hosts saw, as two pcapng files; None unless
        the scenario was resolved with ``capture=True``. No store keeps them.
    """

    def __init__(
        self,
        key: str,
        scenario: Scenario,
        summary: Summary,
        lazy_tables: Mapping[str, pl.LazyFrame],
        captures: tuple[bytes, bytes] | None = None,
    ) -> None:
        self.key = key
        self.scenario = scenario
        self.summary = summary
        self.captures = captures
        self.lazy_tables = lazy_tables

    @classmethod
    def of(cls, scenario: ResolvedScenario, output: Output) -> Self:
        """Wrap the output of an engine."""
        tables = {name: table.lazy() for name, table in output.tables.items()}
        return cls(scenario.key, scenario.scenario, output.summary, tables, output.captures)

    def scan(self, table: str, *, named: bool = True) -> pl.LazyFrame:
        """Return a raw table lazily; reading it touches only the needed columns and rows.

        Tables with a `flow` column get the columns `label` and `algorithm`. ``named=False`` leaves
        them out, which is quicker. An unknown table is an InputError.
        """
        frame = self.lazy_tables.get(table)
        if frame is None:
            if table not in catalogue.schema().tables:
                raise unknown("table", table, catalogue.schema().tables)
            frame = empty_frame(table).lazy()
        if named and "flow" in frame.collect_schema().names():
            return frame.join(self._names, on="flow", how="left", maintain_order="left")
        return frame

    @functools.cached_property
    def tables(self) -> Mapping[str, pl.DataFrame]:
        """The raw tables by their names, each read once, when it is first used."""
        return _Tables(self)

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

    def __repr__(self) -> str:
        labels = ", ".join(flow.label for flow in self.scenario.flows)
        return f"<Run {self.key[:12]}: {labels}>"


class _Tables(Mapping[str, pl.DataFrame]):
    """The tables of a run; an unknown name is an InputError."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._read: dict[str, pl.DataFrame] = {}

    def __getitem__(self, name: str) -> pl.DataFrame:
        if name not in self._read:
            self._read[name] = self._run.scan(name).collect()
        return self._read[name]

    def __contains__(self, name: object) -> bool:
        return name in catalogue.schema().tables

    def __iter__(self) -> Iterator[str]:
        return iter(catalogue.schema().tables)

    def __len__(self) -> int:
        return len(catalogue.schema().tables)

    def __repr__(self) -> str:
        return f"<tables {', '.join(self)}>"
