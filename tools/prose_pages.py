"""Prose of web pages: comments and visible texts of their templates and scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import Final

from prose_strings import measured
from sentences import ROOT, Sentence, sentences

PAGES: Final = "python/dumbbell/*/templates"

_INTERPOLATION: Final = r"\$\{(?:[^{}`]|`[^`]*`)*\}"
_SCRIPT: Final = re.compile(
    r"(?m)(?P<comment>(?:^ *//.*\n?)+)"
    rf'|"(?P<string>(?:\\.|[^"\\\n])*)"|`(?P<template>(?:\\.|{_INTERPOLATION}|[^`\\])*)`'
)
_HIDDEN: Final = re.compile(r"(?s)\{#.*?#\}|<(?:style|script)\b.*?</(?:style|script)>")
_JINJA: Final = re.compile(r"(?s)\{\{.*?\}\}|\{%.*?%\}")
_CODE: Final = re.compile(r"(?s)<code\b.*?</code>")
_ATTRIBUTE: Final = re.compile(r'\b(?:alt|aria-label|title)="([^"]*)"')
_TAG: Final = re.compile(r"</?(\w+|!)[^<>]*>")
_INLINE: Final = {"a", "b", "br", "cite", "em", "small", "span", "strong"}
"""Elements within a sentence. Each other tag ends one."""


def of_script(text: str, name: str) -> Iterator[tuple[str, Sentence]]:
    """Yield the sentences of comments and strings in JavaScript, each with its kind.

    A string inside an expression of a template literal is not read.
    """
    for part in _SCRIPT.finditer(text):
        line = _line(text, part.start())
        if part["comment"]:
            prose = re.sub(r"(?m)^ *// ?", "", part["comment"])
            yield from (("comments", sentence) for sentence in sentences(prose, name, line))
        else:
            string = re.sub(_INTERPOLATION, "`x`", part["template"] or part["string"] or "")
            yield from (("texts", sentence) for sentence in measured(string, name, line))


def of_template(text: str, name: str) -> Iterator[tuple[str, Sentence]]:
    """Yield the sentences of comments and visible texts in a template, each with its kind.

    A branch of a condition begins a sentence. Code and an expression of Jinja are a word.
    """
    for comment in re.finditer(r"(?s)\{#(.*?)#\}", text):
        line = _line(text, comment.start())
        yield from (("comments", sentence) for sentence in sentences(comment[1], name, line))
    for sentence in _visible(_HIDDEN.sub(lambda part: "\n" * part[0].count("\n"), text), name):
        yield "texts", sentence


def _visible(text: str, name: str) -> Iterator[Sentence]:
    for part in _JINJA.finditer(text):
        for string in re.findall(r'"([^"]*)"', part[0]):
            yield from measured(string, name, _line(text, part.start()))
    text = _JINJA.sub(_seen, _CODE.sub("`x`", text))
    for attribute in _ATTRIBUTE.finditer(text):
        yield from measured(attribute[1], name, _line(text, attribute.start()))
    text = _TAG.sub(lambda tag: "" if tag[1] in _INLINE else "\0", text)
    for piece in re.finditer(r"[^\0]+", text):
        yield from sentences(unescape(piece[0]), name, _line(text, piece.start()))


def _seen(part: re.Match[str]) -> str:
    """Return what stays of an expression or statement of Jinja in a sentence."""
    if part[0].startswith("{{"):
        return "`x`"
    return "\0" if re.match(r"\{%-? *(?:else|elif)\b", part[0]) else ""


def _line(text: str, place: int) -> int:
    return 1 + text.count("\n", 0, place)


def of_pages() -> Iterator[tuple[str, Sentence]]:
    """Yield the sentences of all templates and scripts of pages, each with its group."""
    for suffix, of_text in ((".js", of_script), (".j2", of_template)):
        for file in sorted(ROOT.glob(f"{PAGES}/*{suffix}")):
            for kind, sentence in of_text(file.read_text(), str(file.relative_to(ROOT))):
                yield f"pages ({kind})", sentence
