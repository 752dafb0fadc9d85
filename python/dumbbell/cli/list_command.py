"""``dumbbell list``: what there is."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from dumbbell.base.errors import InputError
from dumbbell.cli.output import Form, form, print_csv, print_json, print_lines, print_table, say
from dumbbell.cli.parameters import DEFAULT_RESULTS, AsCsv, AsJson, ResultsDir
from dumbbell.cli.tables import plain, table
from dumbbell.scenario import library
from dumbbell.study import experiment_names, files


class Listed(StrEnum):
    """Lists that the command can print."""

    STUDIES = "studies"
    ALGORITHMS = "algorithms"
    SCENARIOS = "scenarios"
    FIGURES = "figures"
    STACKS = "stacks"
    QUANTITIES = "quantities"
    SERIES = "series"
    RUNS = "runs"


_LONG: Final = ("presets", "source", "file", "outcomes")
"""Fields that only --json and other commands print."""

_RUNS_SHOWN: Final = 40
_DIGITS: Final = 8
"""Of a run's key, which `dumbbell open` takes; its seed and more are in --json and --csv."""


def list_things(
    what: Annotated[Listed, typer.Argument(help="Kind of list.")],
    results: ResultsDir = DEFAULT_RESULTS,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """List studies, scenarios, algorithms, figures, stacks, quantities, series, or stored runs.

    The list of runs shows only the newest; with --json and --csv it shows all.
    """
    chosen_form = form(as_json=as_json, as_csv=as_csv)
    if what is Listed.RUNS:
        _list_runs(results, chosen_form)
        return
    if what is Listed.SCENARIOS and chosen_form is Form.TABLE:
        _list_scenarios()
        return
    _print(_entries(what, results), chosen_form)
    if what is Listed.ALGORITHMS and chosen_form is Form.TABLE:
        say.print("`dumbbell doctor` shows whether the testbed is ready on this machine.")


def _print(entries: Iterable[Mapping[str, Any]], wanted: Form) -> None:
    rows = list(entries)
    if wanted is Form.JSON:
        print_json(rows)
        return
    columns = [name for name in (rows[0] if rows else ()) if name not in _LONG]
    if wanted is Form.CSV:
        print_csv(columns, ([entry[name] for name in columns] for entry in rows))
        return
    shown = table(*columns)
    for entry in rows:
        shown.add_row(*(plain("–" if entry[name] is None else entry[name]) for name in columns))
    print_table(shown)


def _list_runs(results: Path, wanted: Form) -> None:
    from dumbbell.cli import stored

    rows_of_runs = stored.runs(results)
    if wanted is not Form.TABLE:
        _print(rows_of_runs, wanted)
        return
    first = list(itertools.islice(rows_of_runs, _RUNS_SHOWN))
    if not first:
        say.print(f"{results} holds no runs: dumbbell simulate FILE", soft_wrap=True)
        return
    heads = ("run", "when", "Mbit/s", "RTT (ms)", "rate", "algorithms", "study")
    shown = table(*heads, right=("RTT (ms)", "Mbit/s"))
    for run in first:
        cells = {name: "–" if cell is None else cell for name, cell in run.items()}
        names = ("goodput (Mbit/s)", "rtt (ms)", "rate", "algorithms", "study")
        row = [plain(cells[name]) for name in names]
        shown.add_row(cells["run"][:_DIGITS], cells["when"][5:], *row)
    print_lines(shown, ("algorithms",))
    say.print("Mbit/s: the goodput of all flows together, over the whole run; --json: and more.")
    left = sum(1 for _ in rows_of_runs)
    say.print(
        f"{f'{left} older ones: --json or --csv. ' if left else ''}To see one: dumbbell open RUN",
        soft_wrap=True,
    )


def _entries(what: Listed, results: Path) -> list[dict[str, Any]]:
    by_kind: Mapping[Listed, Callable[[], Iterable[dict[str, Any]]]] = {
        Listed.STUDIES: lambda: _studies(results),
        Listed.SCENARIOS: _scenarios,
        Listed.ALGORITHMS: _algorithms,
        Listed.FIGURES: lambda: _figures(results),
        Listed.STACKS: _stacks,
        Listed.QUANTITIES: _quantities,
        Listed.SERIES: _series,
    }
    return list(by_kind[what]())


def _studies(results: Path) -> Iterator[dict[str, Any]]:
    for name in files.names():
        yield {**files.header(name)}
    for name in experiment_names.names(results):
        with _named():
            yield {**files.header(name, results)}


def _figures(results: Path) -> Iterator[dict[str, Any]]:
    for name in files.names():
        yield from ({"study": name, **figure} for figure in files.figures(name))
    for name in experiment_names.names(results):
        with _named():
            yield from ({"study": name, **figure} for figure in files.figures(name, results))


@contextmanager
def _named() -> Iterator[None]:
    """Say which experiment is left out, and why: it may be somebody else's."""
    try:
        yield
    except InputError as error:
        say.print(f"left out: {error}", soft_wrap=True)


def _scenarios() -> Iterator[dict[str, Any]]:
    """Yield each scenario with what sources state of it."""
    from dumbbell.experiments import outcomes

    for entry in library.entries():
        yield {**entry, "outcomes": [outcome.as_dict() for outcome in outcomes.of(entry["name"])]}


def _list_scenarios() -> None:
    """Print a line for each scenario, with the number of outcomes that sources state."""
    shown = table("name", "title", "outcomes", right=("outcomes",))
    for entry in _scenarios():
        shown.add_row(entry["name"], plain(entry["title"]), str(len(entry["outcomes"]) or "–"))
    print_lines(shown, ("title",))
    say.print("Outcomes: what sources state of it, which `simulate` and `compare --on` judge.")


def _algorithms() -> list[dict[str, Any]]:
    from dumbbell.algorithms import catalogue

    return [
        {
            "name": algorithm.name,
            "title": algorithm.title,
            "family": algorithm.family,
            "year": algorithm.year,
            "engines": ", ".join(algorithm.engines),
            "presets": ", ".join(algorithm.preset_names),
            "source": algorithm.source,
        }
        for algorithm in catalogue.algorithms().values()
    ]


def _stacks() -> list[dict[str, Any]]:
    from dumbbell.algorithms import catalogue

    profiles = catalogue.stacks().profiles
    return [{"name": name, "summary": stack.summary} for name, stack in profiles.items()]


def _quantities() -> list[dict[str, Any]]:
    from dumbbell.quantities.registry import quantities

    return [
        {
            "name": quantity.name,
            "unit": quantity.unit,
            "of each": ", ".join(quantity.per),
            "what": quantity.what,
        }
        for quantity in quantities().values()
    ]


def _series() -> list[dict[str, Any]]:
    from dumbbell.quantities import series

    known = {**series.SERIES, **{name: series.named(name) for name in _exported()}}
    return [{"name": name, "title": kind.title, "unit": kind.unit} for name, kind in known.items()]


def _exported() -> list[str]:
    """Return the names of series of what algorithms export."""
    from dumbbell.quantities import series

    return [f"{series.STATE}:{variable}" for variable in series.exported()]
