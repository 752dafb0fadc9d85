"""Old names of parameters, which work for one version with a warning."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def renamed(
    old: str, new: str
) -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]:
    """Let a function take a parameter by its old name, too."""

    def decorate(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        @functools.wraps(function)
        def call(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
            given: dict[str, Any] = kwargs
            if old in given:
                warnings.warn(f"use {new}=, not {old}=", DeprecationWarning, stacklevel=2)
                given[new] = given.pop(old)
            return function(*args, **kwargs)

        return call

    return decorate
