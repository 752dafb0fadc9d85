"""The TCP stack of the hosts: a profile, with single switches set otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from pydantic import (
    Field,
    SerializerFunctionWrapHandler,
    field_validator,
    model_serializer,
    model_validator,
)

from dumbbell.algorithms import catalogue
from dumbbell.scenario.tables import Abbreviable

Switches = Mapping[str, bool | int | str]


class Stack(Abbreviable):
    """The TCP stack of hosts: a profile, in which individual switches may differ."""

    profile: str = Field("linux-6", examples=["linux-6", "linux-2.6.6"])
    """Name of the profile."""

    switches: Switches = Field({}, examples=[{"quick_acks": 0}])
    """Switches that differ from the profile."""

    @model_validator(mode="before")
    @classmethod
    def _name_only(cls, value: Any) -> Any:
        return {"profile": value} if isinstance(value, str) else value

    @field_validator("profile")
    @classmethod
    def _known_profile(cls, name: str) -> str:
        return catalogue.stack_profile(name).name

    @model_validator(mode="after")
    def _known_switches(self) -> Self:
        catalogue.stacks().check_switches(self.profile, self.switches)
        return self

    @model_serializer(mode="wrap")
    def _compact(self, handler: SerializerFunctionWrapHandler) -> Any:
        return handler(self) if self.switches else self.profile
