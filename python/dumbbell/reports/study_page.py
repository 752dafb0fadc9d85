"""The page of a study: its figures, the claims about them, and the data of both."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import polars as pl

from dumbbell.algorithms.head_comments import Kind, Paragraph
from dumbbell.algorithms.labels import label_of
from dumbbell.base.labels import listing
from dumbbell.engines import engines
from dumbbell.figures import drawing
from dumbbell.figures.figure import Figure
from dumbbell.judging.judging import ClaimResult, by_verdict, headline, judged_by_runs
from dumbbell.judging.spec import Measured
from dumbbell.plan.tests import Test
from dumbbell.quantities.reference import parse
from dumbbell.quantities.registry import quantity
from dumbbell.reports import cross_links, own_tables, pictures, run_pages, stamp
from dumbbell.reports.columns import columns
from dumbbell.reports.pages import Pages, Place
from dumbbell.reports.pictures import Picture
from dumbbell.reports.report_tables import claims_frame, means_frame
from dumbbell.results.results import Counts, Results
from dumbbell.study import mentions

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

Step = Callable[[str], None]
"""Called with the name of each step."""


@dataclass(frozen=True)
class Section:
    """A test with its figures.

    Attributes
    ----------
    test
        The test.
    runs
        Number of its runs, in words.
    run_list
        The address of the list of its runs, if there are any.
    axes
        Its axes with their values.
    pictures
        Its figures.
    claims
        The claims that depend on it and mention no figure of the study.
    has_data
        True if any of its runs is finished.
    """

    test: Test
    runs: str
    run_list: str | None
    axes: dict[str, str]
    pictures: list[Picture]
    claims: list[ClaimResult]
    has_data: bool


def write(
    results: Results, claims: Sequence[ClaimResult], pages: Pages, place: Place, on_step: Step
) -> Path:
    """Write the page of a study, and all below it, into the page's folder."""
    folder = (pages.output / place.path).parent
    for name in ("figures", "data"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    _write_claims(claims, folder / "data")
    names = [spec.name for spec in results.study.figures]
    spoken = _of_figures(claims, names)
    shown_claims = {claim.claim.id for each in spoken.values() for claim in each}
    rest = [claim for claim in claims if claim.claim.id not in shown_claims]
    sections = [_section(results, test, rest, folder, on_step) for test in results.study.tests]
    run_pages.write(results, pages, place, on_step)
    command = results.study.header.command
    return pages.write(
        "experiment.html.j2" if command else "study.html.j2",
        place,
        stamp=stamp.of(results, place, folder),
        own_totals=list(own_tables.of_experiment(results)) if command else [],
        packets=_packets_command(results) if command.startswith("dumbbell simulate") else None,
        study=results.study,
        claims=[(claim, _evidence(results, claim)) for claim in claims],
        tally=tally(claims),
        bar=bar(claims),
        tally_of=tally,
        spoken=spoken,
        headline=headline(claims),
        counted=results.counted,
        quick=any(counts.plan.quick for counts in results.counted if counts.finished),
        stacks=results.stacks,
        interpretations=_interpretations(results),
        engine=results.engine.identity,
        invalid=list(results.invalid.values()),
        doubtful=results.doubtful,
        damaged=list(results.damaged.values()),
        failed=list(results.failures.values()),
        commands=[*commands(results), report_command(results)],
        cost=results.cost,
        sections=sections,
        quantities=_glossary(results),
        quirk=lambda code: _QUIRKS.get(code, code),
        figure_links=lambda text: cross_links.to_figures(text, names),
        named_links=lambda text: cross_links.to_tests_and_claims(text, results.study),
    )


def tally(claims: Sequence[ClaimResult]) -> dict[str, int]:
    """Count the verdicts."""
    return {verdict.value: count for verdict, count in by_verdict(claims).items()}


def bar(claims: Sequence[ClaimResult]) -> dict[str, int]:
    """Count the verdicts that a headline is about: of claims judged by runs, if there are any."""
    return tally(judged_by_runs(claims) or claims)


def _of_figures(
    claims: Sequence[ClaimResult], names: Sequence[str]
) -> dict[str, list[ClaimResult]]:
    """Return the claims that speak of each figure."""
    by_figure: dict[str, list[ClaimResult]] = {name: [] for name in names}
    for claim in claims:
        for name in mentions.figures_in(claim.claim.source, names):
            by_figure[name].append(claim)
    return by_figure


def _first_test(claim: ClaimResult) -> str | None:
    """Return the first test that a claim depends on; None if it needs no runs."""
    return next((each.test for each in claim.claim.checks if isinstance(each, Measured)), None)


def _write_claims(claims: Sequence[ClaimResult], folder: Path) -> None:
    claims_frame(claims).write_csv(folder / "claims.csv")
    data = [claim.as_dict() for claim in claims]
    (folder / "claims.json").write_text(
        json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    )


def _evidence(results: Results, claim: ClaimResult) -> list[str | None]:
    """Return the address of the runs behind each check of a claim, where there are any."""
    return [
        run_pages.address(results, check.test, check.where) if isinstance(check, Measured) else None
        for check in claim.claim.checks
    ]


def _section(
    results: Results, test: Test, claims: Sequence[ClaimResult], folder: Path, on_step: Step
) -> Section:
    shown = columns(results.study, test)
    runs = results.table(test.name, shown)
    if runs.height:
        means_frame(test, runs, shown).write_csv(folder / "data" / f"{test.name}.csv")
        _with_keys(results, test, runs).write_csv(folder / "data" / f"{test.name}-runs.csv")
    pictures = []
    for spec in results.study.figures:
        if spec.section == test.name:
            on_step(f"{results.study.name}: drawing {spec.name}")
            pictures.append(_picture(results, spec.draw(results), folder))
    return Section(
        test,
        _runs_text(results, test),
        run_pages.list_path(test.name) if results.runs(test.name) else None,
        {axis: listing([label_of(value) for value in test.axes[axis]]) for axis in test.axes},
        pictures,
        [claim for claim in claims if _first_test(claim) == test.name],
        has_data=bool(runs.height),
    )


def _glossary(results: Results) -> list[tuple[str, str, str]]:
    """Return name, unit and meaning of the quantities that the tables of a study hold."""
    derived = {each.name: each for each in results.study.quantities}
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


def _with_keys(results: Results, test: Test, runs: pl.DataFrame) -> pl.DataFrame:
    """Add the key of each run to the metrics table."""
    keys = [run.resolved.key for run in results.finished(test.name)]
    return runs.with_columns(key=pl.Series(keys, dtype=pl.String))


def _runs_text(results: Results, test: Test) -> str:
    runs = results.table(test.name)
    points = len(results.study.points(test))
    finished = runs.select(list(test.axes)).n_unique() if runs.height else 0
    kind = "quick runs" if runs.height and results.quick(test.name) else "runs"
    sentences = [f"{runs.height:,} {kind}, at {finished} of the {points} points of its grid."]
    keys = {listed.run.resolved.key for listed in results.runs(test.name)}
    for state, found in results.troubled.items():
        count = len(keys & found.keys())
        sentences += [f"{state}: {count}."] if count else []
    return " ".join(sentences)


def _picture(results: Results, figure: Figure, folder: Path) -> Picture:
    spec = figure.spec
    chart = figure.chart.to_dict()
    svg = drawing.rendered(chart, ".svg")
    (folder / "figures" / f"{spec.name}.svg").write_bytes(svg)
    for suffix in (".png", ".pdf"):
        (folder / "figures" / f"{spec.name}{suffix}").write_bytes(drawing.converted(svg, suffix))
    script = pictures.script(spec.name, chart)
    (folder / "figures" / f"{spec.name}.js").write_text(script, encoding="utf-8")
    if figure.frame is not None:
        figure.frame.write_csv(folder / "data" / f"{spec.name}.csv")
    return Picture.of(figure, svg, list(run_pages.links(results, spec)))


def _interpretations(results: Results) -> dict[str, tuple[Paragraph, ...]]:
    """Return how the sources of the algorithms are read, by their titles."""
    by_title = {each.title: each.comment.of(Kind.INTERPRETATION) for each in results.algorithms}
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
            f"{results.study.header.command}{_of_engine(results, each)}" for each in results.counted
        ]
    run = f"dumbbell run {results.study.called}{engines.option(results.engine)}"
    return [run + run_pages.options(each.plan) for each in results.counted]


def report_command(results: Results) -> str:
    """Return the command that writes the report."""
    if results.study.header.command:
        return f"dumbbell open {results.study.name}{engines.option(results.engine)}"
    return f"dumbbell report {results.study.called}{engines.option(results.engine)}"
