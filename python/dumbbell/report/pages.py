"""Pages of a site: where each lies, what is above it, and how templates become files.

Pages refer to each other by relative paths, so that a site opens from disk and can be moved.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import jinja2
import vl_convert

from dumbbell import quantities
from dumbbell.claims.verdicts import Verdict
from dumbbell.figures import chart_style
from dumbbell.figures.labels import label_of, listing, number
from dumbbell.report import cross_links
from dumbbell.report.scripts import assignment
from dumbbell.study.grid import Selection, wanted_values

_TEMPLATES: Final = files("dumbbell.report") / "templates"
_ASSETS: Final = (
    "report.css",
    "loading.js",
    "figures.js",
    "filters.js",
    "claims.js",
    "runs.js",
    "run.js",
)

KINDS: Final[Mapping[str, str]] = {
    "ARITH": "arithmetic",
    "N": "number",
    "ORD": "ordering",
    "QUAL": "shape",
    "RPT": "reported only",
}
"""The kinds of claims in a word or two."""


@dataclass(frozen=True)
class Crumb:
    """A page on the way to another: its short name, and its path from the site's root."""

    name: str
    path: str


@dataclass(frozen=True)
class Place:
    """Where a page lies: the pages above it, from the top, and the page itself."""

    trail: tuple[Crumb, ...]

    @classmethod
    def at(cls, name: str, path: str = "index.html") -> Place:
        """Return the place of a page that has none above it."""
        return cls((Crumb(name, path),))

    def below(self, name: str, path: str) -> Place:
        """Return the place of a page below this one; the path is from the site's root."""
        return Place((*self.trail, Crumb(name, path)))

    def beside(self, name: str) -> str:
        """Return the path, from the site's root, of a file in the same folder."""
        return self.path.rpartition("/")[0] + "/" * ("/" in self.path) + name

    @property
    def path(self) -> str:
        """The page's path from the site's root."""
        return self.trail[-1].path

    @property
    def root(self) -> str:
        """The way from the page to the site's root: nothing, or ``../`` some times."""
        return "../" * self.path.count("/")


class Pages:
    """Writes the pages of one site."""

    def __init__(self, output: Path) -> None:
        self.output = output
        self._environment = _environment()

    def write(self, template: str, place: Place, **content: Any) -> Path:
        """Write a page and return its file."""
        text = self._environment.get_template(template).render(
            place=place, root=place.root, **content
        )
        return self.write_text(place.path, text)

    def write_text(self, path: str, text: str) -> Path:
        """Write a file, given its path from the site's root."""
        file = self.output / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def write_assets(self) -> None:
        """Write what all pages share."""
        for name in _ASSETS:
            self.write_text(f"assets/{name}", (_TEMPLATES / name).read_text("utf-8"))
        looks = {"config": chart_style.config(), "colours": chart_style.FLOW_COLOURS}
        self.write_text("assets/looks.js", assignment("window.dumbbellLooks", looks))
        bundle = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
        self.write_text("assets/vega.js", f"(()=>{{{bundle}\n}})();")


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: (_TEMPLATES / name).read_text("utf-8")),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters.update(
        listing=listing,
        label=label_of,
        number=number,
        thousands=lambda count: f"{count:,}",
        slug=lambda verdict: verdict.replace(" ", "-"),
        kind=lambda code: KINDS.get(code, code),
        fragment=fragment,
        code=cross_links.code,
        amount=quantities.amount,
        duration=quantities.duration,
        hours=quantities.hours,
        name_of=lambda choice: choice.partition("@")[0],
    )
    environment.globals.update(verdicts=[verdict.value for verdict in Verdict], kinds=KINDS)
    return environment


def fragment(selection: Selection) -> str:
    """Return the part of an address that chooses on a page with filters: ``#rate=1mbit,1gbit``."""
    chosen = (
        f"{quote(axis, safe='')}={','.join(quote(value, safe='@') for value in values)}"
        for axis in selection
        if (values := wanted_values(selection, axis))
    )
    return "#" + "&".join(chosen)
