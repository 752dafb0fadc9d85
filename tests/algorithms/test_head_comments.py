"""Head comments of algorithms: the kinds of paragraphs in them."""

from __future__ import annotations

import pytest

from dumbbell.algorithms.head_comments import Block, Form, HeadComment, Kind, Paragraph, parse

CODE = """/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Test TCP: grow, then
 * shrink.
 *
 * The window grows by
 *
 *     w <- w + a
 *       for a < 2
 *
 * segments. Then:
 *  - it shrinks, which
 *    takes a while
 *  - it rests
 *
 * As in Linux: clocks tick.
 * Unlike Linux: a is a choice.
 *
 * Interpretation: gain is 3, thus
 *
 *     a = gain / 3
 *
 * in all that follows.
 *
 * Nothing else is known.
 */
#include "cc.h"
/*
 * Another comment.
 */
"""


def prose(line: str) -> Block:
    return Block(Form.PROSE, (line,))


def test_paragraphs_equations_lists_and_labels_are_told_apart() -> None:
    assert parse(CODE, frozenset({"gain"})) == HeadComment(
        "Test TCP",
        "Grow, then shrink.",
        (
            Paragraph(
                Kind.LAW,
                (
                    prose("The window grows by"),
                    Block(Form.EQUATION, ("w <- w + a", "  for a < 2")),
                    prose("segments. Then:"),
                    Block(Form.ITEMS, ("it shrinks, which takes a while", "it rests")),
                ),
            ),
            Paragraph(Kind.AS_IN_LINUX, (prose("Clocks tick."),)),
            Paragraph(Kind.UNLIKE_LINUX, (prose("A is a choice."),)),
            Paragraph(
                Kind.INTERPRETATION,
                (
                    prose("gain is 3, thus"),
                    Block(Form.EQUATION, ("a = gain / 3",)),
                    prose("in all that follows."),
                ),
            ),
            Paragraph(Kind.LAW, (prose("Nothing else is known."),)),
        ),
    )


def test_a_paragraph_fits_into_a_line() -> None:
    (read,) = parse(CODE).of(Kind.INTERPRETATION)
    assert read.text == "Gain is 3, thus a = gain / 3 in all that follows."
    assert [note.kind for note in parse(CODE).notes] == [
        Kind.AS_IN_LINUX,
        Kind.UNLIKE_LINUX,
        Kind.INTERPRETATION,
    ]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (" *     w <- 1\n", True),
        (" * There is no equation: it obeys a table.\n", True),
        (" * It obeys w <- 1.\n", False),
    ],
)
def test_a_comment_has_equations_or_says_that_there_are_none(text: str, says: bool) -> None:
    code = f"/* one line */\n/*\n * Test: a test.\n *\n{text} */\n"
    assert parse(code).says_its_equations is says


def test_a_file_without_a_comment_says_nothing() -> None:
    assert parse("int a;\n") == HeadComment("", "", ())
