"""Files of a crate use each other without circles: read from paths in the sources, tests left out."""

import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Final

import pytest

CRATES: Final = Path(__file__).parents[2] / "crates"
Module = tuple[str, ...]
"""Path of a module in its crate, such as ``("queue", "pie")``; empty: the crate."""
_USE: Final = re.compile(r"^\s*(pub(?:\([^)]*\))? )?use ([^;]+);", re.MULTILINE)
_TESTS: Final = re.compile(
    r"#\[cfg\((?:test|all\(test[^\]]*)\)\]\s*(?:#\[[^\]]*\]\s*)?mod \w+ \{.*\Z", re.DOTALL
)
_TEST_FILES: Final = ("tests", "testing", "properties")


def _leaves(tree: str, prefix: Module = ()) -> Iterator[Module]:
    """Yield the paths of a tree of `use`, without their new names."""
    depth, begin = 0, 0
    for place, letter in enumerate(f"{tree},"):
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if letter != "," or depth:
            continue
        part, begin = re.sub(r"\s+as\s+\w+|\s", "", tree[begin:place]), place + 1
        head, brace, rest = part.partition("{")
        path = (*prefix, *filter(None, head.split("::")))
        if brace:
            yield from _leaves(rest.removesuffix("}"), path)
        elif part:
            yield path


class Crate:
    """The modules of a crate, and which of them use which others."""

    def __init__(self, root: Path) -> None:
        self.code: dict[Module, str] = {}
        for file in root.rglob("*.rs"):
            parts = file.relative_to(root).with_suffix("").parts
            if parts[-1] not in _TEST_FILES:
                text = re.sub(r"//[^\n]*", "", file.read_text())
                name = parts[:-1] if parts[-1] in ("mod", "lib") else parts
                self.code[name] = _TESTS.sub("", text)
        self.exported: dict[Module, Module] = {}
        for module, text in self.code.items():
            for public, tree in _USE.findall(text):
                for path in _leaves(tree):
                    target = self._absolute(module, path)
                    if public and target is not None:
                        self.exported[*module, target[-1]] = target

    def _absolute(self, module: Module, path: Module) -> Module | None:
        """Return a path from the crate's root; None if it leads elsewhere."""
        if path[0] == "crate":
            return path[1:]
        while path[:1] == ("super",):
            module, path = module[:-1], path[1:]
            if path[:1] != ("super",):
                return module + path
        if path[0] == "self":
            return module + path[1:]
        return module + path if (*module, path[0]) in self.code else None

    def _home(self, path: Module) -> Module | None:
        """Return the module in which the end of a path is defined."""
        for length in range(len(path), -1, -1):
            known = path[: length + 1]
            if length < len(path) and self.exported.get(known, known) != known:
                return self._home(self.exported[known] + path[length + 1 :])
            if path[:length] in self.code:
                return path[:length]
        return None

    def used(self, module: Module) -> set[Module]:
        """Return the modules that one uses; what it only hands on from its own does not count."""
        text = self.code[module]
        body = _USE.sub("", text)
        paths = [tuple(path.split("::")) for path in re.findall(r"\b(?:\w+::)+\w+", body)]
        for public, tree in _USE.findall(text):
            paths += [
                path
                for path in _leaves(tree)
                if not public or re.search(rf"\b{re.escape(path[-1])}\b", body)
            ]
        targets = (self._absolute(module, path) for path in paths)
        homes = {self._home(target) for target in targets if target is not None}
        return {home for home in homes if home is not None} - {module}


@pytest.mark.parametrize("crate", sorted(file.parent.name for file in CRATES.glob("*/src")))
def test_files_of_a_crate_use_each_other_without_circles(crate: str) -> None:
    read = Crate(CRATES / crate / "src")
    try:
        TopologicalSorter({module: read.used(module) for module in read.code}).prepare()
    except CycleError as error:
        circle = " -> ".join("::".join(module) or crate for module in error.args[1])
        pytest.fail(f"{crate}: {circle}")


def test_a_circle_is_found(tmp_path: Path) -> None:
    (tmp_path / "lib.rs").write_text("mod a;\nmod b;\npub use a::A;\npub struct Root;\n")
    (tmp_path / "a.rs").write_text("use crate::b::{self, B as Other};\npub struct A(Other);\n")
    (tmp_path / "b.rs").write_text(
        "pub struct B;\n#[cfg(test)]\nmod tests {\n    use crate::A;\n}\n"
    )
    read = Crate(tmp_path)
    assert {module: read.used(module) for module in read.code} == {
        (): set(),
        ("a",): {("b",)},
        ("b",): set(),
    }
    (tmp_path / "b.rs").write_text("use super::A;\npub struct B(A);\n")
    assert Crate(tmp_path).used(("b",)) == {("a",)}
