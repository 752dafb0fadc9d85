"""Algorithms in turn in a scenario: that of a file, or one that ships.

Each takes the place of all flows that name no algorithm; other flows and all else stay. The results
are those of `dumbbell simulate` next to each other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from dumbbell.algorithms import catalogue
from dumbbell.algorithms.catalogue import Algorithm
from dumbbell.algorithms.labels import labels_of
from dumbbell.base.errors import DamagedResult, InputError, placed
from dumbbell.base.labels import listing
from dumbbell.base.units import parse_time
from dumbbell.engines.engine import Engine
from dumbbell.engines.result import Run
from dumbbell.experiments import outcomes
from dumbbell.experiments.mixes import named
from dumbbell.experiments.outcomes import Judged
from dumbbell.plan.tests import check_count
from dumbbell.quantities import run_totals, totals
from dumbbell.quantities.cells import Totals
from dumbbell.results import experiments
from dumbbell.results.campaign import Campaign
from dumbbell.results.plans import Plan
from dumbbell.results.results import Results
from dumbbell.scenario import facts, library, sampling
from dumbbell.scenario.model import Scenario
from dumbbell.store.store import Store

TEST: Final = "on"
"""The name of the test."""

_AXIS: Final = "algorithm"
_TRAFFIC: Final = ("flow", "arrivals")
_COMPARED: Final = "compared"
"""Name of the flows that have no label, which would be called by their algorithm."""


def campaign(
    algorithms: Sequence[str],
    scenario: Path,
    *,
    duration: str | None,
    runs: int,
    seed: int,
    store: Store,
    engine: Engine,
) -> Campaign:
    """Keep a comparison in a results folder and return what is to be run.

    `scenario` is a file, or the name of one that ships; a `duration` replaces its own.
    """
    check_count(runs)
    own_algorithms: dict[str, Algorithm] = {}
    with placed(key="algorithm"):
        names = {named(choice, own_algorithms): catalogue.anywhere(choice) for choice in algorithms}
    if not names:
        raise InputError("nothing to compare", key="algorithm", valid="reno htcp ...")
    file = library.file(scenario)
    table = Scenario.table(file)
    if duration is not None:
        with placed(key="duration"):
            parse_time(duration)
        table["duration"] = duration
    checked = [_checked(table, file, choice) for choice in names.values()]
    table = sampling.filled(table, sampling.chosen_ns(checked[0]))
    content = _content(names, file, table, _command(algorithms, scenario, duration))
    store.create()
    with placed(source=str(file)):
        return Campaign.of_experiment(content, store, engine, Plan.requested(runs=runs, seed=seed))


def _checked(table: Mapping[str, Any], file: Path, choice: str) -> Scenario:
    """Return the scenario with one of the algorithms.

    A wrong one is an InputError, and so is one in which all flows name their algorithms.
    """
    traffic = [flow for kind in _TRAFFIC for flow in table.get(kind, ())]
    tables = [flow for flow in traffic if isinstance(flow, Mapping)]
    if traffic and all(_AXIS in flow or flow.get("transport") == "udp" for flow in tables):
        raise InputError(
            "all its flows name their algorithms",
            source=str(file),
            valid="a flow without the key algorithm, which takes those that are compared",
        )
    return Scenario.parse({**table, _AXIS: choice}, str(file))


def _command(algorithms: Sequence[str], scenario: Path, duration: str | None) -> list[str]:
    length = [] if duration is None else ["--duration", duration]
    return ["compare", *algorithms, "--on", str(scenario), *length]


def _content(
    names: Mapping[str, str], file: Path, table: Mapping[str, Any], command: Sequence[str]
) -> dict[str, Any]:
    scenario = {key: value for key, value in table.items() if key != "seed"}
    title = str(table.get("title") or file.stem)
    test = {
        "name": TEST,
        "title": title,
        "seeds": "shared",
        "folder": str(file.parent.absolute()),
        "axes": {_AXIS: list(names.values()), **experiments.spelled(scenario)},
        "scenario": {**scenario, _AXIS: f"{{{_AXIS}}}"},
    }
    who = listing([*labels_of(names).values()])
    stated = outcomes.judged(file, scenario, list(names.values()), test=TEST, axis=_AXIS)
    return {
        **experiments.head(
            f"compare-{experiments.stem(file.stem)}",
            [test],
            command=command,
            title=f"{who} on {file.stem}",
            summary=title,
        ),
        "claim": list(stated.claims),
        "figure": list(experiments.of_traffic(scenario, TEST, _AXIS)),
    }


def judged(campaign: Campaign, scenario: Path) -> Judged:
    """Return what sources state of a comparison; `scenario` is that of its `campaign`."""
    (test,) = campaign.study.tests
    choices = list(test.axes[_AXIS])
    return outcomes.judged(library.file(scenario), test.scenario, choices, test=TEST, axis=_AXIS)


def compared(results: Results) -> Iterator[Totals]:
    """Yield the tables of the runs, with a row of each algorithm for each of `simulate`."""
    runs_by_choice = _runs(results)
    about = ""
    if runs_by_choice:
        runs = next(iter(runs_by_choice.values()))
        count = f"{len(runs)} {'run' if len(runs) == 1 else 'runs'} each"
        about = f"{results.study.header.summary}: {run_totals.path(runs[0])}; {count}."
    for place, table in enumerate(totals.beside(_tables_by_label(runs_by_choice))):
        yield replace(table, about=about if place == 0 else "")


def flows(results: Results) -> Totals | None:
    """Return the table of all flows, a row for each and algorithm; None if there are no runs."""
    tables = {label: of[0] for label, of in _tables_by_label(_runs(results)).items()}
    return totals.together(tables) if tables else None


def _runs(results: Results) -> dict[str, list[Run]]:
    """Return the runs of each algorithm."""
    runs: dict[str, list[Run]] = {}
    for planned in results.finished(TEST):
        # A result may go while it is read. The table still shows the others.
        with suppress(KeyError, DamagedResult):
            run = results.store.get(planned.resolved.key)
            runs.setdefault(planned.axes[_AXIS], []).append(run)
    return runs


def _tables_by_label(runs: Mapping[str, Sequence[Run]]) -> dict[str, list[Totals]]:
    """Return the tables of each algorithm, that of flows first."""
    labels = labels_of(runs)
    return {labels[choice]: list(_tables(of, choice)) for choice, of in runs.items()}


def _tables(runs: Sequence[Run], choice: str) -> Iterator[Totals]:
    """Yield the tables of an algorithm's runs; equal flows are one row, however few they are.

    A flow without a label is called by its algorithm. Here it has a name that all algorithms share,
    so that its rows stand next to each other.
    """
    name = _name(runs[0], choice)
    unnamed = re.compile(rf"{re.escape(name)}(?:( × .+)| \d+)")
    for table in run_totals.of_traffic(runs, few=1):
        rows = []
        for row in table.rows:
            match = unnamed.fullmatch(row[0])
            rows.append((f"{_COMPARED}{match[1] or ''}", *row[1:]) if match else row)
        yield replace(table, rows=tuple(rows))


def _name(run: Run, choice: str) -> str:
    """Return the name of a compared algorithm, without its preset; a C file declares its own."""
    if not catalogue.is_file(choice):
        return choice.partition("@")[0]
    names = {facts.algorithm(flow) for flow in run.scenario.flows} & {*run.scenario.sources}
    return min(names, default=choice)
