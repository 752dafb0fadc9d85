"""Drawn figures as files: one definition is the interactive chart, SVG and PNG."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import vl_convert

from dumbbell.base import places
from dumbbell.base.errors import InputError, refusing
from dumbbell.figures.figure import Chart, Figure

_VEGA_LITE: Final = "application/vnd.vegalite.v6+json"
_PNG_SCALE: Final = 1.5
_SUFFIXES: Final = (".svg", ".png", ".pdf", ".html", ".json")


def save(figure: Figure | Chart, path: str | Path) -> None:
    """Write a figure in the format of its suffix: .svg, .png, .pdf, .html (offline) or .json."""
    path = Path(path)
    check_suffix(path)
    chart = figure.vega_lite if isinstance(figure, Figure) else figure.to_dict()
    path.write_bytes(rendered(chart, path.suffix))


def check_suffix(path: Path) -> None:
    """Raise InputError unless `save` can write such a file."""
    if path.suffix not in _SUFFIXES:
        raise InputError("unknown kind of picture", value=str(path), valid=", ".join(_SUFFIXES))


def check_place(path: Path) -> None:
    """Raise an error unless `save` can write the file there: the runs behind it may take hours."""
    check_suffix(path)
    with refusing("write it", path):
        places.check(path)


def offline(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return a chart as notebooks show it without a network: SVG, and interactive if they can."""
    return {_VEGA_LITE: spec, "image/svg+xml": rendered(spec, ".svg").decode()}


def rendered(spec: Mapping[str, Any], suffix: str) -> bytes:
    """Render Vega-Lite as a file of this suffix; see `save`."""
    chart = dict(spec)
    match suffix:
        case ".svg":
            return vl_convert.vegalite_to_svg(chart).encode()
        case ".png":
            return vl_convert.vegalite_to_png(chart, scale=_PNG_SCALE)
        case ".pdf":
            return vl_convert.vegalite_to_pdf(chart)
        case ".html":
            page = vl_convert.vegalite_to_html(chart, bundle=True)
            return f"{page.rstrip()}\n<!--\n{notices()}-->\n".encode()
        case ".json":
            return json.dumps(chart, ensure_ascii=False, separators=(",", ":")).encode()
        case _:
            raise ValueError(suffix)


def notices() -> str:
    """Return the notices of Vega, which go wherever Vega is passed on."""
    return (files("dumbbell.figures") / "vega-notices.txt").read_text("utf-8")


def converted(svg: bytes, suffix: str) -> bytes:
    """Turn an SVG of `rendered` into .png or .pdf, which is quicker than to draw it again."""
    text = svg.decode()
    if suffix == ".pdf":
        return vl_convert.svg_to_pdf(text)
    return vl_convert.svg_to_png(text, scale=_PNG_SCALE)
