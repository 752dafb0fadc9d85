"""Changes that `make docs-site` makes to the pages of docs/, which GitHub shows as they are.

MkDocs calls the functions whose names begin with ``on_`` (`mkdocs.yml` names this file). Links that
lead out of docs/ get separate pages, below `repository/`: Markdown as it is, other files as code,
folders as lists.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT: Final = Path(__file__).resolve().parents[2]
DOCS: Final = "docs"
OUTSIDE: Final = "repository"
"""Folder of the pages about files outside of docs/."""

_LINK: Final = re.compile(r"(?<=\]\()([^)\s#:]+)(?=[)#])")
_FENCE: Final = re.compile(r"^(```+|~~~+)(\w*)[^\n]*$")
_FILE: Final = re.compile(r"^(```\w+) file=(\S+)$")
_UNLISTED: Final = "---\nsearch: { exclude: true }\n---\n"


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the pages of a folder in the place of ``FOLDER/*``."""
    config.nav = _expanded(config.nav)
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add a page for whatever pages link to outside of docs/, and so on from there."""
    from mkdocs.structure.files import File  # noqa: PLC0415 - only the site needs mkdocs

    waiting = [page.content_string for page in files.documentation_pages()]
    origins = [_origin(page.src_uri) for page in files.documentation_pages()]
    while waiting:
        for target in _outside(waiting.pop(), origins.pop()):
            uri = _page_of(target)
            if files.get_file_from_path(uri) is None:
                files.append(File.generated(config, uri, content=_content(target)))
                if target.endswith(".md"):
                    waiting.append((ROOT / target).read_text())
                    origins.append(target)
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Lead links to the site's pages, and give code blocks what Markdown's readers know of them."""
    uri = page.file.src_uri
    origin = _origin(uri)

    def moved(link: re.Match[str]) -> str:
        target = _target(link[1], origin)
        return link[1] if target is None else posixpath.relpath(_page_of(target), _folder(uri))

    return "\n".join(_lines(markdown, moved))


def _expanded(nav: Any) -> Any:
    if isinstance(nav, dict):
        return {title: _expanded(entry) for title, entry in nav.items()}
    if isinstance(nav, list):
        return [_expanded(entry) for entry in nav]
    if not nav.endswith("/*"):
        return nav
    pages = sorted(page.relative_to(ROOT / DOCS) for page in (ROOT / DOCS).glob(f"{nav}.md"))
    return [page.as_posix() for page in sorted(pages, key=lambda page: page.stem != "README")]


def _lines(markdown: str, moved: Callable[[re.Match[str]], str]) -> Iterator[str]:
    """Yield the lines of a page: links outside of code moved, words after a fence taken away."""
    fence = ""
    for line in markdown.split("\n"):
        opening = _FENCE.match(line)
        if opening and not fence:
            fence = opening[1]
            yield _FILE.sub(r'\1 title="\2"', line) if _FILE.match(line) else fence + opening[2]
        elif fence:
            yield line
            fence = "" if line.strip() == fence else fence
        else:
            yield _LINK.sub(moved, line)


def _outside(markdown: str, origin: str) -> Iterator[str]:
    """Yield the files and folders outside of docs/ that a page links to."""
    links: list[str] = []

    def noted(link: re.Match[str]) -> str:
        links.append(link[1])
        return link[1]

    list(_lines(markdown, noted))
    for link in links:
        target = _target(link, origin)
        if target is not None and not _is_in_docs(target):
            yield target


def _origin(uri: str) -> str:
    """Return the place in the repository of what a page is made of."""
    inside = uri.removeprefix(f"{OUTSIDE}/")
    return inside if inside != uri else f"{DOCS}/{uri}"


def _target(link: str, origin: str) -> str | None:
    """Return the place in the repository that a link leads to, if there is something."""
    target = posixpath.normpath(posixpath.join(_folder(origin), link))
    return target if (ROOT / target).exists() else None


def _page_of(target: str) -> str:
    """Return the page, or the file of the site, for a place in the repository."""
    if _is_in_docs(target):
        uri = target.removeprefix(f"{DOCS}/")
        return f"{uri}/README.md" if (ROOT / target).is_dir() else uri
    if (ROOT / target).is_dir():
        return f"{OUTSIDE}/{target}/README.md"
    return f"{OUTSIDE}/{target}" if target.endswith(".md") else f"{OUTSIDE}/{target}.md"


def _content(target: str) -> str:
    """Return the page of a place outside of docs/."""
    place = ROOT / target
    if place.is_dir():
        names = sorted(entry.name for entry in place.iterdir() if not entry.name.startswith("."))
        return f"{_UNLISTED}# {target}/\n\n" + "".join(f"- `{name}`\n" for name in names)
    text = place.read_text()
    if target.endswith(".md"):
        return text
    return f"{_UNLISTED}# {target}\n\n~~~~{place.suffix.removeprefix('.')}\n{text}\n~~~~\n"


def _is_in_docs(target: str) -> bool:
    return target.startswith(f"{DOCS}/")


def _folder(place: str) -> str:
    return posixpath.dirname(place) or "."
