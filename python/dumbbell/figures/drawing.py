"""The figures of a study: one definition draws the interactive chart, SVG and PNG.

`draw` returns an Altair chart for notebooks; `save` writes it to files. What has not been run yet
is named under the title instead of being an error.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import vl_convert

from dumbbell.errors import InputError, unknown
from dumbbell.figures import draw_boxes, draw_groups, draw_histories, draw_points, draw_rows
from dumbbell.figures.figure import Chart, Figure
from dumbbell.results import Results
from dumbbell.running.store import Store
from dumbbell.study.figure_spec import FigureSpec
from dumbbell.study.model import Study

__all__ = ["Chart", "Figure", "check_suffix", "draw", "find", "render", "rendered", "save"]

_PNG_SCALE: Final = 1.5
_SUFFIXES: Final = (".svg", ".png", ".html", ".json")

_KINDS: Final[Mapping[str, Callable[[Results, Any], Figure]]] = {
    "points": draw_points.draw,
    "bars": draw_groups.draw,
    "scatter": draw_groups.draw,
    "boxes": draw_boxes.draw,
    "rows": draw_rows.draw,
    "histories": draw_histories.draw,
}


def draw(study: Study | str | Path, figure: str, store: Store | str | Path) -> Chart:
    """Draw one figure of a study from the runs in a results folder.

    >>> dumbbell.figures.draw("li2007", "fig4", "results")  # doctest: +SKIP
    """
    study = study if isinstance(study, Study) else Study.load(study)
    store = store if isinstance(store, Store) else Store(store)
    return render(Results(study, store), find(study, figure)).chart


def find(study: Study, name: str) -> FigureSpec:
    """Return a figure of a study; an unknown name is an InputError."""
    for figure in study.figures:
        if figure.name == name:
            return figure
    raise unknown("figure", name, [figure.name for figure in study.figures])


def render(results: Results, spec: FigureSpec) -> Figure:
    """Draw a figure with whatever runs there are."""
    return _KINDS[spec.kind](results, spec)


def save(figure: Figure | Chart, path: str | Path) -> None:
    """Write a figure as its suffix says: .svg, .png, .html (works offline) or .json (Vega-Lite)."""
    path = Path(path)
    check_suffix(path)
    chart = figure.chart if isinstance(figure, Figure) else figure
    path.write_bytes(rendered(chart.to_dict(), path.suffix))


def check_suffix(path: Path) -> None:
    """Raise InputError unless `save` can write such a file."""
    if path.suffix not in _SUFFIXES:
        raise InputError("unknown kind of picture", value=str(path), valid=", ".join(_SUFFIXES))


def rendered(spec: Mapping[str, Any], suffix: str) -> bytes:
    """Render Vega-Lite as a file of this suffix; see `save`."""
    chart = dict(spec)
    match suffix:
        case ".svg":
            return vl_convert.vegalite_to_svg(chart).encode()
        case ".png":
            return vl_convert.vegalite_to_png(chart, scale=_PNG_SCALE)
        case ".html":
            return vl_convert.vegalite_to_html(chart, bundle=True).encode()
        case ".json":
            return json.dumps(chart, ensure_ascii=False, separators=(",", ":")).encode()
        case _:
            raise ValueError(suffix)
