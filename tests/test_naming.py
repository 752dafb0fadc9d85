"""Variables, parameters, functions and classes are named after what they hold."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = ["python/dumbbell", "tools", "benches", "tests"]

VAGUE = {"found", "told", "said", "each", "asked", "own"}

NATIVE = ["algorithms/*.[ch]", "crates/*/src/*.c", "crates/*/bpf/*.[ch]", "tests/**/*.[ch]"]
NATIVE += [f"crates/*/{folder}/**/*.rs" for folder in ("src", "tests", "benches")]
NATIVE += [f"python/dumbbell/*/templates/*.{suffix}" for suffix in ("js", "j2")]
_NO_CODE = re.compile(r'(?s)//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"|`(?:\\.|[^`\\])*`')
_NO_JINJA = re.compile(r"(?s)(?:^|\}\}|%\}).*?(?:\{\{|\{%|\Z)")
_NATIVE_VAGUE = re.compile(rf"\b_?({'|'.join(sorted(VAGUE))})\b")
_NO_PYTHON = re.compile(
    r'''(?sx) """(?:\\.|.)*?""" | "(?:\\.|[^"\\])*" | '(?:\\.|[^'\\])*' | \#[^\n]*'''
)
_PYTHON_VAGUE = re.compile(rf"(?i)\b_*(?:{'|'.join(sorted(VAGUE))})_*\b")


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
    # Most files have such words in comments and texts alone; to parse all takes two seconds.
    if not _PYTHON_VAGUE.search(_NO_PYTHON.sub("", source)):
        return
    for node in ast.walk(ast.parse(source)):
        name = _bound(node)
        if name and name.strip("_").lower() in VAGUE:
            yield getattr(node, "lineno", 0), name


def _vague_native(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and name of each vague name in code, outside comments and strings."""
    code = _NO_CODE.sub(lambda part: "\n" * part[0].count("\n"), source)
    for name in _NATIVE_VAGUE.finditer(code):
        yield 1 + code.count("\n", 0, name.start()), name[1]


def _code(file: Path) -> str:
    """Return the text of a file; of a template, only its expressions and statements."""
    text = file.read_text()
    is_template = file.suffix == ".j2"
    return _NO_JINJA.sub(lambda part: "\n" * part[0].count("\n"), text) if is_template else text


def test_names_of_other_languages_are_of_what_they_hold() -> None:
    files = sorted(file for pattern in NATIVE for file in ROOT.glob(pattern))
    vague = [
        f"{file.relative_to(ROOT)}:{line}: {name} is vague; name it after what it holds"
        for file in files
        for line, name in _vague_native(_code(file))
    ]
    assert not vague, "\n".join(vague)


def test_a_vague_name_of_a_template_is_seen_in_its_code_alone(tmp_path: Path) -> None:
    template = tmp_path / "page.j2"
    template.write_text("<p>each\n{{ found }} own {% set told =\n1 %} said\n{# asked #}</p>")
    assert list(_vague_native(_code(template))) == [(2, "found"), (2, "told")]


def test_a_vague_name_is_seen_in_code_alone() -> None:
    source = (
        'u32 found; /* told\n each */\nlet said = "own" + `each`;\n// asked\nfor_each(found_at);'
    )
    assert list(_vague_native(source)) == [(1, "found"), (3, "said")]


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
