"""Sizes of the transfers of an arrival process."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    Field,
    PrivateAttr,
    SerializerFunctionWrapHandler,
    ValidationInfo,
    field_validator,
    model_serializer,
    model_validator,
)

from dumbbell.base.errors import InputError, near, placed
from dumbbell.base.units import Number, Volume, parse_bytes
from dumbbell.scenario.tables import Abbreviable, Table
from dumbbell.scenario.traces import Distribution, read_distribution


class Fixed(Abbreviable):
    """All sizes are equal. The size alone is enough."""

    abbreviation = {  # noqa: RUF012 - it is a ClassVar
        # A name of a distribution begins with a letter.
        "anyOf": [{"type": "integer", "minimum": 1}, {"type": "string", "pattern": "^[ 0-9.]"}],
        "format": "size",
    }

    distribution: Literal["fixed"]

    mean: Volume = Field(examples=["10kb"])
    """The size."""

    @model_serializer(mode="wrap")
    def _compact(self, handler: SerializerFunctionWrapHandler) -> Any:
        return handler(self)["mean"]


class Exponential(Table):
    """Exponentially distributed."""

    distribution: Literal["exponential"]

    mean: Volume = Field(examples=["100kb"])
    """The mean size."""


class Pareto(Table):
    """Pareto distributed: few transfers carry much of the data."""

    distribution: Literal["pareto"]

    mean: Volume = Field(examples=["100kb"])
    """The mean size."""

    shape: Number = Field(examples=[1.5])
    """The tail index, more than 1; the smaller, the heavier the tail."""

    @field_validator("shape")
    @classmethod
    def _has_mean(cls, shape: float) -> float:
        if shape <= 1:
            raise InputError("such a distribution has no mean", valid="more than 1")
        return shape


class LogNormal(Table):
    """Log-normally distributed."""

    distribution: Literal["lognormal"]

    mean: Volume = Field(examples=["100kb"])
    """The mean size."""

    shape: Number = Field(examples=[1.5])
    """Standard deviation of the logarithm, at most 10."""

    @field_validator("shape")
    @classmethod
    def _limited(cls, shape: float) -> float:
        if shape > 10:
            raise InputError("too wide", valid="at most 10")
        return shape


class Empirical(Table):
    """Distributed as measured."""

    distribution: Literal["empirical"]

    file: str = Field(examples=["web-search.cdf"])
    """The file, relative to the one that names it. Each line has a size and the share of transfers
    up to that size, such as `10kb 0.5`. The last share is 1. Between lines, sizes are interpolated
    linearly."""

    _points: Distribution = PrivateAttr()

    @model_validator(mode="after")
    def _read(self, info: ValidationInfo) -> Self:
        path = ((info.context or {}).get("folder", Path()) / self.file).absolute()
        with placed(key="file"):
            self._points = read_distribution(path)
        object.__setattr__(self, "file", str(path))
        return self

    @property
    def points(self) -> Distribution:
        """The distribution in the file."""
        return self._points


_Name = Literal["web-search", "data-mining", "cache", "hadoop"]

PUBLISHED: Final[tuple[str, ...]] = get_args(_Name)
"""Names of the distributions that come with Dumbbell."""


@functools.cache
def published(name: str) -> Distribution:
    """Return a distribution that comes with Dumbbell; the head of its file names the source."""
    return read_distribution(Path(str(files("dumbbell.scenario") / "sizes" / f"{name}.cdf")))


class Published(Abbreviable):
    """A published distribution of a data centre. The name alone is enough.

    `web-search` is from the paper of DCTCP (SIGCOMM 2010), `data-mining` from that of VL2 (SIGCOMM
    2009). `cache` and `hadoop` are of clusters at Facebook (Roy et al., SIGCOMM 2015). Their mean
    sizes are 1.7 MB, 12.7 MB, 0.69 MB and 0.16 MB.
    """

    abbreviation = {"type": "string", "enum": [*PUBLISHED]}  # noqa: RUF012 - it is a ClassVar

    distribution: _Name

    @property
    def points(self) -> Distribution:
        """The distribution."""
        return published(self.distribution)

    @model_serializer(mode="wrap")
    def _compact(self, handler: SerializerFunctionWrapHandler) -> Any:
        return handler(self)["distribution"]


AnySize = Fixed | Exponential | Pareto | LogNormal | Empirical | Published


def _as_table(value: Any) -> Any:
    """Read a size alone as transfers of this size, and a name as that distribution."""
    if isinstance(value, BaseModel | Mapping):
        return value
    if value in PUBLISHED:
        return {"distribution": value}
    try:
        size = parse_bytes(value)
    except InputError as error:
        # A word is more likely a misspelt distribution than a size.
        if isinstance(value, str) and value[:1].isalpha():
            names = ", ".join(PUBLISHED)
            error.valid, error.near = f"10kb; or a distribution: {names}", near(value, PUBLISHED)
        raise
    if size == 0:
        raise InputError("must be more than 0")
    return {"distribution": "fixed", "mean": value}


SizeSpec = Annotated[AnySize, Field(discriminator="distribution"), BeforeValidator(_as_table)]
"""Sizes of transfers."""
