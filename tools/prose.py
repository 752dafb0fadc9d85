"""Measure the project's English and compare it with a baseline (docs/contributing/style.md).

`make lint` runs it. A measure above both its goal and its baseline fails, with the sentences to
change. `--accept` lowers the baseline; `--table` prints all measures. A document that moves takes
its entry in `tools/prose.json` with it.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from prose_pages import of_pages
from prose_strings import of_strings
from sentences import GOALS, ROOT, Sentence, of_markdown, sentences

BASELINE: Final = Path(__file__).with_suffix(".json")
C_GROUPS: Final = (
    ("algorithms/*.c", "algorithms", "algorithms (comments)"),
    ("algorithms/*.h", "algorithms (headers)", "algorithms (headers)"),
    ("crates/*/src/*.c", "crates (C comments)", "crates (C comments)"),
    ("crates/*/bpf/*.[ch]", "crates (C comments)", "crates (C comments)"),
    ("python/dumbbell/**/*.c", "python (C comments)", "python (C comments)"),
    ("python/dumbbell/**/*.css", "pages (comments)", "pages (comments)"),
    ("tests/**/*.[ch]", "tests (C comments)", "tests (C comments)"),
)
"""C files and style sheets, and the groups of their head comments and of the comments inside."""

_COMMENT: Final = re.compile(r"(?m)(?:^( *//[/!]?)(?![/!]).*\n?)(?:^\1(?![/!]).*\n?)*")
"""Comment lines of one kind and indent, one after the other."""
_RUST_CODE: Final = re.compile(
    r"(?m)^ *(?:[)}\]].*|.*[{}]|(?:let|return|[\w.:!*&]+(?:\(| [-+*/|&]?= )).*;)$"
)
"""A line of code in a comment."""
_C_COMMENT: Final = re.compile(r"(?ms)^[ \t]*/\*(?! SPDX-)(.*?)\*/")


def of_docstring(text: str, file: str, line: int) -> Iterator[Sentence]:
    """Yield the sentences of a docstring, without examples and names of parameters."""
    text = re.sub(r"(?m)^[A-Z]\w+\n-{3,}$", "\n", inspect.cleandoc(text))
    text = re.sub(r"(?m)^[`*\w., ]+(?: : .*)?\n(?=    \S)", "\n", text)
    text = re.sub(r"``(.+?)``", r"`\1`", re.sub(r"(?m)^(?:\s*(?:>>>|\.\.\.)).*$", "", text))
    for part in re.finditer(r"(?:.+\n?)+", re.sub(r"(?m)^ +|^[-*] ", "", text)):
        yield from sentences(part[0], file, line + text.count("\n", 0, part.start()))


def of_python(file: Path, name: str) -> Iterator[tuple[str, Sentence]]:
    """Yield the docstrings and the messages of errors in a Python file, each with its kind."""
    for node in ast.walk(ast.parse(file.read_text())):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield from (
                    ("docstrings", sentence) for sentence in of_docstring(text, name, node.lineno)
                )
            case ast.Call(func=ast.Name(id=called)) if called.endswith("Error"):
                valid = [key.value for key in node.keywords if key.arg == "valid"]
                for part in [*node.args[:1], *valid]:
                    text = _literal(part)
                    yield from (
                        ("errors", sentence) for sentence in sentences(text, name, node.lineno)
                    )


def _literal(node: ast.expr) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(_literal(part) for part in node.values)
    if isinstance(node, ast.BinOp):
        return _literal(node.left) + _literal(node.right)
    return str(node.value) if isinstance(node, ast.Constant) else "`x`"


def of_c(file: Path, name: str) -> Iterator[tuple[str, Sentence]]:
    """Yield the sentences of comments in a C file, each with its kind, as :func:`of_rust`.

    The head is the first comment that begins with an empty line. Equations, the licence and
    comments behind code are no prose.
    """
    text = file.read_text()
    head = text.find("/*\n")
    for comment in _C_COMMENT.finditer(text):
        kind = "head" if comment.start(1) - 2 == head else "inside"
        prose = re.sub(r"(?m)^[ \t]*\*(?: {4,}.*| )?|[ \t]*\\?$", "", comment[1])
        for part in re.finditer(r"(?:.+\n?)+", prose):
            line = 1 + text.count("\n", 0, comment.start(1)) + prose.count("\n", 0, part.start())
            yield from ((kind, sentence) for sentence in sentences(part[0], name, line))


def of_rust(file: Path, name: str) -> Iterator[tuple[str, Sentence]]:
    """Yield the sentences of comments in a Rust file, which are Markdown, each with its kind.

    The kind of a comment at the head of a file is `head`, and `inside` elsewhere. A comment behind
    code, a `SAFETY:` marker, an address and code are no prose.
    """
    text = file.read_text()
    for comment in _COMMENT.finditer(text):
        line = 1 + text.count("\n", 0, comment.start())
        prose = re.sub(r"(?m)^ *//[/!]? ?(?:SAFETY: )?", "", comment[0])
        if comment[1].endswith("//"):
            prose = _RUST_CODE.sub("", prose)
        prose = re.sub(r"<?https?://[^\s>)]+>?", "`x`", prose)
        kind = "head" if line == 1 and comment[1] == "//!" else "inside"
        yield from ((kind, sentence) for sentence in of_markdown(prose, name, line))


def of_engine() -> Iterator[tuple[str, Sentence]]:
    """Yield the sentences of comments in C and Rust, each with its group."""
    for pattern, head, inside in C_GROUPS:
        for file in sorted(ROOT.glob(pattern)):
            for kind, sentence in of_c(file, str(file.relative_to(ROOT))):
                yield head if kind == "head" else inside, sentence
    for folder in ("src", "tests", "benches"):
        for file in sorted(ROOT.glob(f"crates/*/{folder}/**/*.rs")):
            relative = file.relative_to(ROOT)
            for kind, sentence in of_rust(file, str(relative)):
                is_room = kind == "head" and folder == "src"
                inside = f"crates/{relative.parts[1]} (comments)"
                yield "crates (head comments)" if is_room else inside, sentence


def documents() -> dict[str, list[Sentence]]:
    """Return the sentences of each document, or of each group of files."""
    read: dict[str, list[Sentence]] = {}
    for file in [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/**/*.md"))]:
        if file.match("docs/studies/*-checks.md"):
            continue  # Lists of findings, whose words are those of every check.
        name = str(file.relative_to(ROOT))
        if name != "LICENSE.md":
            read[name] = list(of_markdown(file.read_text(), name))
    for group, sentence in of_engine():
        read.setdefault(group, []).append(sentence)
    for folder in ("python/dumbbell", "tests", "tools"):
        for file in sorted(ROOT.glob(f"{folder}/**/*.py")):
            for kind, sentence in of_python(file, str(file.relative_to(ROOT))):
                if kind == "docstrings" or folder != "tests":
                    group = "tests" if folder == "tests" else "python"
                    read.setdefault(f"{group} ({kind})", []).append(sentence)
    for group, sentence in (*of_strings(), *of_pages()):
        read.setdefault(group, []).append(sentence)
    return read


def measures(read: list[Sentence]) -> dict[str, float]:
    """Return the three measures of a document's sentences, to a tenth."""
    words = sum(sentence.words for sentence in read)
    clauses, dialect = (
        sum(len(sentence.faults(measure)) for sentence in read)
        for measure in ("clauses", "dialect")
    )
    return {
        "clauses": round(100 * clauses / max(len(read), 1), 1),
        "words": round(words / max(len(read), 1), 1),
        "dialect": round(1000 * dialect / max(words, 1), 1),
    }


