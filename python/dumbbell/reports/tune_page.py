"""The page of a search."""

from __future__ import annotations

from pathlib import Path

from dumbbell.base.shell import quoted
from dumbbell.experiments.tune import words
from dumbbell.experiments.tune.tuning import Tuned, preset_file
from dumbbell.figures import drawing
from dumbbell.reports import tune_charts as charts
from dumbbell.reports.pages import Pages, Place


def write(tuned: Tuned, folder: Path, command: str) -> Path:
    """Write the page, its figures and the preset file into a folder, and return the page."""
    pages = Pages(folder)
    pages.write_assets()
    preset, choice = f"{tuned.algorithm.name}.toml", tuned.search.choice
    pages.write_text(preset, preset_file(tuned))
    figures = {
        "course": charts.course(tuned),
        "front": charts.front(tuned),
        "effects": charts.effects(tuned),
    }
    drawn = {
        name: drawing.rendered(chart.to_dict(), ".svg").decode()
        for name, chart in figures.items()
        if chart is not None
    }
    for name, svg in drawn.items():
        pages.write_text(f"{name}.svg", svg)
    return pages.write(
        "tune.html.j2",
        Place.at(f"tune {tuned.algorithm.name}"),
        tuned=tuned,
        conclusion=words.conclusion(tuned),
        left_out=words.left_out(tuned),
        columns=words.columns(tuned),
        rows=[words.cells(line) for line in tuned.lines],
        confirmed=[words.cells(line) for line in tuned.confirmed],
        preset=preset,
        preset_text=preset_file(tuned),
        use=f"dumbbell compare {quoted(f'{choice}@{folder / preset}')} {quoted(choice)} ...",
        command=command,
        figures=sorted(drawn),
    )
