"""Summaries as notebooks show them: a line in bold and a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from dumbbell.base.errors import printable


def summary(title: str, about: str, heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a title, a line about it and a table; texts are shown literally."""
    body = "".join(_row("td", row) for row in rows)
    return (
        f"<p><b>{_shown(title)}</b><br>{_shown(about)}</p>"
        f"<table><thead>{_row('th', heads)}</thead><tbody>{body}</tbody></table>"
    )


def _row(cell: str, texts: Sequence[object]) -> str:
    return f"<tr>{''.join(f'<{cell}>{_shown(text)}</{cell}>' for text in texts)}</tr>"


def _shown(text: object) -> str:
    return escape(printable(str(text)))
