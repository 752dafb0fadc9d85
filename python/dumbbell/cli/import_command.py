"""``dumbbell import``: what another tool measured, next to a simulated run of a path like it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dumbbell.cli.parameters import (
    DEFAULT_RESULTS,
    AsJson,
    Jobs,
    Large,
    ReportDir,
    ResultsDir,
)


def import_measurement(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="Output of `iperf3 --json`, a data file of Flent, or a pcap or pcapng file;"
            " or a network: lines of tc, or a trace of TheaterQ.",
        ),
    ],
    *,
    algorithm: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Algorithm of all flows, if not the one that the file names; ./NAME.c for"
            " a user-defined one.",
        ),
    ] = None,
    rate: Annotated[
        str | None, typer.Option(help="Rate of the path, instead of the fitted one: 100mbit.")
    ] = None,
    rtt: Annotated[
        str | None, typer.Option(help="RTT without a queue, instead of the shortest one: 40ms.")
    ] = None,
    queue: Annotated[
        str | None, typer.Option(help="Buffer, instead of the fitted one: 100p, 256kb, 0.5bdp.")
    ] = None,
    loss: Annotated[
        str | None, typer.Option(help="Probability of loss, instead of the fitted one: 1e-5.")
    ] = None,
    scenario: Annotated[
        Path | None,
        typer.Option(
            metavar="NAME.toml", help="Write path and flows as a scenario file, to start from."
        ),
    ] = None,
    fit_only: Annotated[
        bool, typer.Option("--fit-only", help="Print the measured and fitted values; run nothing.")
    ] = False,
    runs: Annotated[int, typer.Option(min=1, help="Simulated runs, with different seeds.")] = 3,
    report: ReportDir = None,
    results: ResultsDir = DEFAULT_RESULTS,
    as_json: AsJson = False,
    jobs: Jobs = None,
    large: Large = False,
) -> None:
    """Import a measurement, to see how similar its path is to a model of it.

    Prints what the flows of the file achieved, fits a path (rate, base RTT, buffer, loss) and names
    the evidence for each value. Then it simulates the same flows on that path, and shows both next
    to each other. For a network that tc or TheaterQ describes, it prints the scenario and runs
    nothing.
    """
    from dumbbell.cli import campaign, importing, pages
    from dumbbell.experiments.imports.described.network import Described
    from dumbbell.results.plans import Plan

    options = {"rate": rate, "rtt": rtt, "queue": queue, "loss": loss}
    given = {name: value for name, value in options.items() if value is not None}
    if (described := Described.read(file, given, algorithm)) is not None:
        importing.show_described(described, scenario, as_json=as_json)
        return
    measurement = importing.Imported.read(file, given, algorithm)
    if scenario is not None:
        measurement.write(scenario)
    if not as_json:
        measurement.show()
    if fit_only:
        if as_json:
            measurement.print_json(None)
        return
    campaign_of_runs = measurement.campaign(results, Plan.requested(runs=runs))
    outcome = campaign.run(campaign_of_runs, jobs=jobs, retries=0, large=large, brief=True)
    if as_json:
        measurement.print_json(campaign_of_runs.results())
    else:
        measurement.compare(campaign_of_runs.results())
    pages.tell(campaign_of_runs, report)
    if outcome.failed:
        raise typer.Exit(1)
