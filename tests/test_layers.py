"""Layers only look down: a package imports from those before it, never from those after."""

import ast
from collections.abc import Iterator
from pathlib import Path

import dumbbell

ROOT = Path(dumbbell.__file__).parent

LAYERS = [
    [
        "shell",
        "errors",
        "keys",
        "synonyms",
        "units",
        "estimates",
        "statistics",
        "validation",
        "regular",
        "user_cache",
        "toml_lines",
        "documents",
        "kinds",
        "extras",
        "head_comments",
        "markdown",
        "hypertext",
        "_core",
        "apart",
        "apart_child",
        "own_algorithms",
        "contract",
        "catalogue",
    ],
    ["scenario"],
    ["running"],
    ["plan"],
    ["labels"],
    ["bounds"],
    ["theory"],
    ["quantities"],
    ["claims"],
    ["figures"],
    ["study"],
    ["plans"],
    ["results"],
    ["experiments"],
    ["campaign"],
    ["measured"],
    ["inventory"],
    ["compare"],
    ["sweeps"],
    ["tune"],
    ["advise"],
    ["report", "validate"],
    ["serve"],
    ["own", "phases"],
    ["api", "docs"],
    ["cli"],
]

# A run draws itself and tells its totals, for notebooks; what does it is imported then.
EXCEPTIONS = {("engines/result.py", "figures"), ("engines/result.py", "report")}


def _imports(file: Path) -> Iterator[str]:
    """Yield the parts of the package that a file imports, by their first name."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module == "dumbbell":
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("dumbbell."):
            yield str(node.module).split(".")[1]


def test_layers_only_look_down() -> None:
    rank = {part: number for number, layer in enumerate(LAYERS) for part in layer}
    upward = []
    for file in ROOT.rglob("*.py"):
        relative = file.relative_to(ROOT)
        own = relative.parts[0].removesuffix(".py")
        if own == "__init__":
            continue
        upward += [
            f"{relative} imports {part}"
            for part in _imports(file)
            if rank[part] > rank[own] and (str(relative), part) not in EXCEPTIONS
        ]
    assert not upward


def test_every_part_has_a_layer() -> None:
    parts = {path.name.removesuffix(".py") for path in ROOT.iterdir() if path.suffix == ".py"}
    parts |= {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert parts - {"__init__"} <= {part for layer in LAYERS for part in layer}
