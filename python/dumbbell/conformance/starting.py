"""A file to start from: ``dumbbell new``."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from dumbbell.base.errors import InputError, refusing, unknown

_TEMPLATES: Final = Path(__file__).parent / "templates"
_NAME: Final = "my_cc"
"""Name of the algorithm in the templates."""

DEFAULT: Final = "loss"


def templates() -> list[str]:
    """Return what a file may start from."""
    return sorted(path.stem for path in _TEMPLATES.glob("*.c"))


def text(name: str, template: str = DEFAULT) -> str:
    """Return a template with another name in it."""
    if template not in templates():
        raise unknown("template", template, templates()).at(key="from")
    from dumbbell.algorithms import catalogue  # noqa: PLC0415 - the help of `dumbbell new` names templates

    catalogue.check_new_name(name)
    return (_TEMPLATES / f"{template}.c").read_text().replace(_NAME, name)


def write(name: str, template: str = DEFAULT, folder: Path = Path()) -> Path:
    """Write NAME.c; what is there is never overwritten."""
    name = name.removesuffix(".c").removeprefix("./")
    content = text(name, template)
    path = folder / f"{name}.c"
    with refusing("write it", path):
        try:
            file = path.open("x")
        except FileExistsError:
            raise InputError(
                "exists already", source=str(path), valid="another name, or remove it first"
            ) from None
        with file:
            file.write(content)
    return path
