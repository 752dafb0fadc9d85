"""The report of a study: one folder of static files that opens from disk, without a network.

::

    index.html        the study, its claims and figures
    assets/           style, script, and Vega for interactive figures
    figures/          each figure as SVG, PNG and Vega-Lite
    data/             what figures and claims rest on, as CSV
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final

import jinja2
import vl_convert
from markupsafe import Markup, escape

from dumbbell.analysis.metrics import METRICS
from dumbbell.claims.verdicts import ClaimResult, Verdict
from dumbbell.errors import InputError
from dumbbell.figures import drawing
from dumbbell.figures.drawing import Figure
from dumbbell.figures.figure import TextTable
from dumbbell.figures.labels import label_of, listing
from dumbbell.head_comments import Kind, Paragraph
from dumbbell.report.report_tables import claims_frame, means_frame, text_tables
from dumbbell.results import Counts, Plan, Results
from dumbbell.running.engines import EngineName
from dumbbell.study.model import Test

_TEMPLATES: Final = files("dumbbell.report") / "templates"
_SIZE: Final = re.compile(rb'<svg[^>]*? width="(\d+)[^"]*"[^>]*? height="(\d+)')
_NUMBER: Final = re.compile(r"Fig\. \d+[a-z]?")
_FIGURES: Final = re.compile(r"Figs?\. \d+[a-z]?(?:(?:, | and | to )\d+[a-z]?)*")
_DIGITS: Final = re.compile(r"\d+[a-z]?")

_QUIRKS: Final[Mapping[str, str]] = {
    "RNG": "chance, so that it needs many runs",
    "SW": "the authors' path or switches, of which too little is known",
    "KERN": "the kernel that the authors used",
    "NIC": "the authors' network cards",
    "CRC": "the bit errors of the authors' rings",
    "SIM": "the simulator that the authors used, which they do not name",
    "INT-FAST": "how FAST's thresholds are read",
}
"""What the quirks in study files mean, as the end of a sentence."""

Step = Callable[[str], None]
"""Told what is being done."""


@dataclass(frozen=True)
class Picture:
    """A figure with its files written."""

    figure: Figure
    number: str
    width: int
    height: int
    tables: list[TextTable]


@dataclass(frozen=True)
class Section:
    """A test with its figures."""

    test: Test
    runs: str
    axes: dict[str, str]
    pictures: list[Picture]
    has_data: bool


def write(results: Results, output: str | Path, on_step: Step = lambda _: None) -> Path:
    """Write the report into a folder and return the path of its page.

    What has not been run yet is missing from figures and leaves claims undecided.
    """
    output = Path(output)
    try:
        return _write(results, output, on_step)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(
            f"cannot write the report: {reason}", source=str(error.filename or output)
        ) from error


def _write(results: Results, output: Path, on_step: Step) -> Path:
    for name in ("assets", "figures", "data"):
        (output / name).mkdir(parents=True, exist_ok=True)
    _write_assets(output)
    on_step("judging claims")
    claims = results.claims()
    _write_claims(claims, output / "data")
    sections = [_section(results, test, output, on_step) for test in results.study.tests]
    page = output / "index.html"
    page.write_text(_page(results, claims, sections), encoding="utf-8")
    return page


def _write_assets(output: Path) -> None:
    for name in ("report.css", "report.js"):
        (output / "assets" / name).write_bytes((_TEMPLATES / name).read_bytes())
    bundle = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    (output / "assets" / "vega.js").write_text(f"(()=>{{{bundle}\n}})();", encoding="utf-8")


def _write_claims(claims: Sequence[ClaimResult], folder: Path) -> None:
    claims_frame(claims).write_csv(folder / "claims.csv")
    data = [claim.as_dict() for claim in claims]
    (folder / "claims.json").write_text(
        json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    )


def _section(results: Results, test: Test, output: Path, on_step: Step) -> Section:
    runs = results.table(test.name)
    if runs.height:
        means_frame(test, runs).write_csv(output / "data" / f"{test.name}.csv")
        runs.write_csv(output / "data" / f"{test.name}-runs.csv")
    pictures = []
    for spec in results.study.figures:
        if spec.section == test.name:
            on_step(f"drawing {spec.name}")
            pictures.append(_picture(drawing.render(results, spec), output))
    return Section(
        test,
        _runs_text(results, test),
        {axis: listing([label_of(value) for value in test.axes[axis]]) for axis in test.axes},
        pictures,
        has_data=bool(runs.height),
    )


def _runs_text(results: Results, test: Test) -> str:
    runs = results.table(test.name)
    points = len(results.study.points(test))
    finished = runs.select(list(test.axes)).n_unique() if runs.height else 0
    kind = "quick runs" if runs.height and results.quick(test.name) else "runs"
    invalid = results.left_out(test.name)
    left_out = f" Invalid and left out: {invalid}." if invalid else ""
    return f"{runs.height:,} {kind}, at {finished} of the {points} points of its grid.{left_out}"


def _picture(figure: Figure, output: Path) -> Picture:
    spec = figure.spec
    chart = figure.chart.to_dict()
    svg = drawing.rendered(chart, ".svg")
    (output / "figures" / f"{spec.name}.svg").write_bytes(svg)
    (output / "figures" / f"{spec.name}.png").write_bytes(drawing.rendered(chart, ".png"))
    script = f"dumbbellFigures[{json.dumps(spec.name)}] = {json.dumps(chart)};\n"
    (output / "figures" / f"{spec.name}.js").write_text(script)
    if figure.frame is not None:
        figure.frame.write_csv(output / "data" / f"{spec.name}.csv")
    size = _SIZE.match(svg)
    width, height = (int(size[1]), int(size[2])) if size else (1000, 500)
    return Picture(figure, _number(spec.title) or spec.name, width, height, text_tables(figure))


def _number(title: str) -> str:
    """Return the number at the beginning of a figure's title."""
    match = _NUMBER.match(title)
    return match[0] if match else ""


