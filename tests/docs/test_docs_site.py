"""The site of docs/: faults of pages are found, links leave docs/, and pages open and are searched."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import docs_site
import pytest
from inline_snapshot import snapshot
from reference import site_hooks

import dumbbell
from browser import Browser

PAGES = ("README.md", "guides/undecided.md", "algorithms/reno.md")
"""The pages of the site of these tests; `make docs-site` builds all, and looks at all."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("docs")
    config = {
        "INHERIT": str(docs_site.ROOT / "mkdocs.yml"),
        "docs_dir": str(docs_site.DOCS),
        "hooks": [site_hooks.__file__],
        "nav": list(PAGES),
        "exclude_docs": "\n".join(["*.md", "!/repository/**", *(f"!/{page}" for page in PAGES)]),
        "not_in_nav": "*",
        "validation": {"links": {"anchors": "info", "not_found": "info"}},
    }
    (folder / "mkdocs.yml").write_text(json.dumps(config))
    built = docs_site.build(folder / "site", folder / "mkdocs.yml")
    assert built.returncode == 0, built.stderr
    return folder / "site"


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    text = '<p id="here"><a href="#here">1</a><a href="#gone">2</a><a href="no.html">3</a>'
    page.write_text(text)
    assert list(docs_site.broken_links({page: text})) == [
        "page.html: #gone leads nowhere",
        "page.html: no.html leads nowhere",
    ]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("<p>```python", "a fence is not a block of code"),
        ("<p>::: dumbbell.compare", "a part of the API is not filled in"),
        ('<script async src="https://a/b.js">', "it loads https://a/b.js"),
        ('<link rel="stylesheet" href="https://a/b.css">', "it loads https://a/b.css"),
    ],
)
def test_a_fault_of_a_page_is_found(text: str, fault: str) -> None:
    assert list(docs_site.faults_of_page(text)) == [fault]


def test_a_page_that_is_missing_and_names_without_a_description_are_found(tmp_path: Path) -> None:
    names = dumbbell.__all__[1:]
    page = "".join(f'<span class="doc doc-object-name">{name}</span>' for name in names)
    (tmp_path / "api.html").write_text(page)
    *missing, first, last = docs_site.faults(tmp_path)
    pages = {fault.partition(":")[0] for fault in missing}
    assert pages == {
        f"docs/{page.relative_to(docs_site.DOCS)}"
        for page in docs_site.DOCS.rglob("*.md")
        if page.name != "api.md"
    }
    assert first == f"api.html: {dumbbell.__all__[0]} is missing"
    assert last == snapshot("api.html: parameters have no descriptions")


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
    built = docs_site.build(tmp_path / "site", config)
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
    tab.wait("document.querySelectorAll('.md-search-result__item').length > 0")
    assert "Why a claim is undecided" in tab.evaluate(
        "document.querySelector('.md-search-result__list').textContent"
    )
    assert tab.complaints == []


def test_pages_can_be_searched_from_disk(site: Path, tab: Browser) -> None:
    """Browsers start no workers from disk, so a frame runs the search there."""
    tab.open(site / "guides/undecided.html", "?q=undecided")
    tab.wait("document.querySelectorAll('.md-search-result__item').length > 0")
    assert "Why a claim is undecided" in tab.evaluate(
        "document.querySelector('.md-search-result__list').textContent"
    )
    assert tab.complaints == []


def test_pages_open_from_disk(site: Path, tab: Browser) -> None:
    tab.open(site / "guides/undecided.html", width=390)
    assert "When more runs do not help" in tab.text()
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
