"""Altair, which is imported when something of it is first used.

`dumbbell compare` of stored runs draws nothing, and the import takes a third of a second.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import altair
else:

    class _Lazy:
        """Stands for a module until something of that is read."""

        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, name: str) -> Any:
            return getattr(import_module(self._name), name)

    altair = _Lazy("altair")

__all__ = ["altair"]
