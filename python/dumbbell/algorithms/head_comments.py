"""The head comment of an algorithm's file.

The comment begins with a sentence; paragraphs follow. Lines indented by four spaces are equations.
A paragraph that begins with ``As in Linux:``, ``Unlike Linux:`` or ``Interpretation:`` is of that
kind: documentation pages, ``dumbbell algorithms show`` and reports show each kind separately.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Kind(StrEnum):
    """Subject of a paragraph; its text is the label that it begins with."""

    LAW = ""
    AS_IN_LINUX = "As in Linux"
    UNLIKE_LINUX = "Unlike Linux"
    INTERPRETATION = "Interpretation"


class Form(StrEnum):
    """Layout of the lines of a block."""

    PROSE = "prose"
    """One line, however long."""

    EQUATION = "equation"
    """Lines as they are, without the indentation that they share."""

    ITEMS = "items"
    """A line for each item of a list."""


@dataclass(frozen=True)
class Block:
    """A part of a paragraph."""

    form: Form
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Paragraph:
    """Prose and the equations in it, without the label."""

    kind: Kind
    blocks: tuple[Block, ...]

    @property
    def text(self) -> str:
        """All of it in one line, for where there is no room for more."""
        return " ".join(" ".join(line.split()) for block in self.blocks for line in block.lines)


@dataclass(frozen=True)
class HeadComment:
    """A head comment.

    Attributes
    ----------
    title, sentence
        The first line: ``title: sentence``.
    paragraphs
        The paragraphs after the first line.
    """

    title: str
    sentence: str
    paragraphs: tuple[Paragraph, ...]

    def of(self, kind: Kind) -> tuple[Paragraph, ...]:
        """Return the paragraphs of a kind."""
        return tuple(paragraph for paragraph in self.paragraphs if paragraph.kind is kind)

    @property
    def notes(self) -> tuple[Paragraph, ...]:
        """The paragraphs on differences from Linux, and on the interpretation of sources."""
        return tuple(paragraph for paragraph in self.paragraphs if paragraph.kind)

    @property
    def says_its_equations(self) -> bool:
        """True if there is an equation, or a statement that there is none."""
        blocks = [block for paragraph in self.paragraphs for block in paragraph.blocks]
        return any(block.form is Form.EQUATION for block in blocks) or any(
            _NO_EQUATION.search(line) for block in blocks for line in block.lines
        )


_COMMENT: Final = re.compile(r"^/\*\n(.*?)^ ?\*/", re.DOTALL | re.MULTILINE)
_STAR: Final = re.compile(r"^ \* ?")
_LABEL: Final = re.compile(rf"({'|'.join(kind for kind in Kind if kind)}):\s+")
_ITEM: Final = re.compile(r" {0,3}- ")
_EQUATION: Final = " " * 4
_WORD: Final = re.compile(r"[a-z]+(?=[\s,;:.'-]|$)")
_NO_EQUATION: Final = re.compile(r"\bno equations?\b", re.IGNORECASE)


@functools.cache
def parse(code: str, names: frozenset[str] = frozenset()) -> HeadComment:
    """Read the head comment of a C file: the first one of several lines.

    The first word after a label or the title gets a capital, unless it is one of `names` or a
    symbol.
    """
    comment = _COMMENT.search(code)
    lines = [_STAR.sub("", line).rstrip() for line in comment[1].splitlines()] if comment else []
    first, *rest = _paragraphs(list(_blocks(lines)), names) or [Paragraph(Kind.LAW, ())]
    if first.blocks[1:]:
        rest.insert(0, Paragraph(Kind.LAW, first.blocks[1:]))
    line = first.blocks[0].lines[0] if first.blocks else ""
    title, _, sentence = line.partition(": ")
    return HeadComment(title, _begun(sentence, names), tuple(rest))


def _begun(text: str, names: frozenset[str]) -> str:
    first = _WORD.match(text)
    word = first[0] if first else ""
    is_symbol = len(word) < 2 and word != "a"
    return text if is_symbol or word in names else text[:1].upper() + text[1:]


def _blocks(lines: Sequence[str]) -> Iterator[tuple[bool, Block]]:
    """Yield the blocks, each with whether an empty line is before it."""
    gap, form, block_lines = True, Form.PROSE, list[str]()
    for line in [*lines, ""]:
        line_form = _form(line, form if block_lines else None)
        if block_lines and (line_form is not form or _LABEL.match(line)):
            yield gap, _block(form, block_lines)
            gap, block_lines = False, []
        if line_form is None:
            gap = True
            continue
        form = line_form
        block_lines.append(line)


def _form(line: str, before: Form | None) -> Form | None:
    """Return the form of a line; None: it is empty."""
    if not line.strip():
        return None
    if _ITEM.match(line):
        return Form.ITEMS
    if before is Form.ITEMS and line.startswith(" "):
        return Form.ITEMS
    return Form.EQUATION if line.startswith(_EQUATION) else Form.PROSE


def _block(form: Form, lines: Sequence[str]) -> Block:
    if form is Form.EQUATION:
        shared = min(len(line) - len(line.lstrip()) for line in lines)
        return Block(form, tuple(line[shared:] for line in lines))
    if form is Form.PROSE:
        return Block(form, (" ".join(line.strip() for line in lines),))
    items: list[str] = []
    for line in lines:
        if _ITEM.match(line):
            items.append(_ITEM.sub("", line).strip())
        else:
            items[-1] += f" {line.strip()}"
    return Block(form, tuple(items))


def _paragraphs(blocks: Sequence[tuple[bool, Block]], names: frozenset[str]) -> list[Paragraph]:
    paragraphs: list[tuple[Kind, list[Block]]] = []
    for gap, block in blocks:
        label = _LABEL.match(block.lines[0]) if block.form is Form.PROSE else None
        if label is not None:
            rest = _begun(block.lines[0][label.end() :], names)
            paragraphs.append((Kind(label[1]), [Block(block.form, (rest,))]))
        elif paragraphs and (not gap or _continues(paragraphs[-1][1][-1], block)):
            paragraphs[-1][1].append(block)
        else:
            paragraphs.append((Kind.LAW, [block]))
    return [Paragraph(kind, tuple(parts)) for kind, parts in paragraphs]


def _continues(before: Block, block: Block) -> bool:
    """Return True if a block after an empty line still belongs to the paragraph.

    Equations do, and so does a sentence that continues after one, in lower case.
    """
    if block.form is Form.PROSE:
        return before.form is Form.EQUATION and block.lines[0][0].islower()
    return block.form is Form.EQUATION or before.lines[-1].endswith(":")
