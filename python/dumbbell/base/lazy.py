"""Altair and Jinja, which are imported when something of them is first used.

`dumbbell compare` of stored runs needs neither. Altair takes a third of a second, Jinja a tenth.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import altair
    import jinja2
else:

    class _Lazy:
        """Stands for a module until something of that is read."""

        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, name: str) -> Any:
            return getattr(import_module(self._name), name)

    altair = _Lazy("altair")
    jinja2 = _Lazy("jinja2")

__all__ = ["altair", "jinja2"]
