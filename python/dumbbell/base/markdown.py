"""Markdown as the generated pages in docs/ are written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

_CODE: Final = re.compile(r"(`[^`]*`)")
_SPECIAL: Final = re.compile(r"[*<$~\[\]_]")


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table whose cells are Markdown themselves."""
    return "".join(map(_line, (heads, ("---",) * len(heads), *rows)))


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(one_line(cell).replace("|", "\\|") for cell in cells) + " |\n"


def one_line(text: str) -> str:
    """Return a text without line ends and repeated spaces."""
    return " ".join(text.split())


def literal(text: str) -> str:
    """Return Markdown that shows a text literally."""
    return _SPECIAL.sub(r"\\\g<0>", text)


def parts(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the parts of a text, and whether each is code between backticks."""
    for part in _CODE.split(text):
        yield part, part.startswith("`")


def prose(text: str) -> str:
    """Return a text literally, but for code between backticks."""
    return "".join(part if is_code else literal(part) for part, is_code in parts(text))
