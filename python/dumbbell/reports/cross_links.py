"""References in prose: code, and links to figures, tests and claims of a study."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from markupsafe import Markup, escape

from dumbbell.base import markdown
from dumbbell.study import mentions
from dumbbell.study.model import Study

_CLAIM: Final = re.compile(r"\b[A-Z]+\d+\b")
_CODE: Final = r"`(?P<code>[^`]+)`"
_NAMED: Final = re.compile(_CODE + r"|\b(?P<claim>[A-Z]+\d+)\b")


def code(text: str) -> Markup:
    """Mark up the text in backticks."""
    return Markup(re.sub(_CODE, r"<code>\g<code></code>", str(escape(text))))


def to_figures(text: str, names: Collection[str], page: str = "") -> Markup:
    """Turn the numbers of "Figs. 4 and 16" into links to the page that has those figures."""

    def link(number: str) -> str:
        meant = mentions.meant(number, names)
        return f'<a href="{page}#{meant[0]}">{number}</a>' if meant else number

    return Markup(mentions.with_numbers(str(escape(text)), link))


def to_tests_and_claims(text: str, study: Study, claims: str = "", tests: str = "") -> Markup:
    """Turn the names of tests in backticks, and of claims, into links.

    `claims` and `tests` are the pages that have them.
    """
    known = names(study)

    def link(match: re.Match[str]) -> str:
        words = match["claim"] or f"<code>{match['code']}</code>"
        name = match["claim"] or match["code"]
        page = claims if match["claim"] else tests
        return f'<a href="{page}#{name}">{words}</a>' if name in known else words

    return Markup(_NAMED.sub(link, str(escape(text))))


def in_markdown(text: str, study: Study, page: str) -> str:
    """Do the same in Markdown, with links to headings of a page."""
    known = names(study)

    def link(part: str, is_code: bool) -> str:
        if is_code:
            name = part.strip("`")
            return f"[{part}]({page}#{anchor(name)})" if name in known else part
        return _CLAIM.sub(
            lambda match: (
                f"[{match[0]}]({page}#{anchor(match[0])})" if match[0] in known else match[0]
            ),
            markdown.literal(part),
        )

    return "".join(link(*part) for part in markdown.parts(markdown.one_line(text)))


def names(study: Study) -> frozenset[str]:
    """Return the names that links lead to: of tests and of claims."""
    return frozenset(test.name for test in study.tests) | {claim.id for claim in study.claims}


def anchor(name: str) -> str:
    """Return the anchor of a heading that is a name."""
    return name.lower()