def _page(results: Results, claims: Sequence[ClaimResult], sections: Sequence[Section]) -> str:
    counted = [counts for counts in results.counts if counts.finished] or results.counts[:1]
    names = {picture.figure.spec.name for section in sections for picture in section.pictures}
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: (_TEMPLATES / name).read_text("utf-8")),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters.update(
        listing=listing,
        quirk=lambda code: _QUIRKS.get(code, code),
        slug=lambda verdict: verdict.replace(" ", "-"),
        figure_links=lambda text: _figure_links(text, names),
    )
    return environment.get_template("report.html.j2").render(
        study=results.study,
        claims=claims,
        tally={verdict.value: _count(claims, verdict) for verdict in Verdict},
        counted=counted,
        quick=any(counts.plan.quick for counts in counted),
        stacks=results.stacks,
        interpretations=_interpretations(results),
        engine=results.engine.identity,
        invalid=list(results.invalid.values()),
        commands=_commands(results, counted),
        sections=sections,
        metrics=METRICS,
    )


def _interpretations(results: Results) -> dict[str, tuple[Paragraph, ...]]:
    """Return how the sources of the algorithms are read, by their titles."""
    found = {each.title: each.comment.of(Kind.INTERPRETATION) for each in results.algorithms}
    return {title: paragraphs for title, paragraphs in found.items() if paragraphs}


def _count(claims: Sequence[ClaimResult], verdict: Verdict) -> int:
    return sum(claim.verdict == verdict for claim in claims)


def _commands(results: Results, counted: Sequence[Counts]) -> list[str]:
    engine = f" --engine {EngineName.TESTBED}" if results.engine.real_time else ""
    study = results.study.name
    runs = [f"dumbbell run {study}{engine}{_options(counts.plan)}" for counts in counted]
    return [*runs, f"dumbbell report {study}{engine}"]


def _options(plan: Plan) -> str:
    quick = " --quick" if plan.quick else ""
    runs = f" --runs {plan.runs}" if plan.runs is not None else ""
    seed = f" --seed {plan.seed}" if plan.seed else ""
    return quick + runs + seed


def _figure_links(text: str, names: set[str]) -> Markup:
    """Turn the numbers of "Figs. 4 and 16" into links where the report has those figures."""

    def link(number: re.Match[str]) -> str:
        name = f"fig{number[0]}"
        return f'<a href="#{name}">{number[0]}</a>' if name in names else number[0]

    return Markup(_FIGURES.sub(lambda found: _DIGITS.sub(link, found[0]), str(escape(text))))
