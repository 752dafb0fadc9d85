"""Delays that vary by a distribution, as those of netem do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Discriminator, Field, PrivateAttr, Tag, ValidationInfo, model_validator

from dumbbell.base.errors import InputError, placed
from dumbbell.base.units import Delay, WholeDelay
from dumbbell.scenario.model_traces import File
from dumbbell.scenario.tables import Table
from dumbbell.scenario.traces import read_table

BuiltIn = Literal["uniform", "normal", "pareto", "pareto-normal"]


class DelayTable(File):
    """A distribution as a table in the format of netem."""

    table: str = Field(examples=["experimental.dist"])
    """The file, relative to the one that names it: numbers that are equally likely, in units of
    the deviation divided by 8192. Words behind `#` are ignored."""

    _numbers: tuple[int, ...] = PrivateAttr(())

    @model_validator(mode="after")
    def _read(self, info: ValidationInfo) -> Self:
        with placed(key="table"):
            self._numbers = read_table(self._path("table", info))
        return self

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers in the file."""
        return self._numbers


def _kind(value: Any) -> str:
    return "table" if isinstance(value, Mapping | DelayTable) else "name"


Distribution = Annotated[
    Annotated[BuiltIn, Tag("name")] | Annotated[DelayTable, Tag("table")], Discriminator(_kind)
]


class Varying(Table):
    """A delay of each packet by a distribution, as netem draws it: `mean + deviation * number`."""

    mean: Delay = Field(examples=["20ms"])
    """Delay of a packet whose number is 0. No delay is less than 0."""

    deviation: WholeDelay = Field(examples=["5ms"])
    """Additional delay of a packet whose number is 1."""

    distribution: Distribution = Field("normal", examples=["normal", {"table": "lte.dist"}])
    """Distribution of the numbers: `uniform` from -1 to 1, `normal`, `pareto`, `pareto-normal`, or
    a table. The named distributions are those of iproute2, whose numbers are at most 4."""

    overtaken: bool = Field(False, examples=[True])
    """True if later packets overtake late ones, as in a netem without a rate. By default packets
    keep their order, as in a netem with a rate, and wait before the queue."""

    @model_validator(mode="after")
    def _varies(self) -> Self:
        if isinstance(self.distribution, DelayTable) and not any(self.distribution.numbers):
            raise InputError(
                "never varies", key="distribution.table", value=self.distribution.table,
                valid="a table with numbers other than 0",
            )  # fmt: skip
        return self

    def resolved(self) -> dict[str, Any]:
        """Return it in base units."""
        chosen = self.distribution
        return {
            "mean_ns": self.mean,
            "deviation_ns": self.deviation,
            "distribution": {"table": list(chosen.numbers)}
            if isinstance(chosen, DelayTable)
            else chosen,
            "overtaken": self.overtaken,
        }


def _jitter_kind(value: Any) -> str:
    return "table" if isinstance(value, Mapping | Varying) else "time"


JitterSpec = Annotated[
    Annotated[Delay, Tag("time")] | Annotated[Varying, Tag("table")], Discriminator(_jitter_kind)
]
"""A jitter: the longest delay of a uniform one, or a distribution."""
