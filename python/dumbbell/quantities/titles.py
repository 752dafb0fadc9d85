"""Names of quantities for readers, with their subject and window."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dumbbell.base.labels import UNITS
from dumbbell.plan.tests import Test
from dumbbell.quantities.derived import Derived
from dumbbell.quantities.reference import parse
from dumbbell.quantities.registry import quantity
from dumbbell.quantities.tables import number_columns

_WINDOWS: Final = {
    "run": "over the whole run",
    "late": "in the second half of the window",
    "final": "in the last fifth of the window",
}


def title(text: str, derived: Mapping[str, Derived]) -> str:
    """Say in words what a reference names, which may be derived by the study."""
    if text in derived:
        return derived[text].title
    reference = parse(text)
    registered = quantity(reference.name)
    words = f"{registered.title} {reference.argument}" if reference.argument else registered.title
    if reference.subject is not None:
        whose = (
            "flow " if reference.subject.isdecimal() else "queue " if registered.of_queue else ""
        )
        words += f" of {whose}{reference.subject}"
    if reference.window is not None:
        words += f" {_WINDOWS.get(reference.window, f'in the window {reference.window}')}"
    return words


def of_column(column: str, test: Test, derived: Mapping[str, Derived]) -> str:
    """Say what a column of a test's table holds, with its unit."""
    for axis, number in number_columns(test).items():
        if column == number:
            unit = UNITS[number.removeprefix(f"{axis}_")]
            return f"{axis} ({unit})" if unit else axis
    unit = derived[column].shown_unit if column in derived else quantity(parse(column).name).unit
    return f"{title(column, derived)} ({unit})" if unit else title(column, derived)
