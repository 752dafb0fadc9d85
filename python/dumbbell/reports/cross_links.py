"""References in prose: code, and links to figures, tests and claims of a study."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from markupsafe import Markup, escape

from dumbbell.study import mentions
from dumbbell.study.model import Study

_CODE: Final = r"`(?P<code>[^`]+)`"
_NAMED: Final = re.compile(_CODE + r"|\b(?P<claim>[A-Z]+\d+)\b")


def code(text: str) -> Markup:
    """Mark up the text in backticks."""
    return Markup(re.sub(_CODE, r"<code>\g<code></code>", str(escape(text))))


def to_figures(text: str, names: Collection[str]) -> Markup:
    """Turn the numbers of "Figs. 4 and 16" into links where the report has those figures."""

    def link(number: str) -> str:
        meant = mentions.meant(number, names)
        return f'<a href="#{meant[0]}">{number}</a>' if meant else number

    return Markup(mentions.with_numbers(str(escape(text)), link))


def to_tests_and_claims(text: str, study: Study, page: str = "") -> Markup:
    """Turn the names of tests in backticks, and of claims, into links to the study's page."""
    known = {test.name for test in study.tests} | {claim.id for claim in study.claims}

    def link(found: re.Match[str]) -> str:
        words = found["claim"] or f"<code>{found['code']}</code>"
        name = found["claim"] or found["code"]
        return f'<a href="{page}#{name}">{words}</a>' if name in known else words

    return Markup(_NAMED.sub(link, str(escape(text))))
