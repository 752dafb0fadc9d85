"""Variables, parameters, functions and classes are named after what they hold."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = ["python/dumbbell", "tools", "benches", "tests"]

VAGUE = {"found", "told", "said", "each", "asked", "own"}


def _bound(node: ast.AST) -> str | None:
    """Return the name that a node of a syntax tree binds, if it binds one."""
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
            return name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return name
        case ast.ClassDef(name=name) | ast.ExceptHandler(name=name):
            return name
        case ast.MatchAs(name=name) | ast.MatchStar(name=name) | ast.MatchMapping(rest=name):
            return name
        case ast.arg(arg=name) | ast.alias(asname=name):
            return name
    return None


def _vague(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and name of each vague name that Python code binds."""
    for node in ast.walk(ast.parse(source)):
        name = _bound(node)
        if name and name.strip("_").lower() in VAGUE:
            yield getattr(node, "lineno", 0), name


def test_names_are_of_what_they_hold() -> None:
    files = sorted(file for source in SOURCES for file in (ROOT / source).rglob("*.py"))
    vague = [
        f"{file.relative_to(ROOT)}:{line}: {name} is vague; name it after what it holds"
        for file in files
        for line, name in sorted(_vague(file.read_text()))
    ]
    assert not vague, "\n".join(vague)


def test_a_vague_name_is_seen_wherever_python_binds_one() -> None:
    source = (
        "import os as told\n"
        "_found = 1\n"
        "for each in []: pass\n"
        "[Own for Own in []]\n"
        "with open('f') as said: pass\n"
        "try: pass\n"
        "except OSError as asked: pass\n"
        "(found := 1)\n"
        "def told(own, *each, **said): pass\n"
        "class Found: asked: int\n"
        "match 1:\n"
        "    case {'a': found, **told}: pass\n"
        "    case [each, *own]: pass\n"
        "    case int() as said: pass\n"
        "os.found = 1\n"
        "lambda each: founded + tolds\n"
        "os.found(told=found.each)\n"
    )
    lines = sorted(line for line, _ in _vague(source))
    assert lines == [1, 2, 3, 4, 5, 7, 8, 9, 9, 9, 9, 10, 10, 12, 12, 13, 13, 14, 15, 16]
