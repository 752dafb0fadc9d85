"""Count English sentences that tests expect as literals, and compare with a baseline.

A change of prose breaks such a test by hand. Expect a snapshot instead (`snapshot("...")`, which
`make snapshots` rewrites), or what the sentence is about: a name, a value, a row.

`make lint` runs this. A test file with more of them than in `tools/asserted.json` fails; a file
without an entry may have none. `--accept` lowers the baseline.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parents[1]
BASELINE: Final = Path(__file__).with_suffix(".json")

_WORD: Final = r"(?:[A-Za-z][a-z]+(?:['’-][a-z]+)*|a|I)"
PROSE: Final = re.compile(rf"(?<![\w-]){_WORD}(?:[,;:]? {_WORD}){{3,}}(?![\w-])")
"""Four words in a row, which names, numbers and commands rarely have."""


class Asserted(NamedTuple):
    """A literal with prose, and its line."""

    line: int
    text: str


def of_python(code: str) -> Iterator[Asserted]:
    """Yield the literals with prose in assertions and after `match=`, except in snapshots."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Assert):
            expected = [node.test]
        elif isinstance(node, ast.Call):
            expected = [keyword.value for keyword in node.keywords if keyword.arg == "match"]
        else:
            continue
        for expression in expected:
            yield from (literal for literal in _literals(expression) if PROSE.search(literal.text))


def _literals(node: ast.AST) -> Iterator[Asserted]:
    match node:
        case ast.Call(func=ast.Name(id="snapshot")):
            return
        case ast.Constant(value=str(text)):
            yield Asserted(node.lineno, text)
        case ast.JoinedStr(values=parts):
            yield Asserted(node.lineno, "".join(map(_text, parts)))
        case _:
            for child in ast.iter_child_nodes(node):
                yield from _literals(child)


def _text(part: ast.expr) -> str:
    return part.value if isinstance(part, ast.Constant) and isinstance(part.value, str) else "{}"


def of_files() -> dict[str, list[Asserted]]:
    """Return what each file of tests asserts."""
    files = sorted(ROOT.glob("tests/**/*.py"))
    return {str(file.relative_to(ROOT)): list(of_python(file.read_text())) for file in files}


def main(arguments: list[str] | None = None) -> int:
    """Run the check; return 1 if a file has more than its baseline."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--accept", action="store_true", help="lower the baseline")
    options = parser.parse_args(arguments)
    baseline: dict[str, int] = json.loads(BASELINE.read_text())
    by_file = of_files()
    if options.accept:
        lowered = {name: min(count, len(by_file.get(name, []))) for name, count in baseline.items()}
        kept = {name: count for name, count in lowered.items() if count}
        BASELINE.write_text(json.dumps(kept, indent=1) + "\n")
    failed = False
    for name, literals in by_file.items():
        allowed = baseline.get(name, 0)
        if len(literals) > allowed:
            failed = True
            print(
                f"{name}: expects {len(literals)} sentences, at most {allowed}: use snapshot(...)"
            )
            for line, text in literals:
                print(f"  {name}:{line}: {text[:90]!r}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
