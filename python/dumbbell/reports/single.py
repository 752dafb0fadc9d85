"""A page with all that it shows in one file, to mail or to attach.

Style, scripts and figures go into the page. Files to download do, too, but for pictures that SVG
shows as well. Links to other pages become plain words.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from html import escape
from html.parser import HTMLParser
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from dumbbell.base.errors import refusing, unknown
from dumbbell.figures import drawing
from dumbbell.reports import site
from dumbbell.reports.test_sections import Step
from dumbbell.results.results import Results

_KINDS: Final[Mapping[str, str]] = {
    ".svg": "image/svg+xml",
    ".csv": "text/csv",
    ".json": "application/json",
}
"""Files that are kept, and their types."""

_ELSEWHERE: Final = ("#", "http:", "https:", "mailto:", "data:")
_VEGA: Final = "assets/vega.js"

_Attributes = Sequence[tuple[str, str | None]]


def write(results: Results, file: Path, figure: str | None, on_step: Step) -> Path:
    """Write the page of a study, or one of its figures, as one file and return its path."""
    if figure is not None:
        drawing.check_suffix(file)
        specs = {spec.name: spec for spec in results.study.figures}
        if figure not in specs:
            raise unknown("figure", figure, specs).at(key="figure")
        with refusing("write it", file):
            drawing.save(specs[figure].draw(results), file)
        return file
    with refusing("write it", file), TemporaryDirectory() as folder:
        file.write_text(page(site.write(results, folder, on_step)), encoding="utf-8")
    return file


def page(file: Path) -> str:
    """Return a page of a site as one file."""
    writer = _Writer(file.parent)
    writer.feed(file.read_text(encoding="utf-8"))
    writer.close()
    return "".join(writer.parts)


class _Writer(HTMLParser):
    """Copies a page into `parts`, with its files inside."""

    def __init__(self, folder: Path) -> None:
        super().__init__(convert_charrefs=False)
        self.parts: list[str] = []
        self._folder = folder
        self._root = ""
        self._scripts: list[str] = []
        """Scripts of the head, which wait for the whole page: here they follow it."""
        self._is_moved = False
        self._loaded: dict[str, str] = {}
        """Scripts that others load, by their paths."""
        self._ends: list[str] = []
        """The end of each open link; empty if its words are left out."""

    def handle_starttag(self, tag: str, attrs: _Attributes) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "html":
            self._root = given.get("data-root", "")
        if figure := given.get("data-figure"):
            for path in (f"{self._root}{_VEGA}", f"figures/{figure}.js"):
                self._loaded[path] = self._text(path)
        if tag == "a":
            self._open_link(given)
        elif tag == "link" and given.get("rel") == "stylesheet":
            self._put(f"<style>{self._text(given['href'])}</style>")
        elif tag == "script" and "src" in given:
            self._scripts.append(self._text(given["src"]))
            self._is_moved = True
        elif tag == "img":
            self._put(_tag(tag, {**given, "src": self._data(given["src"])}))
        else:
            self._put(self.get_starttag_text() or "")

    def handle_endtag(self, tag: str) -> None:
        if tag == "a":
            end = self._ends.pop()
            self._put(end)
        elif tag == "script" and self._is_moved:
            self._is_moved = False
        else:
            if tag == "body":
                self._put_scripts()
            self._put(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        self._put(data)

    def handle_entityref(self, name: str) -> None:
        self._put(f"&{name};")

    def handle_charref(self, name: str) -> None:
        self._put(f"&#{name};")

    def handle_decl(self, decl: str) -> None:
        self._put(f"<!{decl}>")

    def _put(self, text: str) -> None:
        if "" not in self._ends:
            self.parts.append(text)

    def _open_link(self, given: Mapping[str, str]) -> None:
        target = given.get("href", "")
        begin, end = "", ""
        if target.startswith(_ELSEWHERE) or not target:
            begin, end = _tag("a", given), "</a>"
        elif "download" not in given:
            begin, end = "<span>", "</span>"
        elif Path(target).suffix in _KINDS:
            inside = {**given, "href": self._data(target), "download": Path(target).name}
            begin, end = _tag("a", inside), "</a>"
        self._put(begin)
        self._ends.append(end)

    def _put_scripts(self) -> None:
        for path, text in self._loaded.items():
            self._put(f'<script type="text/plain" data-source="{escape(path)}">{text}</script>\n')
        for text in self._scripts:
            self._put(f"<script>{text}</script>\n")

    def _text(self, path: str) -> str:
        """Return a script or a style, which must not end the tag around it."""
        text = (self._folder / path).read_text(encoding="utf-8")
        return text.replace("</script", "<\\/script").replace("</style", "<\\/style")

    def _data(self, path: str) -> str:
        """Return a file as an address."""
        if path.startswith(_ELSEWHERE):
            return path
        content = base64.b64encode((self._folder / path).read_bytes()).decode()
        return f"data:{_KINDS[Path(path).suffix]};base64,{content}"


def _tag(name: str, attributes: Mapping[str, str]) -> str:
    given = "".join(f' {attribute}="{escape(value)}"' for attribute, value in attributes.items())
    return f"<{name}{given}>"
