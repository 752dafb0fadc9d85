"""Reading what a user wrote: TOML files into validated models, problems into InputErrors."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from dumbbell.errors import InputError, near
from dumbbell.validation import input_error

Model = TypeVar("Model", bound=BaseModel)


def read_toml(path: str | Path) -> dict[str, Any]:
    """Read a TOML file; whatever prevents that is an InputError naming the file."""
    path = Path(path)
    try:
        with path.open("rb") as file:
            return tomllib.load(file)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"not valid TOML: {error}", source=str(path)) from None
    except UnicodeDecodeError as error:
        raise InputError(
            f"not UTF-8 text at byte {error.start}", source=str(path), valid="a TOML file"
        ) from None
    except OSError as error:
        raise _unreadable(path, error) from None


def _unreadable(path: Path, error: OSError) -> InputError:
    candidate = None
    if isinstance(error, FileNotFoundError) and path.parent.is_dir():
        name = near(path.name, sorted(entry.name for entry in path.parent.iterdir()))
        candidate = str(path.parent / name) if name else None
    return InputError(
        f"cannot read it: {error.strerror or error}",
        source=str(path),
        near=candidate,
    )


def _folder(source: str | None) -> Path:
    path = Path(source or "")
    return path if path.is_dir() else path.parent


def validate(
    model: type[Model],
    data: Mapping[str, Any],
    source: str | None = None,
    context: Mapping[str, Any] | None = None,
) -> Model:
    """Validate data read from `source`; problems come as one InputError with all of them.

    Files that the data names are relative to the folder of `source`, or to the current one.
    `context` is what else validators may ask for.
    """
    try:
        return model.model_validate(data, context={"folder": _folder(source), **(context or {})})
    except ValidationError as error:
        raise input_error(error, model, source) from None
