"""The pages of a study's runs: a list for each test, and one page that shows any run.

Lists and runs are data in scripts. The address selects the rows of a list, and the run to show:
``runs/fairness.html#rate=10mbit`` and ``run.html#fairness/0123456789abcdef``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from dumbbell.algorithms.labels import label_of
from dumbbell.base.shell import quoted
from dumbbell.engines import engines
from dumbbell.figures.spec import BaseFigure
from dumbbell.plan import grid
from dumbbell.plan.expanding import PlannedRun
from dumbbell.plan.grid import Selection
from dumbbell.plan.tests import Test
from dumbbell.quantities.taking import described
from dumbbell.reports import run_data, scripts
from dumbbell.reports.columns import columns
from dumbbell.reports.pages import Pages, Place, fragment
from dumbbell.results.planned_runs import Listed, State
from dumbbell.results.plans import Plan
from dumbbell.results.results import Results

FOLDER: Final = "runs"
RUN_PAGE: Final = "run.html"

_DIGITS: Final = 5
_EVERY: Final = 50
"""Runs after which progress is reported."""


def list_path(test: str) -> str:
    """Return the path of a test's list from the study's folder."""
    return f"{FOLDER}/{test}.html"


def run_address(test: str, key: str) -> str:
    """Return the address of a run from the study's folder."""
    return f"{RUN_PAGE}#{test}/{run_data.short(key)}"


def write(
    results: Results, pages: Pages, home: Place, data_page: str, on_step: Callable[[str], None]
) -> None:
    """Write the lists, the page of runs and the file of each finished run.

    `data_page` is the page of the study that explains quantities.
    """
    tests = [test for test in results.study.tests if results.runs(test.name)]
    for test in tests:
        _write_list(results, test, pages, home, data_page)
    place = home.below("Run", home.sibling(RUN_PAGE))
    pages.write("run.html.j2", place, study=results.study, tests=tests, lists=FOLDER)
    keys = [run.resolved.key for test in tests for run in results.finished(test.name)]
    folder = (pages.output / home.path).parent
    unique = list(dict.fromkeys(keys))
    for done in run_data.write(results.store, unique, folder):
        if done % _EVERY == 0 or done == len(unique):
            on_step(f"{results.study.name}: time series of {done:,} of {len(unique):,} runs")


def _write_list(results: Results, test: Test, pages: Pages, home: Place, data_page: str) -> None:
    listed = results.runs(test.name)
    place = home.below(f"Runs: {test.name}", home.sibling(list_path(test.name)))
    pages.write(
        "runs.html.j2",
        place,
        study=results.study,
        test=test,
        states={state: sum(run.state is state for run in listed) for state in State},
        quick=any(run.plan.quick for run in listed),
        total=len(listed),
        has_data=bool(results.finished(test.name)),
        data_page=data_page,
    )
    script = scripts.call("dumbbellTest", content(results, test, listed))
    pages.write_text(home.sibling(f"{FOLDER}/{test.name}.js"), script)


def content(results: Results, test: Test, listed: Sequence[Listed]) -> Mapping[str, Any]:
    """Return the content of a list: axes, quantities, a row for each planned run."""
    shown, values = _shown(results, test)
    plans = list(dict.fromkeys(run.plan for run in listed))
    places = {
        axis: {value: number for number, value in enumerate(values)}
        for axis, values in test.axes.items()
    }
    return {
        "test": test.name,
        "title": test.title,
        "study": results.study.name,
        "command": command(results, test),
        "axes": [
            {"name": axis, "values": [[value, label_of(value), where] for value, where in choices]}
            for axis, choices in options_of(test)
        ],
        "quantities": [_described(results, column) for column in shown],
        "states": [str(state) for state in State],
        "plans": [{"quick": plan.quick, "options": options(plan)} for plan in plans],
        "rows": [_row(run, places, plans, values) for run in listed],
    }


def command(results: Results, test: Test) -> str:
    """Return the beginning of the command that runs grid points of a test."""
    engine = engines.option(results.engine)
    where = quoted(f"test={test.name}")
    return f"dumbbell run {results.study.called}{engine} --where {where}"


def options_of(test: Test) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield each axis with its values, and the option that selects each; empty for an only one."""
    for axis, values in test.axes.items():
        is_chosen = len(values) > 1
        yield (
            axis,
            [
                (value, f" --where {quoted(f'{axis}={value}')}" if is_chosen else "")
                for value in values
            ],
        )


def options(plan: Plan) -> str:
    """Return the options of the command for a plan, apart from those of its part."""
    quick = " --quick" if plan.quick else ""
    runs = f" --runs {plan.runs}" if plan.runs is not None else ""
    seed = f" --seed {plan.seed}" if plan.seed else ""
    return quick + runs + seed


def part(plan: Plan) -> str:
    """Return the options of the command for the part of a plan."""
    return "".join(f" --where {quoted(condition)}" for condition in plan.conditions)


def _described(results: Results, column: str) -> Mapping[str, str]:
    for derived in results.study.quantities:
        if derived.name == column:
            return {"name": column, "unit": derived.shown_unit, "what": derived.title}
    known = described(column)
    return {"name": column, "unit": known.unit, "what": known.what}


def _row(
    listed: Listed,
    places: Mapping[str, Mapping[str, int]],
    plans: Sequence[Plan],
    values: Mapping[tuple[str, tuple[str, ...]], Sequence[float | None]],
) -> list[Any]:
    """Return a row: places on the axes, repetition, key, state, plan, values, reason."""
    run = listed.run
    return [
        [places[axis][value] for axis, value in run.axes.items()],
        run.repetition,
        run_data.short(run.resolved.key),
        list(State).index(listed.state),
        plans.index(listed.plan),
        [scripts.rounded(value, _DIGITS) for value in values.get(_place(run), ())],
        *([listed.why] if listed.why else []),
    ]


def _place(run: PlannedRun) -> tuple[str, tuple[str, ...]]:
    return run.resolved.key, tuple(run.axes.values())


def _shown(
    results: Results, test: Test
) -> tuple[list[str], Mapping[tuple[str, tuple[str, ...]], Sequence[float | None]]]:
    """Return the quantities that a list shows, and their values by the places of finished runs.

    Quantities without any value are left out.
    """
    references = columns(results.study, test)
    table = results.table(test.name, references)
    shown = [column for column in references if table[column].count()]
    rows = table.select(shown).rows() if shown else [()] * table.height
    return shown, dict(zip(map(_place, results.finished(test.name)), rows, strict=True))


def links(results: Results, spec: BaseFigure) -> Iterator[tuple[str, str]]:
    """Yield the links from a figure to its runs: text, and address from the study's folder."""
    for behind in spec.behind():
        if behind.repetition is None:
            place = address(results, behind.test, behind.where)
        else:
            run = results.stored_run(behind.test, behind.where, behind.repetition)
            place = None if run is None else run_address(behind.test, run.key)
        if place is not None:
            yield behind.words, place


def address(results: Results, test: str, where: Selection) -> str | None:
    """Return the address of the selected runs of a test from the study's folder.

    None: none of its runs was planned.
    """
    if not results.runs(test):
        return None
    chosen = _spelled(results.study.test(test), where)
    return list_path(test) + (fragment(chosen) if chosen else "")


def _spelled(test: Test, where: Selection) -> Selection:
    """Return a selection with the values of the test's axes that match its values."""
    return {
        axis: [value for value in test.axes[axis] if grid.matches({axis: value}, {axis: wanted})]
        for axis, wanted in where.items()
    }
