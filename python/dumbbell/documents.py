"""Reading what a user wrote: TOML files into validated models, problems into InputErrors."""

from __future__ import annotations

import tomllib
import types
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from dumbbell.errors import InputError, listed, near, shown

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


def validate(model: type[Model], data: Mapping[str, Any], source: str | None = None) -> Model:
    """Validate data read from `source`; problems come as one InputError with all of them."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise input_error(error, model, source) from None


def input_error(
    error: ValidationError, model: type[BaseModel], source: str | None = None
) -> InputError:
    """Turn pydantic's report into the errors that Dumbbell shows."""
    first, *others = [_one(details, model, source) for details in error.errors()]
    first.others = tuple(others)
    return first


def _one(details: ErrorDetails, model: type[BaseModel], source: str | None) -> InputError:
    loc = details["loc"]
    key = ".".join(str(part) for part in loc) or None
    original = details.get("ctx", {}).get("error")
    if isinstance(original, InputError):
        found = original.at(source=source, key=key)
        if found.value is None and isinstance(details["input"], str | int | float):
            found.value = details["input"]
        return found
    kind = details["type"]
    value = details["input"]
    if kind == "extra_forbidden":
        parent = model_at(model, loc[:-1])
        names = key_names(parent) if parent else []
        name = str(loc[-1])
        return InputError(
            "unknown key",
            source=source,
            key=key,
            value=None if isinstance(value, dict | list) else value,
            valid="keys " + listed(names),
            near=near(name, names),
        )
    if kind == "missing":
        return InputError("is missing", source=source, key=key, valid=_example(model, loc))
    return _by_type(details, source, key, _example(model, loc))


def _by_type(
    details: ErrorDetails, source: str | None, key: str | None, example: str | None
) -> InputError:
    value = details["input"]
    context = details.get("ctx", {})
    valid: str | None
    match details["type"]:
        case "model_type" | "dict_type" | "mapping_type" | "model_attributes_type":
            problem, valid = "not a table", example or "a table of keys"
        case "tuple_type" | "list_type":
            problem, valid = "not an array", example or "an array such as [...]"
        case "literal_error" | "enum":
            valid = str(context["expected"]).replace("'", '"').replace(" or ", ", ")
            names = [name.strip(' "') for name in valid.split(",")]
            candidate = near(value, names) if isinstance(value, str) else None
            return InputError(
                "not a known value",
                source=source,
                key=key,
                value=value,
                valid=valid,
                near=candidate,
            )
        case "string_type":
            problem, valid = "not a text", example or "a text in quotes"
        case "string_too_short":
            problem, valid = "an empty text", example
        case "bool_type" | "bool_parsing":
            problem, valid = "neither true nor false", "true, false"
        case "value_error":
            problem, valid = str(context["error"]), example
        case _:
            message = details["msg"]
            problem, valid = message[:1].lower() + message[1:], example
    return InputError(problem, source=source, key=key, value=value, valid=valid)


def key_names(model: type[BaseModel]) -> list[str]:
    """Return the keys of a model as they are written in a file."""
    return [field.alias or name for name, field in model.model_fields.items()]


def model_at(model: type[BaseModel], loc: tuple[int | str, ...]) -> type[BaseModel] | None:
    """Return the model that validates the table at `loc`."""
    current: type[BaseModel] | None = model
    for part in loc:
        if current is None or isinstance(part, int):
            continue
        fields = {field.alias or name: field for name, field in current.model_fields.items()}
        current = _model_in(fields[part].annotation) if part in fields else None
    return current


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """Find the model inside ``tuple[Model, ...]``, ``Model | None`` and the like."""
    if isinstance(annotation, type) and not isinstance(annotation, types.GenericAlias):
        return annotation if issubclass(annotation, BaseModel) else None
    for inner in typing.get_args(annotation):
        found = _model_in(inner)
        if found is not None:
            return found
    return None


def _example(model: type[BaseModel], loc: tuple[int | str, ...]) -> str | None:
    """Return examples of the key at `loc`, from its field's description."""
    names = [part for part in loc if isinstance(part, str)]
    parent = model_at(model, loc[:-1])
    if parent is None or not names:
        return None
    for name, field in parent.model_fields.items():
        if (field.alias or name) == names[-1] and field.examples:
            return "for example " + listed(shown(example) for example in field.examples)
    return None
