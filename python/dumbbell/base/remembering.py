"""Methods whose results are kept on their object."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

Holder = TypeVar("Holder")
Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def remembered(
    method: Callable[Concatenate[Holder, Parameters], Result],
) -> Callable[Concatenate[Holder, Parameters], Result]:
    """Call a method once for each combination of its positional arguments.

    `functools.cache` on a method would keep every object alive; this keeps results with the object.
    """
    name = f"_remembered_{method.__name__}"

    @functools.wraps(method)
    def call(self: Holder, /, *args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        known: dict[Any, Result] = vars(self).setdefault(name, {})
        key = (args, *sorted(kwargs.items()))
        if key not in known:
            known[key] = method(self, *args, **kwargs)
        return known[key]

    return call
