"""The page of what is measured has no gap; `make lint` sees that it is current."""

from __future__ import annotations

from pathlib import Path

from dumbbell.plan import settings
from dumbbell.plan.windows import BUILT_IN
from dumbbell.quantities import derived, registry, series
from dumbbell.theory import curves, formulas

PAGE = (Path(__file__).parents[2] / "docs" / "quantities.md").read_text()
ROWS = [line for line in PAGE.splitlines() if line.startswith("| `")]


def part(heading: str) -> str:
    """Return the text of the page below a heading of the second level."""
    assert PAGE.count(f"\n## {heading}\n") == 1
    return PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def test_every_quantity_has_a_row_with_all_that_is_known_of_it() -> None:
    rows = [line for line in part("All quantities").splitlines() if line.startswith("| `")]
    assert len(rows) == len(registry.quantities())
    for row, quantity in zip(rows, registry.quantities().values(), strict=True):
        name = f"{quantity.name}:NAME" if quantity.takes else quantity.name
        cells = [cell.strip() for cell in row.strip("|").split(" | ")]
        assert cells == [
            f"`{name}`",
            quantity.unit,
            quantity.what,
            ", ".join(quantity.per),
            quantity.best or "",
        ]


def test_all_settings_windows_ways_formulas_curves_and_series_are_listed() -> None:
    for name, kind in settings.KNOWN.items():
        table = part("Settings").partition(f"### `[settings.{name}]`")[2].partition("###")[0]
        assert all(f"| `{key}` |" in table for key in kind.model_fields), name
    assert all(f"`@{window}`" in part("Windows") for window in BUILT_IN if window != "main")
    assert all(f"`{way}`" in part("Derived quantities") for way in derived.WAYS)
    assert all(f"| `{name}(" in part("Formulas") for name in formulas.FORMULAS)
    assert all(f"| `{name}` |" in part("Curves") for name in curves.CURVES)
    assert all(f"| `{name}` |" in part("Series over time") for name in series.SERIES)


def test_settings_show_the_default_rather_than_an_example() -> None:
    _, _, short_term = part("Settings").partition("### `[settings.short_term]`")
    interval = next(line for line in short_term.splitlines() if line.startswith("| `interval` |"))
    assert interval.endswith("| `1s` |")


def test_no_row_lacks_a_description() -> None:
    assert ROWS
    for row in ROWS:
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        assert any(len(cell) > 1 for cell in cells[1:]), row
