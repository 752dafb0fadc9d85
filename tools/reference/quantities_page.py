"""The page of what is measured: quantities, windows, derived quantities, formulas and curves."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from importlib.resources import files
from typing import Any, Final

from pydantic import BaseModel

from dumbbell.base import markdown
from dumbbell.base.units import format_time
from dumbbell.plan import settings
from dumbbell.plan.settings import Settings
from dumbbell.quantities import registry, series
from dumbbell.quantities.registry import Quantity
from dumbbell.theory import curves, formulas

_INTRODUCTION: Final = files("reference") / "quantities.md"

_SHARES: Final = """\
Flows without samples, such as those of `[[arrivals]]`, have rates only for the whole run (`@run`).
Several flows together have a rate only if each of them has one. Comparisons of flows count only
those that are on in the window. A percentile has a value only if at least ten samples are beyond
it.
"""


def page() -> str:
    """Return the page, in Markdown."""
    return "\n".join((_INTRODUCTION.read_text("utf-8"), *_parts())) + "\n"


def _parts() -> Iterator[str]:
    yield "## All quantities\n"
    yield _SHARES
    for module, quantities in _by_module().items():
        subject, about = _described(module)
        yield f"### {subject}\n"
        if about:
            yield f"{about}\n"
        yield markdown.table(("quantity", "unit", "what", "of a", "better"), map(_row, quantities))
    yield "## Settings\n"
    yield "Settings of a study for quantities, as `[settings.NAME]`.\n"
    for name, kind in sorted(settings.KNOWN.items()):
        yield _settings(name, kind)
    yield "## Series over time\n"
    yield (
        "Figures of kind `histories` show these, and `run.series` returns them. When a flow has "
        "stopped or its transfer is complete, its rates stay at zero and its other series end.\n"
    )
    yield markdown.table(("series", "unit", "what"), _series())
    yield "## Formulas\n"
    yield "Functions for `arithmetic` checks of claims.\n"
    yield markdown.table(("formula", "what"), map(_formula, formulas.FORMULAS.values()))
    yield "## Curves\n"
    yield "Expected values at the grid points of a test, for figures and `theory` checks.\n"
    yield markdown.table(
        ("curve", "what", "columns that it needs"),
        (
            (f"`{curve.name}`", curve.what, ", ".join(f"`{column}`" for column in curve.columns))
            for curve in curves.CURVES.values()
        ),
    )


def _by_module() -> Mapping[str, list[Quantity]]:
    by_module: dict[str, list[Quantity]] = {}
    for quantity in registry.quantities().values():
        by_module.setdefault(quantity.compute.__module__, []).append(quantity)
    return by_module


def _described(module: str) -> tuple[str, str]:
    """Return what the quantities of a module are about, and what holds for all of them."""
    first, _, rest = (inspect.getdoc(import_module(module)) or "").partition("\n\n")
    return first.removesuffix("."), rest


def _row(quantity: Quantity) -> tuple[str, ...]:
    return (
        f"`{quantity.name}:NAME`" if quantity.takes else f"`{quantity.name}`",
        quantity.unit,
        quantity.what,
        ", ".join(quantity.per),
        quantity.best or "",
    )


def _settings(name: str, kind: type[Settings]) -> str:
    heading = f"### `[settings.{name}]`\n\n{inspect.getdoc(kind)}\n"
    return f"{heading}\n{markdown.table(('key', 'what', 'default'), _keys(kind))}"


def _keys(kind: type[BaseModel]) -> Iterator[tuple[str, ...]]:
    described = kind.model_json_schema()["properties"]
    for key, field in kind.model_fields.items():
        is_time = described[key].get("format") == "time"
        shown: Any = format_time(field.default) if is_time else field.default
        yield f"`{key}`", field.description or "", f"`{shown}`"


def _series() -> Iterator[tuple[str, ...]]:
    for name, kind in series.SERIES.items():
        yield f"`{name}`", kind.unit, kind.title
    yield f"`{series.STATE}:alpha`", "", "any variable that an algorithm exports"


def _formula(form: Callable[..., float]) -> tuple[str, str]:
    first = " ".join((inspect.getdoc(form) or "").partition("\n\n")[0].split())
    arguments = ", ".join(inspect.signature(form).parameters)
    return f"`{form.__name__}({arguments})`", first.removeprefix("Return ").removesuffix(".")
