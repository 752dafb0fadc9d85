"""Pydantic's reports as the errors that Dumbbell shows: key, value, what is valid, a near name."""

from __future__ import annotations

import os
import typing
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, TypeVar

from pydantic import BaseModel, Tag, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from dumbbell.base.documents import folder_of
from dumbbell.base.errors import InputError, listed, near, shown
from dumbbell.base.keys import part_of
from dumbbell.base.synonyms import near_key

Model = TypeVar("Model", bound=BaseModel)

FIELD_DOCSTRINGS: Final = "DUMBBELL_FIELD_DOCSTRINGS" in os.environ
"""True if models read the docstrings of their fields, from which the reference is generated.

Pydantic parses the source of each class for it. That took a third of the start of a command.
"""


def validate(
    model: type[Model],
    data: Mapping[str, Any],
    source: str | None = None,
    context: Mapping[str, Any] | None = None,
) -> Model:
    """Validate data read from `source`; problems come as one InputError with all of them.

    `context` is what validators may ask for. Files that the data names are relative to its
    ``folder``, by default that of `source`, or the current one.
    """
    known = context or {}
    if "folder" not in known:
        known = {"folder": folder_of(source or ""), **known}
    try:
        return model.model_validate(data, context=known)
    except ValidationError as error:
        raise input_error(error, model, source) from None


def input_error(
    error: ValidationError, model: type[BaseModel], source: str | None = None
) -> InputError:
    """Turn a report about `model` into one InputError that holds all problems."""
    reports = [details for details in error.errors() if not _is_echo(details)]
    first, *others = [_one(details, model).at(source=source) for details in reports]
    first.others = tuple(others)
    return first


def _is_echo(details: ErrorDetails) -> bool:
    """Return True if an array is only called too short because its entries are wrong."""
    return details["type"] == "too_short" and len(details["input"]) >= details["ctx"]["min_length"]


def _one(details: ErrorDetails, model: type[BaseModel]) -> InputError:
    place = _Place(model)
    for part in details["loc"]:
        place.enter(part)
    value = details["input"]
    original = details.get("ctx", {}).get("error")
    if isinstance(original, InputError):
        error = original.at(key=place.key)
        is_of_here = not error.names_a_key and isinstance(value, str | int | float)
        if is_of_here and error.value is None:
            error.value = value
        return error
    return _translated(details, place)


def _translated(details: ErrorDetails, place: _Place) -> InputError:
    """Say in the words of a file what one of pydantic's own checks found."""
    value = details["input"]
    match details["type"]:
        case "extra_forbidden":
            return _unknown_key(place, value)
        case "missing":
            return InputError("is missing", key=place.key, valid=place.example)
        case "literal_error" | "enum":
            expected = details["ctx"]["expected"].replace(" or ", ", ")
            return _unknown_value(place.key, value, _names(expected))
        case "union_tag_invalid":
            context = details["ctx"]
            key = f"{place.key}.{_names(context['discriminator'])[0]}"
            return _unknown_value(key, context["tag"], _names(context["expected_tags"]))
        case "union_tag_not_found":
            key = f"{place.key}.{_names(details['ctx']['discriminator'])[0]}"
            return InputError("is missing", key=key, valid=listed(map(shown, place.tags)))
        case _:
            problem, valid = in_words(details)
            return InputError(problem, key=place.key, value=value, valid=place.example or valid)


def in_words(details: ErrorDetails) -> tuple[str, str | None]:
    """Return what is wrong with a value and, unless its field has examples, what is valid."""
    kind, context = details["type"], details.get("ctx", {})
    if kind in _PROBLEMS:
        problem, valid = _PROBLEMS[kind]
        return problem.format(**context), valid
    if kind == "string_pattern_mismatch":
        return f"not {PATTERNS.get(context['pattern'], 'such a name')}", None
    message = str(context.get("error", details["msg"]))
    return message[:1].lower() + message[1:], None


PATTERNS: Mapping[str, str] = {
    r"^[a-z0-9][a-z0-9-]*$": "a name of small letters, digits and hyphens",
    r"^[a-z][a-z0-9_]*$": "a name of small letters, digits and underscores, a letter first",
    r"^[a-z][a-z0-9_-]*$": "a name of small letters, digits, hyphens and underscores, a letter"
    " first",
    r"^[A-Za-z][A-Za-z0-9_-]*$": "a name of letters, digits, hyphens and underscores, a letter"
    " first",
    r"^[^>]+$": "a name without >",
    r"^[A-Z]+[0-9]{2,}$": "capital letters and then at least two digits",
}
"""Patterns of texts, in words."""


