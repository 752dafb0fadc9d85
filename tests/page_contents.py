"""A page in HTML: references, anchors, pictures and text."""

from __future__ import annotations

from html.parser import HTMLParser


class Page(HTMLParser):
    """Collects what a page refers to, what can be referred to, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.references: list[str] = []
        self.anchors: set[str] = set()
        self.facets: set[str] = set()
        self.images: list[dict[str, str | None]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.references += [value for key in ("href", "src") if (value := attributes.get(key))]
        if anchor := attributes.get("id"):
            assert anchor not in self.anchors, f"twice: {anchor}"
            self.anchors.add(anchor)
        if facet := attributes.get("data-facet"):
            self.facets.add(facet)
        if tag == "img":
            self.images.append(attributes)

    def handle_data(self, data: str) -> None:
        self.text += data
