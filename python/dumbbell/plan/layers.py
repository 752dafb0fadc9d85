"""The tables of a study that make the scenario of a grid point, and the origin of each key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dumbbell.base.errors import InputError
from dumbbell.base.keys import index_of
from dumbbell.plan import grid


@dataclass(frozen=True)
class Layer:
    """A table that is merged into a scenario, on top of those before it.

    Attributes
    ----------
    source
        The file that holds it.
    key
        Its key there.
    is_home
        True if errors about missing keys name this table.
    """

    source: str
    key: str
    table: Mapping[str, Any]
    is_home: bool = False


def merged(layers: Sequence[Layer]) -> Mapping[str, Any]:
    """Return the scenario that the layers make together."""
    template: Mapping[str, Any] = {}
    for layer in layers:
        template = grid.merged(template, layer.table)
    return template


def where_said(error: InputError, layers: Sequence[Layer]) -> InputError:
    """Put errors of a scenario at the places of the study that cause them."""
    others = [_placed(other, layers) for other in error.others]
    return replace(_placed(error, layers), others=others)


def _placed(error: InputError, layers: Sequence[Layer]) -> InputError:
    layer = _saying((error.key or "").split("."), layers)
    return error.at(source=layer.source, key=layer.key)


def _saying(path: Sequence[str], layers: Sequence[Layer]) -> Layer:
    """Return the layer that a value is from; if there is none, the first that comes nearest."""
    nearest, nearest_depth = next(layer for layer in layers if layer.is_home), 0
    for layer in reversed(layers):
        depth, decides = _reach(layer.table, path)
        if decides:
            return layer
        if depth and depth >= nearest_depth:
            nearest, nearest_depth = layer, depth
    return nearest


def _reach(value: Any, path: Sequence[str]) -> tuple[int, bool]:
    """Return how far a path leads into a table, and whether other tables below it do not count."""
    for depth, part in enumerate(path):
        if isinstance(value, Mapping):
            if part not in value:
                return depth, False
            value = value[part]
        elif grid.is_tables(value):
            index = index_of(part, value)
            if index is None:
                return depth, False
            value = value[index]
        else:
            return depth, True
    return len(path), True