_PROBLEMS: Mapping[str, tuple[str, str | None]] = {
    "model_type": ("not a table", "a table of keys"),
    "dict_type": ("not a table", "a table of keys"),
    "mapping_type": ("not a table", "a table of keys"),
    "model_attributes_type": ("not a table", "a table of keys"),
    "tuple_type": ("not an array", "an array such as [...]"),
    "list_type": ("not an array", "an array such as [...]"),
    "too_short": ("empty", "at least one entry"),
    "string_type": ("not a text", "a text in quotes"),
    "string_too_short": ("an empty text", None),
    "string_too_long": ("longer than {max_length} characters", "a shorter text"),
    "bool_type": ("neither true nor false", "true, false"),
    "bool_parsing": ("neither true nor false", "true, false"),
    "float_type": ("not a number", "a number such as 0.5"),
    "float_parsing": ("not a number", "a number such as 0.5"),
    "int_type": ("not a whole number", "a whole number such as 2"),
    "int_parsing": ("not a whole number", "a whole number such as 2"),
    "int_from_float": ("not a whole number", "a whole number such as 2"),
    "int_parsing_size": ("too large", "a whole number such as 2"),
    "greater_than": ("must be more than {gt:g}", None),
    "greater_than_equal": ("must be at least {ge:g}", None),
    "less_than": ("must be less than {lt:g}", None),
    "less_than_equal": ("must be at most {le:g}", None),
    "too_long": ("more than {max_length} entries", None),
    "finite_number": ("not a finite number", "a number such as 0.5"),
}
"""Type of pydantic's error -> what is wrong, with what pydantic knows of it, and what is valid.

Examples of the field go before that."""


def _unknown_key(place: _Place, value: Any) -> InputError:
    name = place.key.rpartition(".")[2]
    names = list(dict.fromkeys(key for model in place.parents for key in _fields(model)))
    return InputError(
        "unknown key",
        key=place.key,
        value=None if isinstance(value, dict | list) else value,
        valid="keys " + listed(names, place.documented_in),
        near=near_key(name, names),
    )


def _unknown_value(key: str, value: Any, names: Sequence[str]) -> InputError:
    return InputError(
        "not a known value",
        key=key,
        value=value,
        valid=listed(map(shown, names)),
        near=near(value, names) if isinstance(value, str) else None,
    )


def _names(expected: str) -> list[str]:
    """Split pydantic's list of quoted names."""
    return [name.strip(" '") for name in expected.split(",")]


class _Place:
    """A place in a file, found by following pydantic's path through the models.

    Pydantic's path also names the chosen member of a tagged union, which the file does not. It
    names it by a value of the table (`TAGS`), or by the name of its form (`forms`).
    """

    def __init__(self, root: type[BaseModel]) -> None:
        self.documented_in = str(getattr(root, "documented_in", ""))
        self.parents: list[type[BaseModel]] = []
        self.models = [root]
        self.field: FieldInfo | None = None
        self.path: list[str] = []
        self.forms: dict[str, Any] = {}

    def enter(self, part: str | int) -> None:
        """Go one step down."""
        if part in self.forms:
            form = self.forms[str(part)]
            self.models, self.forms = _models(form), _forms(form)
            return
        tagged = [model for model in self.models if part in _tags(model)]
        if tagged and len(self.models) > 1:
            self.models = tagged
            return
        self.path.append(part_of(part))
        if isinstance(part, str):
            matching = [fields[part] for fields in map(_fields, self.models) if part in fields]
            self.parents = self.models
            self.field = matching[0] if matching else None
            self.models = _models(self.field.annotation) if self.field else []
            self.forms = _forms(self.field.annotation) if self.field else {}

    @property
    def key(self) -> str:
        """The dotted path in the file."""
        return ".".join(self.path)

    @property
    def example(self) -> str | None:
        """Examples of valid values here."""
        if self.field is None or not self.field.examples or self.path[-1].isdecimal():
            return None
        return "for example " + listed(map(shown, self.field.examples))

    @property
    def tags(self) -> list[str]:
        """Values of the tag that distinguish the valid tables here."""
        return [tag for model in self.models for tag in _tags(model)]


def _fields(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """Return the fields by the keys under which they are written."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


TAGS = ("kind", "type", "topology", "discipline", "distribution")
"""Keys that distinguish the valid tables of one place."""


def _tags(model: type[BaseModel]) -> list[Any]:
    literals = [
        typing.get_args(field.annotation)
        for name, field in model.model_fields.items()
        if name in TAGS and typing.get_origin(field.annotation) is Literal
    ]
    return [value for values in literals for value in values]


def _forms(annotation: Any) -> dict[str, Any]:
    """Find the named forms that a value may have, each with its type."""
    inner = typing.get_args(annotation)
    names = [part.tag for part in inner if isinstance(part, Tag)]
    if names:
        return {names[0]: inner[0]}
    return {name: form for part in inner for name, form in _forms(part).items()}


def _models(annotation: Any) -> list[type[BaseModel]]:
    """Find the models inside ``tuple[Model, ...]``, ``Model | None`` and the like."""
    inner = typing.get_args(annotation)
    if inner:
        return [model for argument in inner for model in _models(argument)]
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return []
