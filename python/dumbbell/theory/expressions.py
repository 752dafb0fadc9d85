"""Formulas that a study writes itself: ``packets * 8 * (1500 + 38) / (rate_gbit * 1e6)``.

They are arithmetic on numbers, so reading the study of somebody else runs no code: there are no
texts, no attributes, no comparisons and no functions but those of `FUNCTIONS`.
"""

from __future__ import annotations

import ast
import functools
import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from dumbbell.base.errors import InputError, listed, unknown

FUNCTIONS: Final[Mapping[str, Callable[..., float]]] = {
    "abs": abs,
    "cbrt": math.cbrt,
    "ceil": math.ceil,
    "exp": math.exp,
    "floor": math.floor,
    "log": math.log,
    "max": max,
    "min": min,
    "sqrt": math.sqrt,
}
"""The functions that an expression may call; `log` takes a base as its second argument."""

_TAKES: Final[Mapping[str, tuple[int, int]]] = {"log": (1, 2), "max": (2, 20), "min": (2, 20)}
"""Least and largest number of arguments of functions that do not take one."""

VALID: Final = f"numbers, names, + - * / **, parentheses and {listed(FUNCTIONS)}"

_BINARY: Final[Mapping[type[ast.operator], Callable[[float, float], float]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    # The operator would return complex numbers, and integers of any size.
    ast.Pow: math.pow,
}
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LONGEST: Final = 500


@dataclass(frozen=True)
class Expression:
    """A formula of a study.

    Attributes
    ----------
    text
        The expression, as it is written.
    names
        Its arguments, in the order in which it names them.
    """

    text: str
    names: tuple[str, ...]
    _body: ast.expr

    def value(self, args: Mapping[str, float]) -> float:
        """Return its value.

        Wrong arguments are an InputError; that it has no value is an ArithmeticError or a
        ValueError, as in Python.
        """
        for arg in args:
            if arg not in self.names:
                raise unknown("argument of the formula", arg, self.names).at(key="args")
        missing = [name for name in self.names if name not in args]
        if missing:
            raise InputError("needs more arguments", key="args", valid=listed(missing))
        value = float(_value(self._body, args))
        if not math.isfinite(value):
            raise OverflowError(self.text)
        return value


def is_name(text: str) -> bool:
    """Return True if a text names a formula, and is none itself."""
    return _NAME.fullmatch(text) is not None


@functools.lru_cache(maxsize=256)
def parse(text: str) -> Expression:
    """Read an expression; anything else is an InputError."""
    if len(text) > _LONGEST:
        raise InputError(f"longer than {_LONGEST} characters", valid="several checks")
    try:
        body = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise InputError("not an expression", value=text, valid=VALID) from None
    names: dict[str, None] = {}
    _check(body, names, text)
    return Expression(text, tuple(names), body)


def _check(node: ast.expr, names: dict[str, None], text: str) -> None:
    """Collect the names of an expression; what is no arithmetic is an InputError."""
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            pass
        case ast.Name(id=name):
            names[name] = None
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            _check(operand, names, text)
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _BINARY:
            _check(left, names, text)
            _check(right, names, text)
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            if name not in FUNCTIONS:
                raise unknown("function", name, FUNCTIONS)
            least, most = _TAKES.get(name, (1, 1))
            if not least <= len(arguments) <= most:
                takes = str(least) if least == most else f"{least} to {most}"
                raise InputError(f"{name} takes {takes} arguments", value=_part(node, text))
            for argument in arguments:
                _check(argument, names, text)
        case _:
            raise InputError("no part of an expression", value=_part(node, text), valid=VALID)


def _part(node: ast.expr, text: str) -> str:
    return ast.get_source_segment(text.strip(), node) or text


def _value(node: ast.expr, args: Mapping[str, float]) -> float:
    match node:
        case ast.Constant(value=int() | float() as constant):
            return float(constant)
        case ast.Name(id=name):
            return float(args[name])
        case ast.UnaryOp(op=sign, operand=operand):
            value = _value(operand, args)
            return -value if isinstance(sign, ast.USub) else value
        case ast.BinOp(left=left, op=operation, right=right):
            return _BINARY[type(operation)](_value(left, args), _value(right, args))
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return FUNCTIONS[name](*(_value(argument, args) for argument in arguments))
    raise AssertionError(node)  # `_check` has refused all others
