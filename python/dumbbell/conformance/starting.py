"""Files to start from, an algorithm and its script of expected states: ``dumbbell new``."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from dumbbell.base.errors import InputError, refusing, unknown
from dumbbell.conformance.expected.script import SUFFIX

_TEMPLATES: Final = Path(__file__).parent / "templates"
_NAME: Final = "my_cc"
"""Name of the algorithm in the templates."""

DEFAULT: Final = "loss"


def templates() -> list[str]:
    """Return what a file may start from."""
    return sorted(path.stem for path in _TEMPLATES.glob("*.c"))


def text(name: str, template: str = DEFAULT, suffix: str = ".c") -> str:
    """Return a file of a template with another name in it: its C file, or its script."""
    if template not in templates():
        raise unknown("template", template, templates()).at(key="from")
    from dumbbell.algorithms import catalogue  # noqa: PLC0415 - the help of `dumbbell new` names templates

    catalogue.check_new_name(name)
    return (_TEMPLATES / f"{template}{suffix}").read_text().replace(_NAME, name)


def write(name: str, template: str = DEFAULT, folder: Path = Path()) -> Path:
    """Write NAME.c and its script NAME.expect; return the first. What exists is left alone.

    The name may have the path of another folder before it.
    """
    algorithm = folder / f"{name.removesuffix('.c')}.c"
    name = algorithm.stem
    contents = {
        algorithm.with_suffix(suffix): text(name, template, suffix) for suffix in (".c", SUFFIX)
    }
    for path in contents:
        with refusing("write it", path):
            if path.exists():
                raise InputError(
                    "exists already", source=str(path), valid="another name, or remove it first"
                )
    for path, content in contents.items():
        with refusing("write it", path), path.open("x") as file:
            file.write(content)
    return algorithm
