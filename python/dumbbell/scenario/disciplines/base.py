"""What every queue discipline of a scenario has in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, TypeVar, get_args

from pydantic import WithJsonSchema
from pydantic.fields import FieldInfo

from dumbbell.base.errors import placed
from dumbbell.base.units import QueueSize
from dumbbell.scenario.sizing import Sizing, queue_limit
from dumbbell.scenario.tables import Table

Resolved = TypeVar("Resolved")

_SUFFIXES: Final = {"time": "_ns", "size": "_bytes"}
"""Ends of keys in base units, by the format of the scenario's value."""


@dataclass(frozen=True, slots=True)
class Passing:
    """Properties of a scenario's flows on which a queue may depend."""

    classes: Sequence[str | None] = ()
    """The class of each flow; None: it names none."""
    hosts: Sequence[tuple[int, int]] = ()
    """Numbers of the sending and the receiving host of each flow; empty: none share one."""


class Discipline(Table):
    """A queue discipline: its name, the queue's limit and its parameters."""

    title: ClassVar[str] = ""
    """Its name for people, where scenarios drawn for the agreement with the kernel have it."""

    drops_by_chance: ClassVar[bool] = False
    """True if equal seeds drop equal packets in both engines, and others drop others."""

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Return its name, and names of its special cases."""
        return get_args(cls.model_fields["discipline"].annotation)

    @classmethod
    def parameters(cls) -> dict[str, FieldInfo]:
        """Return its keys that are neither its name nor the queue's limit."""
        return {
            key: described
            for key, described in cls.model_fields.items()
            if key not in ("discipline", "limit")
        }

    @classmethod
    def marks(cls, resolved: Any) -> bool:
        """Return True if it marks packets, with these parameters in base units."""
        return getattr(resolved, "ecn", False)

    def fields(self, sizing: Sizing, passing: Passing) -> dict[str, Any]:  # noqa: ARG002 - of some
        """Return the parameters in base units, by the keys of the engine."""
        fields: dict[str, Any] = {}
        for key, described in self.parameters().items():
            value = getattr(self, key)
            if isinstance(value, QueueSize):
                value = size_at(key, value, sizing, queue_limit)
            fields[base_key(key, described)] = value
        return fields


def format_of(described: FieldInfo) -> str:
    """Return the format of a key's values, such as `time`; empty: they have none."""
    schemas = (mark.json_schema for mark in described.metadata if isinstance(mark, WithJsonSchema))
    return next((str(schema["format"]) for schema in schemas if schema and "format" in schema), "")


def base_key(key: str, described: FieldInfo) -> str:
    """Return the engine's name of a key: with `_ns` after a time and `_bytes` after a size."""
    return key + _SUFFIXES.get(format_of(described), "")


def size_at(
    key: str,
    size: QueueSize | None,
    sizing: Sizing,
    read: Callable[[QueueSize, Sizing], Resolved],
) -> Resolved | None:
    """Resolve the size under a key of a queue's table."""
    with placed(key=key):
        return None if size is None else read(size, sizing)
