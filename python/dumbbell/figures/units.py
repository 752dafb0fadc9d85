"""The unit in which people see what a column holds."""

from __future__ import annotations

from dumbbell.base.labels import UNBOUNDED, Bounds
from dumbbell.quantities.reference import parse
from dumbbell.quantities.registry import Quantity, quantities


def is_share(field: str) -> bool:
    """Return True if a column is a quantity that is never below 0 nor above 1."""
    quantity = _quantity(field)
    return quantity is not None and quantity.is_share


def is_percent(field: str) -> bool:
    """Return True if a column is a quantity that people see in per cent."""
    quantity = _quantity(field)
    return quantity is not None and quantity.percent


def shown(field: str, *values: float | None) -> tuple[list[float | None], str]:
    """Return values of a column as people see them, and the unit behind them."""
    quantity = _quantity(field)
    if quantity is None or not quantity.percent:
        return list(values), ""
    scaled = [None if value is None else value * quantity.shown_scale for value in values]
    return scaled, f" {quantity.shown_unit}"


def shown_bounds(field: str) -> Bounds:
    """Return the least and the most that a column's values can be, as people see them."""
    quantity = _quantity(field)
    return UNBOUNDED if quantity is None else quantity.shown_bounds


def _quantity(field: str) -> Quantity | None:
    """Return the quantity of a column; None: the numbers of an axis, or one of a study's own."""
    return quantities().get(parse(field).name)
