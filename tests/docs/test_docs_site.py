"""`make docs-site`: it builds without a warning, and every link leads to a page and a heading."""

from __future__ import annotations

import html
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Final
from urllib.parse import unquote

import pytest
from reference import site_hooks

import dumbbell
from browser import Browser

ROOT: Final = Path(__file__).resolve().parents[2]
OUTSIDE: Final = ("http:", "https:", "data:", "mailto:", "javascript:")
GENERATED: Final = {"404.html"}
"""Of the theme, with addresses from the root of a server."""


def _build(folder: Path, config: Path = ROOT / "mkdocs.yml") -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "mkdocs", "build", "--strict", "--config-file", str(config)]
    return subprocess.run(
        [*line, "--site-dir", str(folder)],
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("docs") / "site"
    built = _build(folder)
    assert built.returncode == 0, built.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, str]:
    texts = {file.resolve(): file.read_text() for file in site.rglob("*.html")}
    return {file: text for file, text in texts.items() if file.name not in GENERATED}


def _broken(pages: dict[Path, str]) -> list[str]:
    """Return the links of pages that lead nowhere."""
    anchors = {file: set(re.findall(r'\bid="?([^"\s>]+)', text)) for file, text in pages.items()}
    broken = []
    for file, text in pages.items():
        for link in re.findall(r'\b(?:href|src)="([^"]*)"', text):
            place, _, anchor = html.unescape(link).partition("#")
            if place.startswith(OUTSIDE):
                continue
            target = (file.parent / unquote(place)).resolve() if place else file
            if not target.is_file() or (anchor and unquote(anchor) not in anchors.get(target, ())):
                broken.append(f"{file.name}: {link}")
    return broken


def test_every_link_leads_somewhere(pages: dict[Path, str]) -> None:
    assert _broken(pages) == []


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(
        '<p id="here"><a href="#here">1</a><a href="#gone">2</a><a href="no.html">3</a>'
    )
    assert _broken({page: page.read_text()}) == ["page.html: #gone", "page.html: no.html"]


def test_every_page_of_docs_is_there_with_its_code(site: Path) -> None:
    sources = {file.relative_to(ROOT / "docs") for file in (ROOT / "docs").rglob("*.md")}
    for source in sources:
        page = source.with_name(
            "index.html" if source.name == "README.md" else f"{source.stem}.html"
        )
        text = (site / page).read_text()
        assert "```" not in text, f"{source}: a fence that is no block"
        assert not re.search(r"<p>:::", text), f"{source}: a part of the API that is not filled in"


def test_pages_need_no_network(pages: dict[Path, str]) -> None:
    parts = r'<(?:script|img|iframe)[^>]*\bsrc="(https?:[^"]*)'
    styles = r'<link[^>]*stylesheet[^>]*href="(https?:[^"]*)'
    for text in pages.values():
        assert not re.findall(f"{parts}|{styles}", text)


def test_the_api_has_all_public_names_and_their_parameters(site: Path) -> None:
    text = (site / "api.html").read_text()
    for name in dumbbell.__all__:
        assert re.search(rf'<span class="doc doc-object-name[^>]*>{name}</span>', text), name
    assert "Run the representative part only." in text


def test_links_out_of_docs_get_pages(site: Path) -> None:
    assert "CC_ALGORITHM" in (site / "repository/algorithms/reno.c.html").read_text()
    assert "../repository/algorithms/reno.c.html" in (site / "algorithms/reno.html").read_text()
    assert (site / "repository/ARCHITECTURE.html").is_file()


def test_a_link_to_nothing_is_left_for_the_build_to_refuse(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/index.md").write_text("# A page\n\n[gone](../gone.md) [here](#nowhere)\n")
    config = tmp_path / "mkdocs.yml"
    hooks = Path(site_hooks.__file__).as_posix()
    config.write_text(
        f"site_name: A\nhooks: [{hooks}]\nnav: [index.md]\n"
        "validation: { links: { anchors: warn, not_found: warn } }\n"
    )
    built = _build(tmp_path / "site", config)
    assert built.returncode != 0
    assert built.stderr.count("WARNING") == 2


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_pages_can_be_searched(address: str, tab: Browser) -> None:
    tab.open(f"{address}/index.html", "?q=undecided")
    tab.wait("document.querySelectorAll('.md-search-result__item').length > 2")
    assert "Why a claim is undecided" in tab.evaluate(
        "document.querySelector('.md-search-result__list').textContent"
    )
    assert tab.complaints == []


def test_pages_can_be_searched_from_disk(site: Path, tab: Browser) -> None:
    """Browsers start no workers from disk, so a frame runs the search there."""
    tab.open(site / "guides/undecided.html", "?q=undecided")
    tab.wait("document.querySelectorAll('.md-search-result__item').length > 2")
    assert "Why a claim is undecided" in tab.evaluate(
        "document.querySelector('.md-search-result__list').textContent"
    )
    assert tab.complaints == []


def test_pages_open_from_disk(site: Path, tab: Browser) -> None:
    tab.open(site / "guides/undecided.html", width=390)
    assert "When more runs do not help" in tab.text()
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
