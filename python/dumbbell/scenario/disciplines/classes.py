"""Classes of packets that share a link."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, Self

from pydantic import Field, model_validator

from dumbbell.base.errors import InputError, unknown
from dumbbell.base.keys import numbered
from dumbbell.base.units import Count, Limit, Queue, Volume
from dumbbell.scenario.disciplines.base import Discipline, Passing, size_at
from dumbbell.scenario.sizing import Sizing, queue_limit
from dumbbell.scenario.tables import Name, Table

CLASSES_MAX: Final = 255


class Class(Table):
    """One of the classes of a queue."""

    name: Name = Field(examples=["nv"])
    """Name of the class in flows; with `by = "ecn"` it is `ecn` or `other`."""

    weight: Count = Field(1, examples=[2])
    """Its share of the turns, relative to the others."""


OTHER: Final = "other"
"""The class of whatever belongs to none."""

ECN_CLASSES: Final = ("ecn", OTHER)


class Classes(Discipline):
    """Classes of packets, served in turn or by priority."""

    discipline: Literal["classes"]

    limit: Limit = Field(examples=["1mb"])
    """Limit of each class."""

    by: Literal["ecn", "class"] = Field("ecn", examples=["class"])
    """Criterion of a packet's class: `ecn`, ECN capability (the switch of Brakmo), or `class`, the
    `class` of its flow."""

    serve: Literal["round-robin", "priority"] = Field("round-robin", examples=["priority"])
    """Order of service: the classes take turns by their weights, or each class has priority over
    those named after it."""

    class_: tuple[Class, ...] = Field(
        (), alias="class", examples=[[{"name": "nv", "weight": 2}, {"name": "other"}]]
    )
    """The classes, in order of precedence. `other` is that of flows whose class has no name here.
    With `by = "ecn"` there are `ecn` and `other`, which need not be named."""

    threshold: Queue | None = Field(None, examples=["65p"])
    """ECN-capable packets that find this much or more waiting in their class are marked; by default
    none are."""

    quantum: Volume = Field(1514, examples=[1514])
    """Bytes that a class of weight 1 may send in its turn."""

    @property
    def classes(self) -> tuple[Class, ...]:
        """The classes, whether they are named or not."""
        return self.class_ or tuple(Class(name=name) for name in ECN_CLASSES)

    @model_validator(mode="after")
    def _possible(self) -> Self:
        names = [one_class.name for one_class in self.class_]
        if self.by == "class" and not names:
            raise InputError(
                "is missing", key="class", valid='for example [{ name = "nv" }, { name = "other" }]'
            )
        if len(names) > CLASSES_MAX:
            raise InputError("too many classes", key="class", valid=f"at most {CLASSES_MAX}")
        for before, (key, name) in enumerate(numbered("class", names)):
            if name in names[:before]:
                raise InputError("named twice", key=f"{key}.name", value=name, valid="another name")
            if self.by == "ecn" and name not in ECN_CLASSES:
                raise unknown("ECN class", name, ECN_CLASSES).at(key=f"{key}.name")
        if self.by == "ecn" and names and len(names) < len(ECN_CLASSES):
            missing = next(name for name in ECN_CLASSES if name not in names)
            raise InputError(
                f"{missing} is missing", key="class", valid="ecn and other, or none of them"
            )
        if self.serve == "priority":
            for key, one_class in numbered("class", self.class_):
                if one_class.weight != 1:
                    raise InputError(
                        "classes that are served by priority have no weights",
                        key=f"{key}.weight",
                        value=one_class.weight,
                        valid='no weight, or serve = "round-robin"',
                    )
        return self

    @classmethod
    def marks(cls, resolved: Any) -> bool:
        """Return True if there is a threshold."""
        return resolved.threshold is not None

    def fields(self, sizing: Sizing, passing: Passing) -> dict[str, Any]:
        """Return the parameters in base units, by the keys of the engine."""
        numbers = {one_class.name: number for number, one_class in enumerate(self.classes)}
        if self.by == "ecn":
            by: dict[str, Any] = {"ecn": {"capable": numbers["ecn"], "other": numbers[OTHER]}}
        else:
            by = {"flows": [_class(flow, numbers) for flow in passing.classes]}
        if self.serve == "priority":
            serve: dict[str, Any] = {"priority": {"classes": len(numbers)}}
        else:
            weights = [one_class.weight for one_class in self.classes]
            serve = {"round_robin": {"quantum_bytes": self.quantum, "weights": weights}}
        threshold = size_at("threshold", self.threshold, sizing, queue_limit)
        return {"by": by, "serve": serve, "threshold": threshold}


def _class(name: str | None, numbers: Mapping[str, int]) -> int:
    """Return the number of a flow's class."""
    number = numbers.get(OTHER if name is None else name, numbers.get(OTHER))
    if number is None:
        whose = "a flow that names no class" if name is None else f"the class {name} of a flow"
        raise InputError(
            f"does not say where {whose} belongs",
            key="class",
            value=list(numbers),
            valid=f'a class of this name, or {{ name = "{OTHER}" }}',
        )
    return number