def failures(read: list[Sentence], allowed: dict[str, float]) -> Iterator[str]:
    """Yield each measure above its goal and its baseline, and the sentences to blame."""
    for measure, value in measures(read).items():
        limit = max(GOALS[measure], allowed.get(measure, 0))
        if value <= limit:
            continue
        yield f"{measure} {value:g}, at most {limit:g}"
        blamed = [sentence for sentence in read if sentence.faults(measure)]
        for sentence in sorted(blamed, key=lambda sentence: -sentence.words)[:10]:
            fault = "; ".join(sentence.faults(measure))
            yield f"  {sentence.file}:{sentence.line}: {fault}: {sentence.text[:90]}"


def main(arguments: list[str] | None = None) -> int:
    """Run the check; return 1 if a document is worse than its baseline."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--accept", action="store_true", help="lower the baseline")
    parser.add_argument("--table", action="store_true", help="print the measures of all documents")
    options = parser.parse_args(arguments)
    baseline = json.loads(BASELINE.read_text())
    read = documents()
    measured = {name: measures(document) for name, document in read.items()}
    if options.table:
        print("| document | sentences | clauses % | words | dialect ‰ |\n|---|---|---|---|---|")
        for name, values in measured.items():
            print(f"| {name} | {len(read[name])} |", " | ".join(map(str, values.values())), "|")
    if options.accept:
        lowered = {
            name: {key: min(value, measured[name][key]) for key, value in known.items()}
            for name, known in baseline.items()
            if name in measured
        }
        BASELINE.write_text(json.dumps(lowered, indent=1) + "\n")
    failed = False
    for name, document in read.items():
        for line in failures(document, baseline.get(name, {})):
            failed = True
            print(f"{name}: {line}" if line[0] != " " else line)
    return failed


if __name__ == "__main__":
    sys.exit(main())
