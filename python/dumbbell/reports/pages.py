"""Pages of a site: their places, the pages above each, and the rendering of templates.

Pages refer to each other by relative paths, so that a site opens from disk and can be moved.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import vl_convert
from markupsafe import Markup

from dumbbell.algorithms import catalogue
from dumbbell.algorithms.labels import label_of
from dumbbell.base import labels, tree, user_cache
from dumbbell.base.labels import listing, number
from dumbbell.base.lazy import jinja2
from dumbbell.figures import drawing, style
from dumbbell.judging.evidence import STATEMENTS, Verdict
from dumbbell.plan.grid import Selection, wanted_values
from dumbbell.reports import cross_links, glyphs
from dumbbell.reports.scripts import assignment

_TEMPLATES: Final = files("dumbbell.reports") / "templates"
ASSETS: Final = (
    "report.css",
    "tables.js",
    "contents.js",
    "loading.js",
    "figures.js",
    "filters.js",
    "claims.js",
    "runs.js",
    "run.js",
    "looks.js",
    "vega.js",
)
"""Files that all pages share."""
_VEGA_BYTES_MAX: Final = 10_000_000
_VEGA_END: Final = b"\n"
"""Ends the cached script. A file that a power failure cut short does not have it."""


@dataclass(frozen=True)
class Crumb:
    """A page above another one: its short name, and its path from the site's root."""

    name: str
    path: str


@dataclass(frozen=True)
class Place:
    """Place of a page: the pages above it, from the top, and the page."""

    trail: tuple[Crumb, ...]

    @classmethod
    def at(cls, name: str, path: str = "index.html") -> Place:
        """Return the place of a page that has none above it."""
        return cls((Crumb(name, path),))

    def below(self, name: str, path: str) -> Place:
        """Return the place of a page below this one; the path is from the site's root."""
        return Place((*self.trail, Crumb(name, path)))

    def sibling(self, name: str) -> str:
        """Return the path, from the site's root, of a file in the same folder."""
        return self.path.rpartition("/")[0] + "/" * ("/" in self.path) + name

    @property
    def path(self) -> str:
        """The page's path from the site's root."""
        return self.trail[-1].path

    @property
    def parent_paths(self) -> list[str]:
        """Relative paths from the page to those above it."""
        return [self.root + crumb.path for crumb in self.trail[:-1]]

    @property
    def root(self) -> str:
        """Relative path from the page to the site's root: nothing, or ``../`` some times."""
        return "../" * self.path.count("/")


class Pages:
    """Writes the pages of one site."""

    def __init__(self, output: Path) -> None:
        self.output = output
        self._environment = environment()

    def write(self, template: str, place: Place, **content: Any) -> Path:
        """Write a page and return its file."""
        return self.write_text(place.path, self._rendered(template, place, content))

    def _rendered(self, template: str, place: Place, content: Mapping[str, Any]) -> str:
        return render(self._environment, template, place, place.root, **content)

    def write_text(self, path: str, text: str) -> Path:
        """Write a file, given its path from the site's root."""
        file = self.output / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def write_assets(self) -> None:
        """Write the assets that all pages share."""
        for name in ASSETS:
            self.write_text(f"assets/{name}", asset(name))


def asset(name: str) -> str:
    """Return the text of one of the `ASSETS`."""
    if name == "looks.js":
        looks = {"config": style.config(), "colours": style.SPARE_COLOURS}
        return assignment("window.dumbbellLooks", looks)
    if name == "vega.js":
        return f"/*!\n{drawing.notices()}*/\n(()=>{{{_vega().decode()}}})();"
    return (_TEMPLATES / name).read_text("utf-8")


@cache
def _vega() -> bytes:
    """Return Vega and its parts as one script. Bundling takes two seconds, so it is cached."""
    name = f"vega-{version('vl-convert-python')}.js"
    cached = user_cache.read(name, _VEGA_BYTES_MAX)
    if cached is not None and cached.endswith(_VEGA_END):
        return cached
    script = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;").encode() + _VEGA_END
    user_cache.keep(name, script)
    return script


def render(
    templates: jinja2.Environment, template: str, place: Place, root: str, **content: Any
) -> str:
    """Return the text of a page; `root` is the path from it to the site's root."""
    return templates.get_template(template).render(place=place, root=root, **content)


def write_alone(template: str, path: Path, command: str, **content: Any) -> None:
    """Write a page as a single file, with style and script inside; `command` makes it."""
    inside = {"css": Markup(asset("report.css")), "script": Markup(asset("tables.js"))}
    place = Place.at(template.partition(".")[0], path.name)
    made_by = {"version": version("dumbbell"), "command": command}
    text = render(environment(), template, place, "", **inside, **made_by, **content)
    path.write_text(text, encoding="utf-8")


@cache
def environment(*further: str) -> jinja2.Environment:
    """Return the environment of the templates of reports and of `further` packages.

    It is always the same one, as compiling the templates takes longer than filling them.
    """
    folders = [_TEMPLATES, *(files(package) / "templates" for package in further)]

    def text(name: str) -> str | None:
        candidates = (folder / name for folder in folders)
        return next((file.read_text("utf-8") for file in candidates if file.is_file()), None)

    templates = jinja2.Environment(
        loader=jinja2.FunctionLoader(text),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    templates.filters.update(
        listing=listing,
        label=label_of,
        number=number,
        thousands=lambda count: f"{count:,}",
        slug=lambda verdict: verdict.replace(" ", "-"),
        statement=lambda kind: STATEMENTS[kind],
        sentence=lambda words: words[:1].upper() + words[1:],
        code=cross_links.code,
        glyph=glyphs.of_claim,
        amount=labels.amount,
        duration=labels.duration,
        hours=labels.hours,
        name_of=lambda choice: choice.partition("@")[0],
    )
    templates.globals.update(
        verdicts=[verdict.value for verdict in Verdict],
        statements=STATEMENTS,
        tree=tree.identity,
        built_in_engine=catalogue.ENGINE_VERSION,
    )
    return templates


def fragment(selection: Selection) -> str:
    """Return the part of an address that chooses on a page with filters: ``#rate=1mbit,1gbit``."""
    chosen = (
        f"{quote(axis, safe='')}={','.join(quote(value, safe='@') for value in values)}"
        for axis in selection
        if (values := wanted_values(selection, axis))
    )
    return "#" + "&".join(chosen)
