"""The page of a hunt."""

from __future__ import annotations

from pathlib import Path

from dumbbell.base.labels import number
from dumbbell.base.shell import joined
from dumbbell.experiments.hunt import words
from dumbbell.experiments.hunt.hunting import Hunted, scenario_file
from dumbbell.figures import drawing
from dumbbell.reports import hunt_charts as charts
from dumbbell.reports.pages import Pages, Place


def write(hunted: Hunted, folder: Path, command: str) -> Path:
    """Write the page, its figures and the scenario file into a folder, and return the page."""
    pages = Pages(folder)
    pages.write_assets()
    file, text = f"{hunted.name}.toml", ""
    if hunted.minimal is not None:
        text = scenario_file(hunted, folder)
        pages.write_text(file, text)
    drawn = _figures(hunted)
    for name, svg in drawn.items():
        pages.write_text(f"{name}.svg", svg)
    return pages.write(
        "hunt.html.j2",
        Place.at(f"hunt {hunted.algorithm}"),
        hunted=hunted,
        against=words.against(hunted),
        conclusion=words.conclusion(hunted),
        file=file,
        text=text,
        tables=[
            (
                confirmation,
                words.verdict(confirmation),
                words.columns(confirmation),
                words.rows(confirmation),
            )
            for confirmation in hunted.confirmations
        ],
        shortlist=[
            (
                number(round(scenario.regret, 2)),
                hunted.space.words(scenario.point),
                words.gap(hunted, place),
            )
            for place, scenario in enumerate(hunted.course.shortlist)
        ],
        again=joined(["dumbbell", "compare", *hunted.typed.values(), "--on", str(folder / file)]),
        command=command,
        figures=sorted(drawn),
    )


def _figures(hunted: Hunted) -> dict[str, str]:
    specs = {
        f"over-time-{confirmation.engine}": confirmation.results.figure("over-time").vega_lite
        for confirmation in hunted.confirmations
        if confirmation.means
    }
    chart = charts.failures(hunted)
    if chart is not None:
        specs["map"] = chart.to_dict()
    specs["tried"] = charts.tried(hunted).to_dict()
    return {name: drawing.rendered(spec, ".svg").decode() for name, spec in specs.items()}
