"""Keys and words of a JSON schema that values have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Schema = Mapping[str, Any]


class Keys:
    """The keys and words of a schema by name, such as ``Fq.limit`` or ``PlacedLoss.place=sender``.

    Words are those of keys that allow only a few, true and false among them.
    """

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._name = str(schema["title"])

    def all(self) -> set[str]:
        """Return all that there are."""
        keys = set(_keys_of(self._name, self._schema))
        for name, definition in self._schema["$defs"].items():
            keys.update(_keys_of(name, definition))
        return keys

    def met(self, value: Any) -> set[str]:
        """Return those that a valid value has."""
        return set(self._met(self._name, self._schema, value))

    def _met(self, name: str, schema: Schema, value: Any) -> Iterator[str]:
        if "$ref" in schema:
            name = schema["$ref"].removeprefix("#/$defs/")
            schema = self._schema["$defs"][name]
        for variant in _variants(schema):
            if self._fits(variant, value):
                yield from self._met(name, variant, value)
                return
        if isinstance(value, Mapping):
            for key, inner in schema.get("properties", {}).items():
                if key in value:
                    yield f"{name}.{key}"
                    yield from (
                        f"{name}.{key}={word}" for word in _words(inner) if word == value[key]
                    )
                    yield from self._met(f"{name}.{key}", inner, value[key])
        elif isinstance(value, list) and "items" in schema:
            for element in value:
                yield from self._met(name, schema["items"], element)

    def _fits(self, schema: Schema, value: Any) -> bool:
        if "$ref" in schema:
            return self._fits(self._schema["$defs"][schema["$ref"].removeprefix("#/$defs/")], value)
        if any(True for _ in _variants(schema)):
            return any(self._fits(variant, value) for variant in _variants(schema))
        if isinstance(value, Mapping):
            known = schema.get("properties")
            return (
                schema.get("type") == "object"
                and (known is None or value.keys() <= known.keys())
                and all(key in value for key in schema.get("required", ()))
                and all(
                    value[key] in words
                    for key, inner in (known or {}).items()
                    if key in value and (words := _words(inner))
                )
            )
        kinds = {list: "array", str: "string", bool: "boolean", int: "integer", float: "number"}
        kind = kinds[type(value)]
        return schema.get("type") == kind or (kind, schema.get("type")) == ("integer", "number")


def _variants(schema: Schema) -> Iterator[Schema]:
    for part in ("oneOf", "anyOf"):
        yield from schema.get(part, ())


def _words(schema: Schema) -> list[Any]:
    if "const" in schema:
        return [schema["const"]]
    if schema.get("type") == "boolean":
        return [False, True]
    return list(schema.get("enum", ()))


def _keys_of(name: str, schema: Schema) -> Iterator[str]:
    """Yield what a definition has, but for what it refers to."""
    for variant in _variants(schema):
        yield from _keys_of(name, variant)
    for key, inner in schema.get("properties", {}).items():
        yield f"{name}.{key}"
        yield from (f"{name}.{key}={word}" for word in _words(inner))
