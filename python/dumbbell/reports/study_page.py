"""The pages of a study: its results, its figures, its checks, and the data of all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from dumbbell.algorithms.head_comments import Kind, Paragraph
from dumbbell.engines import engines
from dumbbell.experiments import outcomes
from dumbbell.judging.judging import ClaimResult, by_verdict, headline
from dumbbell.judging.spec import Measured
from dumbbell.quantities.reference import parse
from dumbbell.quantities.registry import quantity
from dumbbell.reports import (
    beside_original,
    cross_links,
    effect_chart,
    own_tables,
    pictures,
    run_pages,
    scripts,
    stamp,
    study_text,
    test_sections,
)
from dumbbell.reports.columns import columns
from dumbbell.reports.pages import Pages, Place
from dumbbell.reports.report_tables import claims_frame
from dumbbell.reports.study_text import StudyText
from dumbbell.reports.test_sections import Step
from dumbbell.results.account import Account
from dumbbell.results.planned_runs import Counts
from dumbbell.results.results import Results

_QUIRKS: Final[Mapping[str, str]] = {
    "RNG": "chance, so that it needs many runs",
    "SW": "the authors' path or switches, of which too little is known",
    "KERN": "the kernel that the authors used",
    "NIC": "the authors' network cards",
    "CRC": "the bit errors of the authors' rings",
    "SIM": "the simulator that the authors used, which they do not name",
    "INT-FAST": "how FAST's thresholds are read",
}
"""Meaning of the quirks in study files, as the end of a sentence."""


@dataclass(frozen=True)
class Parts:
    """Where the parts of a study lie, in its folder: its tests with figures, and its checks."""

    figures: str
    checks: str


_PAGES: Final = Parts("figures.html", "checks.html")
_ONE_PAGE: Final = Parts("index.html", "index.html")


def parts_of(results: Results) -> Parts:
    """Return where the parts of a study lie; those of an experiment are on one page."""
    return _ONE_PAGE if results.study.header.command else _PAGES


@dataclass(frozen=True)
class Drawn:
    """The figure of effect sizes: its name, and the size of its picture."""

    name: str
    width: int
    height: int


def write(results: Results, account: Account, pages: Pages, place: Place, on_step: Step) -> Path:
    """Write the page of a study, and all below it, into the page's folder."""
    folder = (pages.output / place.path).parent
    for name in ("figures", "data"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    write_claims(account.claims, folder / "data" / "claims")
    tests = results.study.tests
    fork = beside_original.of_fork(results, folder, on_step)
    figures = None if fork is None else fork.figures
    sections = [test_sections.of_test(results, test, folder, on_step, figures) for test in tests]
    run_pages.write(results, pages, place, parts_of(results).checks, on_step)
    content = {**_facts(results), "sections": sections}
    if command := results.study.header.command:
        is_simulation = command.startswith("dumbbell simulate")
        return pages.write(
            "experiment.html.j2",
            place,
            stamp=stamp.of(results, place, folder),
            own_totals=list(own_tables.of_experiment(results)),
            verdict=" ".join(own_tables.verdict(results)),
            outcomes=_outcomes(account) if fork is None else [],
            packets=_packets_command(results) if is_simulation else None,
            fork=fork,
            claims=account.claims if fork is not None else (),
            **content,
        )
    names = [spec.name for spec in results.study.figures]
    claims_of = test_sections.claims_of_figures(account.claims, names)
    below = partial(_below, place)
    pages.write("figures.html.j2", below("Figures", _PAGES.figures), claims_of=claims_of, **content)
    pages.write(
        "checks.html.j2", below("Checks", _PAGES.checks), **_checks(results, account), **content
    )
    text = study_text.of(results.study, account)
    linked = partial(cross_links.to_tests_and_claims, study=results.study, tests=_PAGES.figures)
    return pages.write(
        "study.html.j2",
        place,
        text=text,
        picture=_picture(text, account, folder),
        linked=partial(linked, claims=_PAGES.checks),
        stamp=stamp.of(results, place, folder),
        **content,
    )


def _outcomes(account: Account) -> list[tuple[ClaimResult, str]]:
    """Return the statements of sources about an experiment, each with its verdict."""
    return [(claim, outcomes.word(claim)) for claim in account.claims]


def write_claims(claims: Sequence[ClaimResult], path: Path) -> None:
    """Write the verdicts, and all checks behind them, next to `path`, as .csv and .json.

    The JSON has a line for each claim, so that differences of two are short.
    """
    claims_frame(claims).write_csv(path.with_name(f"{path.name}.csv"))
    lines = ",\n".join(scripts.as_json(claim.as_dict()) for claim in claims)
    path.with_name(f"{path.name}.json").write_text(f"[\n{lines}\n]\n")


def _below(home: Place, name: str, page: str) -> Place:
    return home.below(name, home.sibling(page))


def _facts(results: Results) -> dict[str, Any]:
    """Return the content that every page of a study may show."""
    return {
        "study": results.study,
        "figures_page": parts_of(results).figures,
        "checks_page": parts_of(results).checks,
        "counted": results.counted,
        "quick": any(counts.plan.quick for counts in results.counted if counts.finished),
        "stacks": results.stacks,
        "engine": results.engine.identity,
        "invalid": list(results.invalid.values()),
        "doubtful": results.doubtful,
        "damaged": list(results.damaged.values()),
        "failed": list(results.failures.values()),
        "commands": [*commands(results), report_command(results)],
        "cost": results.cost,
        "quantities": _glossary(results),
    }


def _checks(results: Results, account: Account) -> dict[str, Any]:
    """Return the content of the page of checks alone."""
    names = [spec.name for spec in results.study.figures]
    figures, tests = _PAGES.figures, _PAGES.figures
    return {
        "claims": [(claim, _evidence(results, claim)) for claim in account.claims],
        "tally": by_verdict(account.claims),
        "headline": headline(account.claims),
        "interpretations": _interpretations(results),
        "quirk": lambda code: _QUIRKS.get(code, code),
        "figure_links": partial(cross_links.to_figures, names=names, page=figures),
        "linked": partial(cross_links.to_tests_and_claims, study=results.study, tests=tests),
    }


def _picture(text: StudyText, account: Account, folder: Path) -> Drawn | None:
    """Draw the figure of effect sizes; None if there are none."""
    effect_chart.frame(text.effects, account.standings).write_csv(
        folder / "data" / f"{effect_chart.NAME}.csv"
    )
    if not any(effect.is_measured for effect in text.effects):
        return None
    chart = effect_chart.draw(text.effects, account.standings)
    return Drawn(effect_chart.NAME, *pictures.write(effect_chart.NAME, chart, folder / "figures"))


def _evidence(results: Results, claim: ClaimResult) -> list[str | None]:
    """Return the address of the runs behind each check of a claim, where there are any."""
    return [
        run_pages.address(results, check.test, check.where) if isinstance(check, Measured) else None
        for check in claim.claim.checks
    ]


def _glossary(results: Results) -> list[tuple[str, str, str]]:
    """Return name, unit and meaning of the quantities that the tables of a study hold."""
    derived = {
        quantity_of_study.name: quantity_of_study for quantity_of_study in results.study.quantities
    }
    named = dict.fromkeys(
        column if column in derived else parse(column).name
        for test in results.study.tests
        for column in columns(results.study, test)
    )
    return [
        (name, derived[name].shown_unit, derived[name].title)
        if name in derived
        else (name, quantity(name).unit, quantity(name).what)
        for name in named
    ]


def _interpretations(results: Results) -> dict[str, tuple[Paragraph, ...]]:
    """Return how the sources of the algorithms are read, by their titles."""
    by_title = {
        algorithm.title: algorithm.comment.of(Kind.INTERPRETATION)
        for algorithm in results.algorithms
    }
    return {title: paragraphs for title, paragraphs in by_title.items() if paragraphs}


def _of_engine(results: Results, counts: Counts) -> str:
    return engines.option(results.engine) + run_pages.options(counts.plan)


def _packets_command(results: Results) -> str:
    """Return the command that writes the packets of the first run."""
    (seed, *_) = [counts.plan.seed for counts in results.counted]
    return f"{results.study.header.command} --seed {seed} --pcap packets"


def commands(results: Results) -> list[str]:
    """Return the commands that ran the planned runs."""
    if results.study.header.command:
        return [
            f"{results.study.header.command}{_of_engine(results, counts)}"
            for counts in results.counted
        ]
    run = f"dumbbell run {results.study.called}{engines.option(results.engine)}"
    plans = [counts.plan for counts in results.counted]
    return [run + run_pages.part(plan) + run_pages.options(plan) for plan in plans]


def report_command(results: Results) -> str:
    """Return the command that writes the report."""
    if results.study.header.command:
        return f"dumbbell open {results.study.name}{engines.option(results.engine)}"
    return f"dumbbell report {results.study.called}{engines.option(results.engine)}"
