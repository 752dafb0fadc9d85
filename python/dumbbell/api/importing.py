"""A measurement of another tool, next to a simulated path like it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import polars as pl

from dumbbell.api import arguments
from dumbbell.api.arguments import Folder
from dumbbell.api.results import Results
from dumbbell.api.table import Table
from dumbbell.base.arguments import number, wrong
from dumbbell.execution.pools import Pool
from dumbbell.experiments.imports import beside, imported
from dumbbell.figures.kinds.measured import COMPARED, flow_means
from dumbbell.results.plans import Plan

_WHO: Final = {"label": pl.String, "algorithm": pl.String, "limited_by": pl.String}


class Measurement(Table):
    """A measurement by another tool, and the path that was fitted to it.

    Attributes
    ----------
    details
        All that was read: `dumbbell.experiments.imports.imported.Imported`.
    results
        The simulated runs, as those of a study; None before `simulate`.
    """

    def __init__(self, details: imported.Imported) -> None:
        self.details = details
        self.results: Results | None = None

    @property
    def scenario(self) -> dict[str, Any]:
        """The flows on the fitted path, with the keys of a scenario file: `simulate` takes it."""
        return self.details.scenario

    @property
    def path(self) -> pl.DataFrame:
        """The fitted path: ``name``, ``value`` and ``why``, the reason for each value."""
        names = ("name", "value", "why")
        rows = self.details.path.rows()
        return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each flow.

        ``label``, ``algorithm`` (null: datagrams), ``limited_by``, then ``goodput_mbit_per_s``,
        ``rtt_min_ms``, ``rtt_mean_ms`` and ``retransmitted_share``; null if the file does not
        contain it.
        """
        rows = []
        flows = zip(
            self.details.measured.flows,
            self.scenario["flow"],
            self.details.path.limits,
            strict=True,
        )
        for flow, spec, limit in flows:
            whole = beside.whole(flow)
            numbers = (whole.get(name) for name in COMPARED)
            rows.append((flow.label, spec.get("algorithm"), limit.kind, *numbers))
        schema = {**_WHO, **dict.fromkeys(COMPARED, pl.Float64)}
        return pl.DataFrame(rows, schema=schema, orient="row")

    def write(self, file: str | Path) -> None:
        """Write the scenario as a TOML file, with the reasons for its values."""
        self.details.write(Path(file))

    def simulate(
        self,
        runs: int = 3,
        *,
        results: Folder = "results",
        jobs: int | Pool | None = None,
        large: bool = False,
    ) -> pl.DataFrame:
        """Simulate the flows on the fitted path, and compare them with the measurement.

        Returns a row for each flow and quantity: ``label``, ``quantity``, ``measured`` and
        ``simulated`` (the mean of `runs` runs with different seeds); null where there is no value.
        The results folder keeps the runs.
        """
        store = arguments.store(results)
        campaign = self.details.campaign(store.root, Plan.requested(runs=number(runs, "runs", 1)))
        campaign.run(large=large, jobs=jobs, retries=0)
        self.results = kept = Results.holding(campaign.results())
        views = [view for _, view in kept.views("run", {})]
        rows = []
        for flow in self.details.measured.flows:
            whole, simulated = beside.whole(flow), flow_means(flow.label, views)
            rows += [(flow.label, name, whole.get(name), simulated[name]) for name in COMPARED]
        schema = {
            "label": pl.String,
            "quantity": pl.String,
            "measured": pl.Float64,
            "simulated": pl.Float64,
        }
        return pl.DataFrame(rows, schema=schema, orient="row")

    @property
    def _heading(self) -> tuple[str, str]:
        measured = self.details.measured
        about = f"{measured.tool}, {measured.duration_s:.4g} s"
        return measured.file.name, ". ".join([about, *measured.notes])


def read_measurement(
    file: str | Path,
    *,
    algorithm: str | None = None,
    rate: str | None = None,
    rtt: str | None = None,
    queue: str | None = None,
    loss: str | None = None,
) -> Measurement:
    """Read the measurement of another tool, and fit a path to it; nothing is run.

    Parameters
    ----------
    file
        Output of ``iperf3 --json``, a data file of Flent, or a pcap or pcapng file.
    algorithm
        Algorithm of all flows; None: the one that the file names.
    rate, rtt, queue, loss
        Values of the path; None: the fitted one.

    Returns
    -------
    Measurement
        A table with a row for each flow; `Measurement.simulate` runs the same on the fitted path.

    Raises
    ------
    InputError
        If the file cannot be read, or does not contain enough to fit a path.

    Examples
    --------
    >>> measured = dumbbell.read_measurement("iperf3.json")
    >>> measured.to_frame().height
    2
    """
    if not isinstance(file, str | Path):
        raise wrong("file", file, "not a file", "the path of a file")
    given = {"rate": rate, "rtt": rtt, "queue": queue, "loss": loss}
    known = {name: value for name, value in given.items() if value is not None}
    return Measurement(imported.Imported.read(Path(file), known, algorithm))
