"""The package `contract`: Python types of what engines read and return, from the Rust types.

The compiled core describes both as JSON Schema. An object becomes a class. An enumeration of Rust
becomes a class with an optional member for each variant, a union of tagged classes, or a set of
texts. The name of a plain value is replaced by its content.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from dumbbell import _core

WIDTH: Final = 100
PLAIN: Final = {
    "integer": "int",
    "number": "float",
    "string": "str",
    "boolean": "bool",
    "null": "None",
}
"""JSON Schema's names of plain values and Python's."""

NAMES: Final = {
    "scenario": "A resolved scenario: what an engine runs",
    "summary": "The summary of a run: what it comes to",
}
"""Modules of the package, with what each is about."""

ORIGIN: Final = "Generated from the types of Rust by `make docs`."

Schema = Mapping[str, Any]


def module(name: str) -> str:
    """Return the text of one of the generated modules."""
    writer = _Writer(json.loads(_core.contract())[name])
    blocks = "\n\n\n".join(writer.blocks())
    head = f'"""{NAMES[name]}.\n\n{ORIGIN}\n"""'
    used = {
        "collections.abc": [part for part in ("Mapping",) if f"{part}[" in blocks],
        "typing": [part for part in ("Any", "Literal") if re.search(rf"\b{part}\b", blocks)],
    }
    imports = [f"from {place} import {', '.join(parts)}" for place, parts in used.items() if parts]
    sections = [
        head,
        "from __future__ import annotations",
        "\n".join(imports),
        "from dumbbell.contract.part import Part",
    ]
    return "\n\n".join(filter(None, sections)) + f"\n\n\n{blocks}\n"


def write(package: Path) -> None:
    """Write the generated modules of the package, which lies in the folder `package`."""
    for name in NAMES:
        (package / f"{name}.py").write_text(module(name))


class _Writer:
    """Writes each type of a schema once, followed by those that it mentions."""

    def __init__(self, root: Schema) -> None:
        self.root = root
        self.defs: Mapping[str, Schema] = root.get("$defs", {})
        self.waiting: list[tuple[str, Schema]] = []
        self.written: dict[str, Schema] = {}

    def blocks(self) -> Iterator[str]:
        """Yield the definitions, top-down."""
        self.waiting = [(self.root["title"], self.root)]
        while self.waiting:
            name, schema = self.waiting.pop(0)
            if name in self.written:
                assert self.written[name] == schema, f"two types are called {name}"
                continue
            self.written[name] = schema
            later, self.waiting = self.waiting, []
            yield from self._definition(name, schema)
            self.waiting += later

    def _definition(self, name: str, schema: Schema) -> Iterator[str]:
        variants = schema.get("oneOf")
        if variants is None:
            yield self._class(name, schema["description"], self._fields(schema))
        elif _is_texts(schema):
            values = [f'    "{one["const"]}",  # {one["description"]}' for one in variants]
            yield _alias(name, "Literal[\n" + "\n".join(values) + "\n]", schema)
        elif all("kind" in variant["properties"] for variant in variants if _is_object(variant)):
            tagged = [(_camel(_tag(variant)), variant) for variant in variants]
            for kind, variant in tagged:
                self.written[kind] = variant
                options = f', tag_field="kind", tag="{_tag(variant)}"'
                yield self._class(kind, variant["description"], self._fields(variant), options)
            yield _alias(name, " | ".join(kind for kind, _ in tagged), schema)
        else:
            yield self._class(name, _with_texts(schema), self._members(variants))

    def _class(
        self, name: str, description: str, fields: Iterator[tuple[str, str, str]], options: str = ""
    ) -> str:
        head = f"class {name}(Part, frozen=True, kw_only=True{options}):\n{_docstring(description)}"
        parts = [f"    {key}: {kind}\n{_comment(what)}" for key, kind, what in fields]
        return "\n\n".join([head, *parts])

    def _fields(self, schema: Schema) -> Iterator[tuple[str, str, str]]:
        """Yield name, type and default, and meaning of each field."""
        for key, described in schema["properties"].items():
            if key == "kind":
                continue
            kind = self._type(described, key)
            if key not in schema.get("required", ()):
                default = described.get("default")
                kind += f" = {default}"
            yield key, kind, described["description"]

    def _members(self, variants: list[Schema]) -> Iterator[tuple[str, str, str]]:
        """Yield name, type and default, and meaning of what of a value there is just one."""
        for variant in filter(_is_object, variants):
            [(key, described)] = variant["properties"].items()
            payload = {"description": variant["description"], **described}
            yield key, f"{self._type(payload, key)} | None = None", variant["description"]

    def _type(self, schema: Schema, key: str) -> str:
        """Return the annotation of a value; `key` names a type without a name."""
        if "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            return self._named(name, self.defs[name])
        if "anyOf" in schema:
            return " | ".join(self._type(choice, key) for choice in schema["anyOf"])
        kind = schema["type"]
        if isinstance(kind, list):
            return " | ".join(self._type({**schema, "type": one}, key) for one in kind)
        return PLAIN[kind] if kind in PLAIN else self._compound(schema, key)

    def _compound(self, schema: Schema, key: str) -> str:
        """Return the annotation of a value that consists of others."""
        if "prefixItems" in schema:
            return f"tuple[{', '.join(self._type(item, key) for item in schema['prefixItems'])}]"
        if "items" in schema:
            return f"tuple[{self._type(schema['items'], key)}, ...]"
        if "properties" in schema:
            return self._named(_camel(key), schema)
        values = schema["additionalProperties"]
        return f"Mapping[str, {'Any' if values is True else self._type(values, key)}]"

    def _named(self, name: str, schema: Schema) -> str:
        """Return the name of a type, and its text variants, if it is one; else what it holds."""
        if "oneOf" not in schema and "properties" not in schema:
            return self._type(schema, name)
        self.waiting.append((name, schema))
        texts = [] if _is_texts(schema) else _texts(schema)
        words = ", ".join(f'"{text["const"]}"' for text in texts)
        return f"{name} | Literal[{words}]" if words else name


def _is_object(schema: Schema) -> bool:
    return bool(schema["type"] == "object")


def _texts(schema: Schema) -> list[Schema]:
    """Return the variants of an enumeration that hold nothing."""
    return [variant for variant in schema.get("oneOf", ()) if not _is_object(variant)]


def _is_texts(schema: Schema) -> bool:
    return "oneOf" in schema and len(_texts(schema)) == len(schema["oneOf"])


def _tag(variant: Schema) -> str:
    return str(variant["properties"]["kind"]["const"])


def _with_texts(schema: Schema) -> str:
    """Return the description of an enumeration, and the texts that may replace a value."""
    others = [
        f'The text "{text["const"]}" in its place: {_first_lower(text["description"])}'
        for text in _texts(schema)
    ]
    return " ".join([schema["description"], *others])


def _first_lower(text: str) -> str:
    return text[:1].lower() + text[1:]


def _camel(name: str) -> str:
    return "".join(part.capitalize() for part in re.split("[-_]", name))


def _plain(text: str) -> str:
    """Return a comment of Rust on one line, without links to other parts of the code."""
    return re.sub(r"\[(`[^`]+`)\]", r"\1", " ".join(text.split()))


def _docstring(description: str) -> str:
    """Return a docstring; a long one has its first sentence on a separate line."""
    text = _plain(description)
    whole = f'    """{text}"""'
    if len(whole) <= WIDTH:
        return whole
    first, rest = text.split(". ", maxsplit=1)
    lines = textwrap.wrap(rest, WIDTH - 4)
    return textwrap.indent("\n".join([f'"""{first}.', "", *lines, '"""']), " " * 4)


def _comment(text: str) -> str:
    return textwrap.indent(textwrap.fill(f'"""{_plain(text)}"""', WIDTH - 4), " " * 4)


def _alias(name: str, value: str, schema: Schema) -> str:
    return f'{name} = {value}\n"""{_plain(schema["description"])}"""'
