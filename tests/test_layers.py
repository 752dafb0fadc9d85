"""Rooms only look down: a room imports from lower floors, never from its own or a higher one."""

import ast
from collections.abc import Iterator
from pathlib import Path

import dumbbell

ROOT = Path(dumbbell.__file__).parent

FLOORS = [
    ["_core", "base", "contract"],
    ["algorithms", "inference", "theory"],
    ["scenario"],
    ["plan"],
    ["engines"],
    ["gym", "store"],
    ["execution", "learning", "quantities"],
    ["conformance", "figures", "judging"],
    ["study"],
    ["results"],
    ["experiments"],
    ["reports", "scoring"],
    ["api", "serve"],
    ["cli"],
]


def _imports(file: Path) -> Iterator[str]:
    """Yield the parts of the package that a file imports, by their first name."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module == "dumbbell":
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.Import):
            parts = (alias.name.split(".") for alias in node.names)
            yield from (name[1] for name in parts if name[0] == "dumbbell" and len(name) > 1)
        elif isinstance(node, ast.ImportFrom) and node.level:
            raise AssertionError(f"{file} has a relative import, whose room is not seen here")
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("dumbbell."):
            yield str(node.module).split(".")[1]


def test_rooms_only_look_down() -> None:
    floor = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
    upward = []
    for file in ROOT.rglob("*.py"):
        relative = file.relative_to(ROOT)
        room = relative.parts[0].removesuffix(".py")
        if room == "__init__":
            continue
        upward += [
            f"{relative} imports {other}"
            for other in _imports(file)
            if other != room and floor[other] >= floor[room]
        ]
    assert not upward


def test_every_room_has_a_floor_and_no_module_is_loose() -> None:
    rooms = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    modules = {path.stem for path in ROOT.glob("*.py")}
    assert modules == {"__init__"}
    assert rooms | {"_core"} == {room for rooms in FLOORS for room in rooms}


def test_tests_lie_in_the_rooms_that_they_test() -> None:
    rooms = {room for rooms in FLOORS for room in rooms} | {"docs", "tools"}
    files = Path(__file__).parent.rglob("test_*.py")
    loose = {"test_layers.py", "test_naming.py"}
    assert {file.parent.name for file in files if file.name not in loose} <= rooms
