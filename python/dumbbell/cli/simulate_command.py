"""``dumbbell simulate``: a single scenario file is run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dumbbell.base.errors import InputError, refusing
from dumbbell.cli.output import Form, form, say
from dumbbell.cli.parameters import (
    DEFAULT_RESULTS,
    AsCsv,
    AsJson,
    Changes,
    ChosenEngine,
    FileDuration,
    FileSeed,
    Jobs,
    Large,
    ReportDir,
    ResultsDir,
    Retries,
    ScenarioFile,
)
from dumbbell.engines.choices import RETRIES, EngineName

if TYPE_CHECKING:
    from dumbbell.experiments.phases import Spread


def simulate(
    scenario: ScenarioFile,
    *,
    changes: Changes = None,
    duration: FileDuration = None,
    seed: FileSeed = None,
    runs: Annotated[
        int,
        typer.Option(
            min=1, help="Repetitions: the first has the seed, the others seeds drawn from it."
        ),
    ] = 1,
    report: ReportDir = None,
    results: ResultsDir = DEFAULT_RESULTS,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    tables: Annotated[
        Path | None,
        typer.Option(
            metavar="NAME.csv",
            help="Write all that was recorded, a file for each table: NAME-flows.csv, "
            "NAME-modes.csv and so on; or Parquet, with NAME.parquet.",
        ),
    ] = None,
    pcap: Annotated[
        Path | None,
        typer.Option(
            metavar="NAME",
            help="Write all packets for Wireshark to NAME-sender.pcapng and NAME-receiver.pcapng, "
            "as the sending and as the receiving hosts see them.",
        ),
    ] = None,
    pcap_flow: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LABEL", help="With --pcap, only the packets of this flow; may be repeated."
        ),
    ] = None,
    pcap_from: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="With --pcap, only opening handshakes and the packets from this time on, such as "
            "2s.",
        ),
    ] = None,
    pcap_to: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="With --pcap, only the packets before this time."),
    ] = None,
    perturb: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Run it N more times with RTTs slightly longer and the clocks of hosts slightly "
            "wrong, and show the change of each flow's goodput. This changes the phase of packets "
            "and almost nothing else.",
        ),
    ] = None,
    engine: ChosenEngine = EngineName.SIMULATOR,
    retries: Retries = RETRIES,
    jobs: Jobs = None,
    large: Large = False,
) -> None:
    """Run a single scenario, or show it again.

    The results folder keeps all runs, and the same command does not run them again. `dumbbell open`
    shows it: flows and repetitions over time, losses, and how delays are distributed. --csv prints
    the table of its flows, --json prints all its tables, and --tables writes what was recorded.
    """
    chosen_form = form(as_json=as_json, as_csv=as_csv)
    if chosen_form is Form.CSV and perturb is not None:
        raise InputError("does not go with --perturb", source="--csv", valid="--json")
    _check_options(tables, pcap, engine, runs)
    if pcap is None:
        _check_alone({"--pcap-flow": pcap_flow, "--pcap-from": pcap_from, "--pcap-to": pcap_to})
    from dumbbell.cli import campaign, consent, pages, progress, simulated
    from dumbbell.engines import engines, written
    from dumbbell.experiments import phases, scenario_files
    from dumbbell.plan.tests import check_count
    from dumbbell.results.plans import Plan
    from dumbbell.scenario.changes import parsed
    from dumbbell.store.store import Store

    if tables is not None:
        written.check(tables)
    check_count(perturb or 0)
    made = parsed(changes or [])
    read = scenario_files.read(scenario, made, duration, seed, command="simulate")
    part = simulated.Wanted(pcap_flow or [], pcap_from, pcap_to)
    capture = None if pcap is None else simulated.Capture.prepared(pcap, read, read.seed, part)
    campaign_of_runs = read.campaign(
        Store(results), engines.named(engine), Plan.requested(seed=read.seed, runs=runs)
    )
    if capture is not None:
        capture.write(campaign_of_runs)
    outcome = campaign.run(
        campaign_of_runs, jobs=jobs, retries=retries, large=large, brief=True, whole=True
    )
    finished = simulated.finished(campaign_of_runs)
    if finished and tables is not None:
        for name, frame in written.tables(finished[0][1]):
            with refusing("write it", file := written.path(tables, name)):
                written.write(frame, file)
    spreads: Sequence[Spread] = ()
    if finished and perturb is not None:
        resolved, run = finished[0][0].resolved, finished[0][1]

        def perturbed(meant: bool) -> Sequence[Spread]:
            with progress.steps("simulating", say):
                return phases.perturb(
                    resolved, run, perturb, engine=engine, retries=retries, jobs=jobs, large=meant
                )

        spreads = consent.asking(perturbed, large=large)
    runs_shown = [run for _, run in finished]
    simulated.show(campaign_of_runs, runs_shown, read, spreads, chosen_form)
    pages.tell(campaign_of_runs, report)
    if outcome.failed or outcome.invalid:
        raise typer.Exit(1)


def _check_alone(of_captures: Mapping[str, object]) -> None:
    """Refuse options about captures if there are none."""
    for option, value in of_captures.items():
        if value:
            raise InputError("is of captures", source=option, valid="with --pcap NAME")


def _check_options(tables: Path | None, pcap: Path | None, engine: EngineName, runs: int) -> None:
    if pcap is not None and engine is not EngineName.SIMULATOR:
        raise InputError(
            "only the simulator captures packets",
            source="--pcap",
            value=str(pcap),
            valid=f"--engine {EngineName.SIMULATOR}",
        )
    for option, value in (("--tables", tables), ("--pcap", pcap)):
        if value is not None and runs > 1:
            raise InputError(
                "is of one run", source=option, value=str(value), valid="--runs 1, with its --seed"
            )
