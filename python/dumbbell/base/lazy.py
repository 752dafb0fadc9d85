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
            module = import_module(self._name)
            if self._name == "altair" and _checks_once:
                import_module("altair.utils.schemapi").disable_debug_mode()
            value = getattr(module, name)
            setattr(self, name, value)
            return value

    altair = _Lazy("altair")
    jinja2 = _Lazy("jinja2")

__all__ = ["altair", "check_charts_once", "jinja2"]

_checks_once = False


def check_charts_once() -> None:
    """Have Altair validate only whole charts, when they become Vega-Lite.

    By default it also validates each part when that is made. This takes two fifths of a figure's
    time and helps only those who write charts, so notebooks keep it and the command does not.
    """
    global _checks_once  # noqa: PLW0603 - as Altair's own setting
    _checks_once = True
