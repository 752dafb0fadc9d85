"""Quantities that a study derives from others: ratios, differences, shares, harm and gain.

Both operands are quantities of one test. They may differ by window, by whose they are, or by grid
point; of another grid point it is the run of the same repetition that is taken.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, Self

import polars as pl
from pydantic import BeforeValidator, Field, model_validator

from dumbbell.base.errors import InputError
from dumbbell.base.labels import UNBOUNDED, Bounds
from dumbbell.plan import grid
from dumbbell.quantities.reference import parse
from dumbbell.quantities.registry import Best, quantity
from dumbbell.scenario.tables import Table


class Operand(Table):
    """A quantity, at the run's own grid point or at another one."""

    quantity: str = Field(examples=["goodput_mbit_per_s[1]@before"])
    """The quantity."""

    at: dict[str, str] = Field({}, examples=[{"second": "reno"}])
    """Axis -> its value at the grid point that is meant; other axes stay as they are."""


def _operand(value: Any) -> Any:
    """Read the name of a quantity as an operand."""
    return {"quantity": value} if isinstance(value, str) else value


_Named = Annotated[Operand, BeforeValidator(_operand, json_schema_input_type=str | Operand)]
Operands = tuple[_Named, _Named]


class Derived(Table):
    """A quantity that is derived from two others, in one of several ways."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=60, examples=["recovery"])
    """Its name, by which claims and figures refer to it. No other quantity may have this name."""

    title: str = Field(examples=["recovery ratio"])
    """Title."""

    unit: str = ""
    """Its unit; by default none. A difference has the unit of its operands by default."""

    best: Best | None = None
    """The better end of its values, highest or lowest; by default neither."""

    ratio: Operands | None = Field(None, examples=[["a", "b"]])
    """The first divided by the second."""

    difference: Operands | None = None
    """The first minus the second."""

    share: Operands | None = None
    """The first divided by the sum of both."""

    maximum: Operands | None = None
    """The larger of both."""

    gain: Operands | None = None
    """The first divided by the second, minus 1."""

    harm: Operands | None = Field(
        None,
        examples=[
            [
                {"quantity": "goodput_mbit_per_s[2]", "at": {"first": "bbr"}},
                {"quantity": "goodput_mbit_per_s[2]", "at": {"first": "reno"}},
            ]
        ],
    )
    """Harm: the loss of the first compared with the second, as a share of the better one (Ware et
    al. 2019). 0 is no harm; at 1 nothing is left. The better end is that of the quantity."""

    @model_validator(mode="after")
    def _in_one_way(self) -> Self:
        ways = [way for way in WAYS if getattr(self, way) is not None]
        if len(ways) != 1:
            problem = "is derived in no way" if not ways else "is derived in several ways"
            raise InputError(
                problem, key=(ways or ["ratio"])[-1], valid=f"one of {', '.join(WAYS)}"
            )
        return self

    @property
    def way(self) -> str:
        """The way of derivation."""
        return next(way for way in WAYS if getattr(self, way) is not None)

    @property
    def operands(self) -> tuple[Operand, Operand]:
        """The operands of the derivation."""
        operands: tuple[Operand, Operand] = getattr(self, self.way)
        return operands

    @property
    def shown_unit(self) -> str:
        """The unit in which people see it."""
        if self.unit or self.way not in ("difference", "maximum"):
            return self.unit
        return quantity(parse(self.operands[0].quantity).name).unit

    @property
    def bounds(self) -> Bounds:
        """The least and the most that it can be."""
        taken = [quantity(parse(operand.quantity).name) for operand in self.operands]
        if self.way == "difference" or any(part.signed for part in taken):
            return UNBOUNDED
        return {"share": (0.0, 1.0), "harm": (-math.inf, 1.0), "gain": (-1.0, math.inf)}.get(
            self.way, (0.0, math.inf)
        )

    @property
    def shown_scale(self) -> float:
        """The factor from its own unit to that one."""
        return 1.0


def columns(wanted: Sequence[str], derived: Mapping[str, Derived]) -> Iterator[str]:
    """Yield the quantities to take of runs for the given ones."""
    for name in wanted:
        if name in derived:
            yield from (operand.quantity for operand in derived[name].operands)
        else:
            yield name


def with_operands(
    meant: Sequence[Mapping[str, str]],
    points: Sequence[Mapping[str, str]],
    columns: Iterable[Derived],
) -> Iterator[Mapping[str, str]]:
    """Yield points, and those at which operands of derived quantities are taken for them."""
    yield from meant
    for at in (operand.at for column in columns for operand in column.operands if operand.at):
        wanted = [{**point, **at} for point in meant]
        yield from (
            point for point in points if any(grid.matches(point, place) for place in wanted)
        )


def added(runs: pl.DataFrame, axes: Sequence[str], derived: Derived) -> pl.DataFrame:
    """Add a derived quantity to a table of runs that has its operands."""
    first, second = (_column(runs, axes, operand) for operand in derived.operands)
    pairs = pl.DataFrame({"a": first, "b": second}, schema=dict.fromkeys("ab", pl.Float64))
    values = pairs.select(_EXPRESSIONS[derived.way](derived)).to_series()
    # Nothing is infinite here: by nothing there is no ratio.
    return runs.with_columns(pl.when(values.is_finite()).then(values).alias(derived.name))


def _column(runs: pl.DataFrame, axes: Sequence[str], operand: Operand) -> pl.Series:
    """Return an operand for each run of the table, of the same repetition."""
    if not operand.at:
        return runs[operand.quantity]
    others = [axis for axis in axes if axis not in operand.at]
    there = grid.select(runs, operand.at).select(
        *others, "repetition", pl.col(operand.quantity).alias("_there")
    )
    # An axis that is left out may have several points there; a join with them would multiply runs.
    unique = there.unique([*others, "repetition"], keep="first", maintain_order=True)
    return runs.join(unique, on=[*others, "repetition"], how="left", maintain_order="left")[
        "_there"
    ]


def _harm(derived: Derived) -> pl.Expr:
    best = quantity(parse(derived.operands[0].quantity).name).best
    one, other = pl.col("a"), pl.col("b")
    return (one - other) / one if best is Best.LOWEST else (other - one) / other


_EXPRESSIONS: Final[Mapping[str, Callable[[Derived], pl.Expr]]] = {
    "ratio": lambda _: pl.col("a") / pl.col("b"),
    "difference": lambda _: pl.col("a") - pl.col("b"),
    "share": lambda _: pl.col("a") / (pl.col("a") + pl.col("b")),
    # `max_horizontal` ignores nulls: the larger of one value and nothing would be that value.
    "maximum": lambda _: pl.when(pl.col("a").is_not_null() & pl.col("b").is_not_null()).then(
        pl.max_horizontal("a", "b")
    ),
    "gain": lambda _: pl.col("a") / pl.col("b") - 1,
    "harm": _harm,
}

WAYS: Final = tuple(_EXPRESSIONS)
