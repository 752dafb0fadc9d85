"""The command ``dumbbell``.

Results and JSON go to standard output, everything meant for people only to standard error. Exit
codes: 0 all is well, 1 a run failed or a check is outside its tolerance, 2 something that was asked
for is impossible, 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from dumbbell import api, catalogue
from dumbbell import compare as comparing
from dumbbell.analysis.latency import latencies
from dumbbell.claims.verdicts import Verdict
from dumbbell.cli import cli_tables, progress, validate_command
from dumbbell.cli.output import print_json as _print_json
from dumbbell.cli.output import print_table as _print_table
from dumbbell.cli.output import say
from dumbbell.cli.output import writing as _writing
from dumbbell.errors import DumbbellError, InputError
from dumbbell.figures import chart_compare, drawing
from dumbbell.report import site
from dumbbell.results import Plan, Results, remember
from dumbbell.running import captures
from dumbbell.running.engine import SimulatorEngine
from dumbbell.running.executor import Interrupted, Outcome, Progress, execute
from dumbbell.running.store import Store
from dumbbell.scenario.model import Scenario
from dumbbell.study.model import Study, scenarios

app = typer.Typer(
    name="dumbbell",
    help="The gym for TCP congestion control.",
    epilog="Exit codes: 0 all is well, 1 a run failed, 2 bad input, 130 stopped by Ctrl-C.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
algorithms_app = typer.Typer(help="Congestion-control algorithms.", no_args_is_help=True)
app.add_typer(algorithms_app, name="algorithms")

DEFAULT_RESULTS: Final = Path("results")
_FAILURES_SHOWN: Final = 10

StudyName = Annotated[str, typer.Argument(help="Name of the study, or its folder or file.")]
ResultsDir = Annotated[Path, typer.Option("--results", help="Results folder.")]
Jobs = Annotated[
    int | None, typer.Option(min=1, help="Runs at the same time; by default one per processor.")
]
AsJson = Annotated[bool, typer.Option("--json", help="JSON on standard output.")]


class Listed(StrEnum):
    """What can be listed."""

    STUDIES = "studies"
    ALGORITHMS = "algorithms"
    FIGURES = "figures"
    STACKS = "stacks"


@app.command("list")
def list_things(
    what: Annotated[Listed, typer.Argument(help="What to list.")], as_json: AsJson = False
) -> None:
    """List studies, algorithms, figures or TCP stacks."""
    entries = _LISTINGS[what]()
    if as_json:
        _print_json(entries)
        return
    columns = list(entries[0]) if entries else []
    table = cli_tables.table(*columns)
    for entry in entries:
        table.add_row(*(str(value) for value in entry.values()))
    _print_table(table)


def _studies() -> list[dict[str, Any]]:
    headers = [Study.load(name).header for name in Study.names()]
    return [{"name": header.name, "title": header.title, "year": header.year} for header in headers]


def _algorithms() -> list[dict[str, Any]]:
    return [
        {
            "name": algorithm.name,
            "title": algorithm.title,
            "year": algorithm.year,
            "presets": ", ".join(algorithm.preset_names),
            "summary": algorithm.summary,
        }
        for algorithm in catalogue.algorithms().values()
    ]


def _figures() -> list[dict[str, Any]]:
    return [
        {"study": name, "name": figure.name, "title": figure.title}
        for name in Study.names()
        for figure in Study.load(name).figures
    ]


def _stacks() -> list[dict[str, Any]]:
    profiles = catalogue.stacks().profiles
    return [{"name": name, "summary": stack.summary} for name, stack in profiles.items()]


_LISTINGS: Final[Mapping[Listed, Callable[[], list[dict[str, Any]]]]] = {
    Listed.STUDIES: _studies,
    Listed.ALGORITHMS: _algorithms,
    Listed.FIGURES: _figures,
    Listed.STACKS: _stacks,
}


@app.command()
def run(
    study: StudyName,
    *,
    quick: Annotated[
        bool, typer.Option("--quick", help="Only a representative part, in a few minutes.")
    ] = False,
    results: ResultsDir = DEFAULT_RESULTS,
    jobs: Jobs = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE",
            help="Only these grid points, such as algorithm=htcp, rtt=42ms,82ms or test=fairness; "
            "may be repeated.",
        ),
    ] = None,
    runs: Annotated[
        int | None, typer.Option(min=1, help="Repetitions, instead of the study's own number.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Where the seeds of all runs come from.")] = 0,
) -> None:
    """Run a study, or go on with it.

    Finished runs are kept and never run again: the same command resumes.
    """
    loaded = Study.load(study)
    planned = scenarios(loaded.runs(quick, _selection(where or []), runs, seed))
    if not planned:
        raise InputError(
            "selects no run",
            source="--where",
            value=" ".join(where or []),
            valid="fewer conditions",
        )
    store = Store(results)
    plan = Plan(quick=quick, runs=runs, seed=seed)
    started_s = time.monotonic()
    with progress.shown(planned, say) as display:

        def follow(state: Progress) -> None:
            if state.done + state.reused == 1:
                remember(store, loaded, plan)
            display(state)

        outcome = execute(planned, store, SimulatorEngine(), _jobs(jobs), follow)
    _tell(outcome, time.monotonic() - started_s)
    if outcome.failed:
        raise typer.Exit(1)
    where_from = f" --results {results}" if results != DEFAULT_RESULTS else ""
    say.print(
        f"Results are in {results}. Next: dumbbell report {study}{where_from}", soft_wrap=True
    )


def _selection(conditions: Sequence[str]) -> dict[str, str | list[str]]:
    """Read ``axis=value,value``; conditions on the same axis add up."""
    selected: dict[str, list[str]] = {}
    for condition in conditions:
        axis, equals, values = condition.partition("=")
        if not equals or not axis.strip() or not values.strip():
            raise InputError(
                "not a condition", source="--where", value=condition, valid="algorithm=htcp"
            )
        wanted = [value.strip() for value in values.split(",")]
        selected.setdefault(axis.strip(), []).extend(wanted)
    return dict(selected)


def _jobs(jobs: int | None) -> int:
    return jobs or _processors()


def _processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _tell(outcome: Outcome, elapsed_s: float) -> None:
    say.print(
        f"{len(outcome.done)} run, {len(outcome.reused)} reused, {len(outcome.failed)} failed "
        f"in {progress.duration(elapsed_s)}"
    )
    for _, error in outcome.failed[:_FAILURES_SHOWN]:
        _complain(error)
    if len(outcome.failed) > _FAILURES_SHOWN:
        say.print(f"... and {len(outcome.failed) - _FAILURES_SHOWN} more")


@app.command()
def report(
    study: StudyName,
    results: ResultsDir = DEFAULT_RESULTS,
    output: Annotated[Path, typer.Option(help="Folder of the report.")] = Path("report"),
) -> None:
    """Write the report of a study.

    It has all figures and claims, works offline, and its place is printed.
    """
    found = _results(study, results)
    with say.status("reading results") as status:
        page = site.write(found, output, on_step=status.update)
    print(page)


def _results(study: str, folder: Path) -> Results:
    found = Results(Study.load(study), Store(folder))
    if not any(counts.finished for counts in found.counts):
        say.print(
            f"{folder} holds no run of {study} by this engine ({catalogue.ENGINE_VERSION}); "
            f"dumbbell run {study}",
            markup=False,
            soft_wrap=True,
        )
    return found


@app.command()
def claims(
    study: StudyName, results: ResultsDir = DEFAULT_RESULTS, as_json: AsJson = False
) -> None:
    """Judge the claims of a study by its runs."""
    with say.status("reading results"):
        judged = _results(study, results).claims()
    counts = {verdict: sum(each.verdict == verdict for each in judged) for verdict in Verdict}
    if as_json:
        verdicts = {verdict.value: count for verdict, count in counts.items()}
        _print_json({"verdicts": verdicts, "claims": [each.as_dict() for each in judged]})
        return
    _print_table(cli_tables.claims(judged))
    print(
        f"{counts[Verdict.REPRODUCED]} of {len(judged)} reproduced, "
        f"{counts[Verdict.NOT_REPRODUCED]} not, {counts[Verdict.NOT_DECIDABLE]} not decidable"
    )


@app.command()
def simulate(
    scenario: Annotated[Path, typer.Argument(metavar="SCENARIO.toml", help="Scenario file.")],
    as_json: AsJson = False,
    trace: Annotated[
        Path | None,
        typer.Option(metavar="FILE.parquet", help="Write the samples of all flows to this file."),
    ] = None,
    pcap: Annotated[
        Path | None,
        typer.Option(
            metavar="NAME",
            help="Write all packets for Wireshark to NAME-sender.pcapng and NAME-receiver.pcapng, "
            "as the sending and as the receiving hosts see them.",
        ),
    ] = None,
) -> None:
    """Run a single scenario file."""
    if trace is not None and trace.suffix != ".parquet":
        raise InputError(
            "not a Parquet file", source="--trace", value=str(trace), valid="*.parquet"
        )
    resolved = Scenario.load(scenario).resolve(capture=pcap is not None)
    files = None
    if pcap is not None:
        files = captures.paths(pcap)
        captures.check_size(resolved.data)
    with say.status("simulating"):
        finished = api.simulate(resolved)
    if trace is not None:
        with _writing(trace):
            finished.flows.write_parquet(trace)
    for file, content in zip(files or (), finished.captures or (), strict=True):
        with _writing(file):
            file.write_bytes(content)
    if as_json:
        _print_json(
            {
                "scenario": finished.scenario,
                "summary": finished.summary,
                "requests": latencies(finished).to_dicts(),
            }
        )
        return
    for table in cli_tables.of_run(finished):
        _print_table(table)
        print()
    print(cli_tables.size(finished))


@app.command()
def compare(
    algorithms: Annotated[
        list[str] | None,
        typer.Argument(metavar="ALGORITHM...", help="Algorithms, such as reno htcp@li2007."),
    ] = None,
    *,
    rate: Annotated[str, typer.Option(help="Rate of the bottleneck, such as 250mbit.")],
    rtt: Annotated[str, typer.Option(help="Two-way propagation time, such as 162ms.")],
    buffer: Annotated[
        str, typer.Option(help="Queue of the bottleneck: 175p, 256kb, 10ms or 0.2bdp.")
    ] = "1bdp",
    loss: Annotated[str, typer.Option(help="Probability of random loss.")] = "0",
    flows: Annotated[
        str,
        typer.Option(
            metavar="N | MIX",
            help="Flows of each algorithm; or a mix such as cubic:1,bic:2 that runs too.",
        ),
    ] = "2",
    duration: Annotated[str, typer.Option(help="Length of a run.")] = "60s",
    runs: Annotated[int, typer.Option(help="Repetitions with different seeds.")] = 5,
    seed: Annotated[int, typer.Option(min=0, help="Where all seeds come from.")] = 0,
    stack: Annotated[str, typer.Option(help="TCP stack of the hosts.")] = "linux-6",
    results: ResultsDir = DEFAULT_RESULTS,
    jobs: Jobs = None,
    figure: Annotated[
        Path, typer.Option(help="Where the figure goes: .html, .svg, .png or .json (Vega-Lite).")
    ] = Path("compare.html"),
    as_json: AsJson = False,
) -> None:
    """Compare algorithms on one path.

    Prints a table with 95 % intervals and draws a figure.
    """
    drawing.check_suffix(figure)
    with say.status("simulating") as status:
        compared = comparing.compare(
            algorithms or [],
            rate=rate,
            rtt=rtt,
            buffer=buffer,
            loss=loss,
            flows=flows,
            duration=duration,
            runs=runs,
            seed=seed,
            stack=stack,
            results=results,
            jobs=_jobs(jobs),
            on_progress=lambda state: status.update(f"{state.finished} of {state.total} runs"),
        )
    with _writing(figure):
        drawing.save(chart_compare.draw(compared), figure)
    say.print(f"Figure: {figure}", soft_wrap=True)
    if as_json:
        _print_json(compared.as_dict())
        return
    _print_table(cli_tables.comparison(compared))


app.command()(validate_command.validate)


@algorithms_app.command("show")
def show_algorithm(
    name: Annotated[str, typer.Argument(metavar="NAME[@PRESET]")], as_json: AsJson = False
) -> None:
    """Say what an algorithm is, with its parameters."""
    algorithm, preset = catalogue.split_preset(name)
    if as_json:
        values = {parameter.name: parameter.initial for parameter in algorithm.parameters}
        values |= algorithm.preset(preset).values if preset else {}
        _print_json({**algorithm.model_dump(), "preset": preset, "values": values})
        return
    print(f"{algorithm.name}: {algorithm.title} ({algorithm.family}, {algorithm.year})")
    print(algorithm.summary)
    print(f"Source: {algorithm.source}")
    if algorithm.parameters:
        _print_table(cli_tables.parameters(algorithm, preset))
    for each in algorithm.presets:
        print(f"Preset {algorithm.name}@{each.name}: {each.source}")
    if algorithm.info:
        print(f"Reports: {', '.join(algorithm.info)}")


def _complain(error: Exception) -> None:
    text = str(error) or type(error).__name__
    say.print(f"error: {text}", markup=False, soft_wrap=True)


def main() -> None:
    """Run the command and exit with its code."""
    try:
        app(prog_name="dumbbell")
    except Interrupted as stopped:
        say.print(str(stopped), markup=False, soft_wrap=True)
        sys.exit(stopped.exit_code)
    except DumbbellError as error:
        _complain(error)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
