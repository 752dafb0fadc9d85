"""Results that are tables: notebooks and terminals show them, and they have a frame."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import TypeVar, overload

import polars as pl

from dumbbell.base import hypertext, labels

Item = TypeVar("Item")


class Table(ABC):
    """Something that is a table."""

    @abstractmethod
    def to_frame(self) -> pl.DataFrame:
        """Return the table as a frame."""

    @property
    @abstractmethod
    def _heading(self) -> tuple[str, str]:
        """Its title, and a line about it."""

    def _repr_html_(self) -> str:
        """Return the table, for notebooks."""
        return self._html(self.to_frame())

    def __repr__(self) -> str:
        return self._text(self.to_frame())

    def _html(self, frame: pl.DataFrame) -> str:
        rows = ([_cell(value) for value in row] for row in frame.iter_rows())
        return hypertext.summary(*self._heading, frame.columns, rows)

    def _text(self, frame: pl.DataFrame) -> str:
        title, about = self._heading
        return f"<{title}: {about}>\n{frame}"


def _cell(value: object) -> str:
    if isinstance(value, float):
        return labels.number(value, 4)
    return "" if value is None else str(value)


class Rows(Table, Sequence[Item]):
    """A table that is also a sequence of what its rows are made of."""

    def __init__(self, items: Iterable[Item]) -> None:
        self._items = tuple(items)

    @overload
    def __getitem__(self, index: int) -> Item: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Item]: ...

    def __getitem__(self, index: int | slice) -> Item | Sequence[Item]:
        return self._items[index]

    def __len__(self) -> int:
        return len(self._items)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]
