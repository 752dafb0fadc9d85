"""Build docs/ as a site and look for what is wrong in its pages: ``make docs-site``.

Every page must be there, with its code and its part of the API, must need no network, and each of
its links must lead to a page and a heading.
"""

from __future__ import annotations

import argparse
import html
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import unquote

import dumbbell

ROOT: Final = Path(__file__).resolve().parents[1]
DOCS: Final = ROOT / "docs"

_OUTSIDE: Final = ("http:", "https:", "data:", "mailto:", "javascript:")
_GENERATED: Final = {"404.html"}
"""Of the theme, with addresses from the root of a server."""
_LOADED: Final = re.compile(
    r'<(?:script|img|iframe)[^>]*\bsrc="(https?:[^"]*)'
    r'|<link[^>]*stylesheet[^>]*href="(https?:[^"]*)'
)


def build(folder: Path, config: Path = ROOT / "mkdocs.yml") -> subprocess.CompletedProcess[str]:
    """Build a site in `folder`; a warning of MkDocs makes it fail."""
    line = [sys.executable, "-m", "mkdocs", "build", "--strict"]
    return subprocess.run(
        [*line, "--config-file", str(config), "--site-dir", str(folder)],
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )


def faults(site: Path) -> Iterator[str]:
    """Yield what is wrong in the whole site, a line each."""
    pages = {file.resolve(): file.read_text() for file in site.rglob("*.html")}
    pages = {file: text for file, text in pages.items() if file.name not in _GENERATED}
    yield from broken_links(pages)
    for file, text in pages.items():
        yield from (f"{file.name}: {fault}" for fault in faults_of_page(text))
    for source in sorted(DOCS.rglob("*.md")):
        name = "index.html" if source.name == "README.md" else f"{source.stem}.html"
        page = site / source.relative_to(DOCS).with_name(name)
        if page.resolve() not in pages:
            yield f"{source.relative_to(ROOT)}: it has no page"
    yield from faults_of_api((site / "api.html").read_text())


def broken_links(pages: dict[Path, str]) -> Iterator[str]:
    """Yield the links of pages that lead nowhere."""
    anchors = {file: set(re.findall(r'\bid="?([^"\s>]+)', text)) for file, text in pages.items()}
    for file, text in pages.items():
        for link in re.findall(r'\b(?:href|src)="([^"]*)"', text):
            place, _, anchor = html.unescape(link).partition("#")
            if place.startswith(_OUTSIDE):
                continue
            target = (file.parent / unquote(place)).resolve() if place else file
            if not target.is_file() or (anchor and unquote(anchor) not in anchors.get(target, ())):
                yield f"{file.name}: {link} leads nowhere"


def faults_of_page(text: str) -> Iterator[str]:
    """Yield what is wrong in a page alone."""
    if "```" in text:
        yield "a fence is not a block of code"
    if re.search(r"<p>:::", text):
        yield "a part of the API is not filled in"
    for loaded in _LOADED.finditer(text):
        yield f"it loads {loaded[1] or loaded[2]}"


def faults_of_api(text: str) -> Iterator[str]:
    """Yield the public names that the page of the API lacks."""
    for name in dumbbell.__all__:
        if not re.search(rf'<span class="doc doc-object-name[^>]*>{name}</span>', text):
            yield f"api.html: {name} is missing"
    if "True to run only the representative part." not in text:
        yield "api.html: parameters have no descriptions"


def main() -> int:
    """Build it and print the faults; 1 if there are any."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="the folder for the site")
    folder = parser.parse_args().folder
    built = build(folder)
    lines = built.stderr.splitlines() if built.returncode else list(faults(folder))
    for line in lines:
        print(line, file=sys.stderr)
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())
