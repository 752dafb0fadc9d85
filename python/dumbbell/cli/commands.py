"""The command ``dumbbell``.

Results and JSON go to standard output, everything meant for people only to standard error. Exit
codes: 0 all is well, 1 a run failed or is invalid, a check failed or the testbed is not ready, 2
something that was asked for is impossible, 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from dumbbell import api, catalogue
from dumbbell import compare as comparing
from dumbbell.analysis.latency import latencies
from dumbbell.claims.verdicts import Verdict
from dumbbell.cli import cli_tables, own_commands, progress, run_command, validate_command
from dumbbell.cli.output import print_json, print_table, say, writing
from dumbbell.errors import DumbbellError, InputError
from dumbbell.figures import chart_compare, drawing
from dumbbell.report import claims_markdown, site
from dumbbell.results import Plan, Results, remembered
from dumbbell.running import captures, engines, machine
from dumbbell.running.engines import EngineName
from dumbbell.running.executor import Interrupted
from dumbbell.running.store import Store
from dumbbell.running.validity import RETRIES, described, reasons
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve import ResolvedScenario
from dumbbell.study.model import Study

app = typer.Typer(
    name="dumbbell",
    help="The gym for TCP congestion control.",
    epilog="Exit codes: 0 all is well, 1 a run failed or is invalid, 2 bad input, "
    "130 stopped by Ctrl-C.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
algorithms_app = typer.Typer(help="Congestion-control algorithms.", no_args_is_help=True)
app.add_typer(algorithms_app, name="algorithms")

DEFAULT_RESULTS: Final = Path("results")

StudyName = Annotated[str, typer.Argument(help="Name of the study, or its folder or file.")]
ResultsDir = Annotated[Path, typer.Option("--results", help="Results folder.")]
Jobs = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Runs at the same time; by default one per processor, on the testbed one alone.",
    ),
]
ChosenEngine = Annotated[
    EngineName,
    typer.Option(
        "--engine", help="What runs it: the simulator, or the testbed, which is the kernel's TCP."
    ),
]
Retries = Annotated[
    int, typer.Option(min=0, help="How often a run is repeated that the testbed marks invalid.")
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
        print_json(entries)
        return
    columns = list(entries[0]) if entries else []
    table = cli_tables.table(*columns)
    for entry in entries:
        table.add_row(*(str(value) for value in entry.values()))
    print_table(table)
    if what is Listed.ALGORITHMS:
        say.print("Whether the kernel's world is ready on this machine: dumbbell doctor")


def _studies() -> list[dict[str, Any]]:
    headers = [Study.load(name).header for name in Study.names()]
    return [{"name": header.name, "title": header.title, "year": header.year} for header in headers]


def _algorithms() -> list[dict[str, Any]]:
    return [
        {
            "name": algorithm.name,
            "title": algorithm.title,
            "family": algorithm.family,
            "year": algorithm.year,
            "worlds": ", ".join(algorithm.worlds),
            "presets": ", ".join(algorithm.preset_names),
            "source": algorithm.source,
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
    engine: ChosenEngine = EngineName.SIMULATOR,
    results: ResultsDir = DEFAULT_RESULTS,
    jobs: Jobs = None,
    retries: Retries = RETRIES,
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
    chosen = engines.named(engine)
    wanted = [
        run.on(chosen.identity) for run in loaded.runs(quick, _selection(where or []), runs, seed)
    ]
    if not wanted:
        raise InputError(
            "selects no run",
            source="--where",
            value=" ".join(where or []),
            valid="fewer conditions",
        )
    engines.runnable(chosen)
    plan = Plan(quick=quick, runs=runs, seed=seed)
    at_once = engines.jobs(chosen, jobs)
    outcome = run_command.run(
        loaded, wanted, Store(results), chosen, jobs=at_once, retries=retries, plan=plan
    )
    if outcome.failed or outcome.invalid:
        raise typer.Exit(1)
    where_from = engines.option(chosen)
    where_from += f" --results {results}" if results != DEFAULT_RESULTS else ""
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


@app.command()
def report(
    study: Annotated[
        str | None, typer.Argument(help="Name of the study, or its folder or file.")
    ] = None,
    *,
    every: Annotated[
        bool,
        typer.Option("--all", help="One site about all studies: those of `dumbbell list studies`."),
    ] = False,
    engine: ChosenEngine = EngineName.SIMULATOR,
    results: ResultsDir = DEFAULT_RESULTS,
    output: Annotated[Path, typer.Option(help="Folder of the report.")] = Path("report"),
) -> None:
    """Write the report of a study, or of all studies.

    It has all figures, claims and runs, works offline, and its place is printed.
    """
    if every == (study is not None):
        raise InputError(
            "say which study the report is about, or that it is about all",
            source="report",
            value=study,
            valid="dumbbell report STUDY, or dumbbell report --all",
        )
    with progress.steps("reading results", say) as step:
        if study is not None:
            reported = [_results(study, results, engine)]
            page = site.write(reported[0], output, on_step=step)
        else:
            reported, strangers = _all_results(results, engine)
            page = site.write_all(reported, output, step, strangers)
    for found in reported:
        run_command.tell_invalid(list(found.invalid.values()))
        run_command.tell([*found.damaged.values(), *found.failures.values()])
    print(page)


def _all_results(folder: Path, engine: EngineName) -> tuple[list[Results], list[str]]:
    """Return what a results folder holds of all studies, and of which others it has runs."""
    studies = [Study.load(name) for name in Study.names()]
    for number, study in enumerate(studies):
        for other in studies[:number]:
            if study.name == other.name:
                raise InputError(
                    "two studies have this name",
                    source="--all",
                    value=study.name,
                    valid="another name in the [study] table of one of them",
                )
    store = Store(folder)
    found = [Results(study, store, engine=engine) for study in studies]
    if all(each.is_empty for each in found):
        say.print(
            f"{folder} holds no run of any study by this engine ({engines.named(engine).identity})",
            markup=False,
            soft_wrap=True,
        )
    strangers = [name for name in remembered(store) if name not in {each.name for each in studies}]
    for name in strangers:
        say.print(
            f"{folder} also holds runs of {name}, which is not among the studies: "
            "dumbbell report PATH writes its report",
            markup=False,
            soft_wrap=True,
        )
    return found, strangers


def _results(study: str, folder: Path, engine: EngineName) -> Results:
    found = Results(Study.load(study), Store(folder), engine=engine)
    if found.is_empty:
        say.print(
            f"{folder} holds no run of {study} by this engine ({found.engine.identity}); "
            f"dumbbell run {study}{engines.option(found.engine)}",
            markup=False,
            soft_wrap=True,
        )
    return found


@app.command()
def claims(
    study: StudyName,
    engine: ChosenEngine = EngineName.SIMULATOR,
    results: ResultsDir = DEFAULT_RESULTS,
    as_json: AsJson = False,
    markdown: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.md", help="Write the verdicts and what they rest on to this file."
        ),
    ] = None,
) -> None:
    """Judge the claims of a study by its runs."""
    with progress.steps("reading results", say):
        found = _results(study, results, engine)
        judged = found.claims()
    if markdown is not None:
        with writing(markdown):
            markdown.write_text(claims_markdown.page(found, judged))
    counts = {verdict: sum(each.verdict == verdict for each in judged) for verdict in Verdict}
    if as_json:
        verdicts = {verdict.value: count for verdict, count in counts.items()}
        print_json(
            {
                "engine": found.engine.identity,
                "verdicts": verdicts,
                "claims": [each.as_dict() for each in judged],
                "invalid": list(found.invalid.values()),
            }
        )
        return
    run_command.tell_invalid(list(found.invalid.values()))
    print_table(cli_tables.claims(judged))
    print(
        f"{counts[Verdict.REPRODUCED]} of {len(judged)} reproduced, "
        f"{counts[Verdict.NOT_REPRODUCED]} not, {counts[Verdict.NOT_DECIDABLE]} not decidable"
    )


@app.command()
def simulate(
    scenario: Annotated[Path, typer.Argument(metavar="SCENARIO.toml", help="Scenario file.")],
    *,
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
    engine: ChosenEngine = EngineName.SIMULATOR,
    retries: Retries = RETRIES,
) -> None:
    """Run a single scenario file."""
    if trace is not None and trace.suffix != ".parquet":
        raise InputError(
            "not a Parquet file", source="--trace", value=str(trace), valid="*.parquet"
        )
    if pcap is not None and engine is not EngineName.SIMULATOR:
        raise InputError(
            "only the simulator captures packets",
            source="--pcap",
            value=str(pcap),
            valid=f"--engine {EngineName.SIMULATOR}",
        )
    resolved = Scenario.load(scenario).resolve(capture=pcap is not None)
    resolved = resolved.on(engines.named(engine).identity)
    files = None
    if pcap is not None:
        files = captures.paths(pcap)
        captures.check_size(resolved.data)
    doing = "simulating"
    if engine is EngineName.TESTBED:
        doing = f"on the testbed: {progress.announcement([resolved], 1)}"
    with progress.steps(doing, say):
        finished = api.simulate(resolved, engine=engine, retries=retries)
    if trace is not None:
        with writing(trace):
            finished.flows.write_parquet(trace)
    for file, content in zip(files or (), finished.captures or (), strict=True):
        with writing(file):
            file.write_bytes(content)
    if as_json:
        print_json(
            {
                "scenario": finished.scenario,
                "summary": finished.summary,
                "requests": latencies(finished).to_dicts(),
            }
        )
    else:
        for table in cli_tables.of_run(finished):
            print_table(table)
            print()
        print(cli_tables.size(finished))
    why = reasons(finished.summary)
    if why:
        say.print(described(resolved, why), markup=False, soft_wrap=True)
        raise typer.Exit(1)


@app.command()
def compare(
    algorithms: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ALGORITHM...", help="Algorithms, such as reno htcp@li2007 ./my_cc.c."
        ),
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
    engine: ChosenEngine = EngineName.SIMULATOR,
    results: ResultsDir = DEFAULT_RESULTS,
    jobs: Jobs = None,
    retries: Retries = RETRIES,
    figure: Annotated[
        Path, typer.Option(help="Where the figure goes: .html, .svg, .png or .json (Vega-Lite).")
    ] = Path("compare.html"),
    as_json: AsJson = False,
) -> None:
    """Compare algorithms on one path.

    Prints a table with 95 % intervals and draws a figure.
    """
    drawing.check_suffix(figure)

    def announce(missing: Sequence[ResolvedScenario]) -> None:
        if engine is EngineName.TESTBED:
            say.print(progress.announcement(missing, engines.jobs(engines.named(engine), jobs)))

    with progress.steps("running", say) as step:
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
            engine=engine,
            results=results,
            jobs=jobs,
            retries=retries,
            on_start=announce,
            on_progress=lambda state: step(f"{state.finished} of {state.total} runs"),
        )
    with writing(figure):
        drawing.save(chart_compare.draw(compared), figure)
    say.print(f"Figure: {figure}", soft_wrap=True)
    if as_json:
        print_json(compared.as_dict())
    else:
        print_table(cli_tables.comparison(compared))
    run_command.tell_invalid(compared.invalid)
    if compared.invalid:
        raise typer.Exit(1)


app.command()(validate_command.validate)
app.command()(own_commands.new)
app.command()(own_commands.check)


@algorithms_app.command("show")
def show_algorithm(
    name: Annotated[str, typer.Argument(metavar="NAME[@PRESET] | FILE.c")], as_json: AsJson = False
) -> None:
    """Say what an algorithm is, with its parameters."""
    algorithm, preset = catalogue.split_preset(name)
    if as_json:
        values = {parameter.name: parameter.initial for parameter in algorithm.parameters}
        values |= algorithm.preset(preset).values if preset else {}
        described = algorithm.model_dump(exclude={"code", "path"})
        described["worlds"] = algorithm.worlds
        described["notes"] = [
            {"kind": note.kind, "text": note.text} for note in algorithm.comment.notes
        ]
        print_json({**described, "preset": preset, "values": values})
        return
    print(f"{algorithm.name}: {algorithm.title} ({algorithm.family}, {algorithm.year})")
    print(algorithm.summary)
    print(f"Source: {algorithm.source}")
    print(f"Runs in: {', '.join(algorithm.worlds)}")
    for paragraph in algorithm.comment.paragraphs:
        print(f"\n{cli_tables.paragraph(paragraph)}")
    print()
    if algorithm.parameters:
        print_table(cli_tables.parameters(algorithm, preset))
    for each in algorithm.presets:
        print(f"Preset {algorithm.name}@{each.name}: {each.source}")
    if algorithm.info:
        print(f"Reports: {', '.join(algorithm.info)}")


@app.command()
def doctor(as_json: AsJson = False) -> None:
    """Say what this machine can do, and what it lacks for the testbed.

    The exit code is 0 if the testbed is ready, else 1.
    """
    found = machine.look()
    if as_json:
        print_json(found.model_dump())
    else:
        print_table(cli_tables.machine(found))
        print(f"The simulator works fully; {machine.verdict(found)}.")
    if not found.ready:
        raise typer.Exit(1)


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
