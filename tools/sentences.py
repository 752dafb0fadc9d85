"""Sentences, and the rules of docs/contributing/style.md that can be counted in one."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from markdown_it import MarkdownIt

ROOT: Final = Path(__file__).resolve().parents[1]
GOALS: Final = {"clauses": 0.5, "words": 15.0, "dialect": 1.0}
"""Percent of sentences with a clause as subject; words a sentence; dialect a thousand words."""

CLAUSE: Final = re.compile(
    r"^(What(?:ever)?|Who(?:ever|m|se)?|Which(?:ever)?|Whether|How|Why|Of what|Of which"
    r"|Where(?=[^,]*$)|That (?:an?|the|it|they|there))\b(?!.*\?$)"
)
"""A clause as subject. Questions and conditions ("Where X, Y") are neither."""

_STYLE: Final = (ROOT / "docs/contributing/style.md").read_text()
DIALECT: Final = {
    word: standard
    for words, standard in re.findall(r"(?m)^\| (`.+`) \| (.+) \|$", _STYLE)
    for word in re.findall(r"`(.+?)`", words)
}
"""Words of the style page's table, and what to write instead."""
_DIALECT: Final = re.compile(rf"\b(?:{'|'.join(DIALECT)})\b", re.IGNORECASE)
_WORD: Final = re.compile(r"[A-Za-z][\w'’-]*|`[^`]*`|(?P<number>\d[\w.,%]*)")
_END: Final = re.compile(r"(?<=[.!?])[)\"”]?\s+(?=[A-Z`\"“(\d])")
_SHORT: Final = re.compile(r"(?:\b(?:e\.g|i\.e|cf|vs|al|Fig|Eq|No|Sec)|\b[A-Z])\.$")


@dataclass(frozen=True)
class Sentence:
    """A sentence, and the file and line where it begins."""

    text: str
    file: str
    line: int

    def faults(self, measure: str) -> list[str]:
        """Return what in this sentence counts towards a measure."""
        if measure == "clauses":
            return CLAUSE.findall(self.text)
        if measure == "dialect":
            dialect_words = _DIALECT.findall(re.sub(r"`[^`]*`", "`x`", self.text))
            return [f'"{word}": {DIALECT[word.lower()]}' for word in dialect_words]
        return [f"{self.words} words"] if self.words > 2 * GOALS["words"] else []

    @property
    def words(self) -> int:
        """Number of words; code counts as one."""
        return sum(1 for _ in _WORD.finditer(self.text))


def sentences(text: str, file: str, line: int, *, whole: bool = True) -> Iterator[Sentence]:
    """Yield the sentences of a paragraph; with `whole` unset only those with a full stop.

    A list of measured values, a fifth of it numbers, is no sentence.
    """
    begin = 0
    for end in [*(stop.end() for stop in _END.finditer(text)), len(text)]:
        piece = text[begin:end].strip()
        if _SHORT.search(piece) and end < len(text):
            continue
        numbers = [word["number"] is not None for word in _WORD.finditer(piece)]
        is_prose = len(numbers) > 1 and sum(numbers) * 5 < len(numbers)
        if is_prose and (whole or piece.endswith((".", "?", "!"))):
            yield Sentence(" ".join(piece.split()), file, line + text.count("\n", 0, begin))
        begin = end


def of_markdown(text: str, file: str, line: int = 1) -> Iterator[Sentence]:
    """Yield the sentences of a Markdown text: not its code, headings or pictures."""
    tokens = MarkdownIt().enable("table").parse(text)
    row = 0
    for before, token in itertools.pairwise(tokens):
        row = (before.map or token.map or [row])[0]
        if token.type == "inline" and before.type != "heading_open":
            prose = "".join(
                {"softbreak": "\n", "hardbreak": "\n", "code_inline": "`x`"}.get(
                    child.type, "" if child.type == "image" else child.content
                )
                for child in token.children or ()
                if child.type != "html_inline"
            )
            yield from sentences(prose, file, line + row, whole=before.type == "paragraph_open")
