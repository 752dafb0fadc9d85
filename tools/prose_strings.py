"""Prose in strings: messages, descriptions, help texts, and the texts of TOML files."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from sentences import ROOT, Sentence, of_markdown, sentences

TEXTS: Final = (
    ("python/dumbbell/studies/*/*.toml", "studies"),
    ("python/dumbbell/scenarios/**/*.toml", "scenarios"),
    ("python/dumbbell/checklists/**/*.toml", "checklists"),
    ("python/dumbbell/suites/*.toml", "suites"),
    ("python/dumbbell/experiments/**/*.toml", "experiments"),
    ("examples/**/*.toml", "examples"),
    ("docs/examples/**/*.toml", "examples"),
    ("tools/**/*.toml", "tools"),
)
"""TOML files with texts for readers, and their group."""
QUOTED: Final = {"authors", "formula", "quote", "scenarios", "source", "url", "venue"}
"""Keys whose texts others wrote, or that are no prose."""
TITLES: Final = {"title", "groups_title", "label", "parameter", "from", "to", "host", "hosts"}
"""Keys whose texts are titles: they are measured apart, as they are short."""

_PROSE: Final = re.compile(r"[A-Za-z]{2,}[,;:]? [a-z]+[,;:]? [a-z]+")
_RUST: Final = re.compile(
    r'(?s)//[^\n]*|/\*.*?\*/|\'"\'|b?r(#*)"(?P<raw>.*?)"\1|"(?P<text>(?:\\.|[^"\\])*)"'
)
_C: Final = re.compile(
    r'(?s)//[^\n]*|/\*.*?\*/|(?m:^#include[^\n]*)|\'"\''
    r'|(?P<text>"(?:\\.|[^"\\])*"(?:[\s\\]*"(?:\\.|[^"\\])*")*)'
)
_MAKE_HELP: Final = re.compile(r"(?m)^\t@echo '(?:make [\w-]+)? +(.*)'$")


def measured(text: str, file: str, line: int) -> Iterator[Sentence]:
    """Yield the sentences of a string; its beginning counts as that of a sentence."""
    if _PROSE.search(text):
        yield from sentences(_capitalised(text), file, line)


def _capitalised(text: str) -> str:
    text = text.strip()
    return text[:1].upper() + text[1:]


def of_rust_strings(text: str, name: str) -> Iterator[Sentence]:
    """Yield the sentences in the string literals of Rust, those of tests in the file excepted."""
    text = text.partition("#[cfg(test)]\nmod ")[0]
    for literal in _RUST.finditer(text):
        string = literal["raw"] or literal["text"] or ""
        string = re.sub(r"\\\n\s*", "", string).replace('\\"', '"').replace("\\n", "\n")
        string = re.sub(r"\{[^{}]*\}", "`x`", string)
        yield from measured(string, name, 1 + text.count("\n", 0, literal.start()))


def of_c_strings(text: str, name: str) -> Iterator[Sentence]:
    """Yield the sentences in the string literals of C; adjacent literals are one."""
    for literal in _C.finditer(text):
        string = "".join(re.findall(r'"((?:\\.|[^"\\])*)"', literal["text"] or ""))
        string = re.sub(r"%\w+", "`x`", string.replace("\\n", "\n").replace('\\"', '"'))
        yield from measured(string, name, 1 + text.count("\n", 0, literal.start()))


def of_help(text: str, name: str) -> Iterator[Sentence]:
    """Yield the sentences of help texts in Python code."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.keyword) and node.arg in {"help", "epilog", "short_help"}:
            yield from measured(_literal(node.value), name, node.value.lineno)


def _literal(node: ast.expr) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(_literal(part) for part in node.values)
    if isinstance(node, ast.BinOp):
        return _literal(node.left) + _literal(node.right)
    return str(node.value) if isinstance(node, ast.Constant) else "`x`"


def of_toml(text: str, name: str) -> Iterator[tuple[str, Sentence]]:
    """Yield the sentences of a TOML file, each with its kind: `titles` or `texts`."""
    for key, value in _texts(tomllib.loads(text)):
        line = 1 + text.count("\n", 0, max(text.find(value[:30].partition("\n")[0]), 0))
        if _PROSE.search(value):
            kind = "titles" if key in TITLES else "texts"
            read = of_markdown(_capitalised(value), name, line)
            yield from ((kind, sentence) for sentence in read)


def _texts(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Yield key and value of each text for readers; a table's own key counts for a list in it."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name not in QUOTED:
                yield from _texts(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner, key)
    elif isinstance(value, str):
        yield key, value


def of_hash_comments(text: str, name: str) -> Iterator[Sentence]:
    """Yield the sentences of comments that begin with `#` in column 1, a block of lines each."""
    for block in re.finditer(r"(?m)(?:^# ?.*\n?)+", text):
        prose = re.sub(r"(?m)^# ?", "", block[0])
        yield from of_markdown(prose, name, 1 + text.count("\n", 0, block.start()))


def of_makefile(text: str, name: str) -> Iterator[Sentence]:
    """Yield the descriptions of targets in the help of a Makefile."""
    described = re.sub(r"(?m)'\n\t@echo ' {3,}", " ", text)
    for line in _MAKE_HELP.finditer(described):
        yield from measured(line[1].replace("'\\''", "’"), name, 1)


def of_strings() -> Iterator[tuple[str, Sentence]]:
    """Yield the sentences in strings of the project, each with its group."""
    for _, name, text in _read("crates/*/src/**/*.rs"):
        yield from (("crates (strings)", sentence) for sentence in of_rust_strings(text, name))
    for pattern in ("algorithms/*.[ch]", "crates/*/src/*.c", "crates/*/bpf/*.[ch]"):
        for file, name, text in _read(pattern):
            group = (
                "algorithms (strings)" if file.parent.name == "algorithms" else "crates (strings)"
            )
            yield from ((group, sentence) for sentence in of_c_strings(text, name))
    for _, name, text in _read("python/dumbbell/**/*.py"):
        yield from (("python (help)", sentence) for sentence in of_help(text, name))
    for pattern, group in TEXTS:
        for _, name, text in _read(pattern):
            for kind, sentence in of_toml(text, name):
                yield f"{group} ({kind})", sentence
            yield from (
                (f"{group} (comments)", sentence) for sentence in of_hash_comments(text, name)
            )
    for _, name, text in _read("Makefile"):
        yield from (("Makefile (help)", sentence) for sentence in of_makefile(text, name))
        yield from (("Makefile (comments)", sentence) for sentence in of_hash_comments(text, name))


def _read(pattern: str) -> Iterator[tuple[Path, str, str]]:
    for file in sorted(ROOT.glob(pattern)):
        yield file, str(file.relative_to(ROOT)), file.read_text()
