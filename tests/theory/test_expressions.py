"""Formulas that studies write themselves."""

from __future__ import annotations

import math

import pytest

from dumbbell.base.errors import InputError
from dumbbell.base.validation import validate
from dumbbell.judging.kinds.arithmetic import Arithmetic
from dumbbell.theory import expressions, formulas


@pytest.mark.parametrize(
    ("text", "args", "expected"),
    [
        ("2 + 3 * 4 - 6 / 4", {}, 12.5),
        ("-a ** 2", {"a": 3}, -9),
        ("(a - b) * c / a", {"a": 108, "b": 100, "c": 1000}, 8000 / 108),
        ("a ** -0.5", {"a": 4}, 0.5),
        ("ceil(log(1 - 0.8) / log(1 - w))", {"w": 0.1}, 16),
        ("log(8, 2) + exp(0) + sqrt(9) + cbrt(27) + abs(-1)", {}, 11),
        ("floor(2.5) + max(1, 5, 3) + min(a, 4)", {"a": 7}, 11),
        ("1e3 + 1_000", {}, 2000),
    ],
)
def test_values(text: str, args: dict[str, float], expected: float) -> None:
    assert formulas.evaluate(text, args) == pytest.approx(expected)


def test_arguments_are_the_names_in_their_order() -> None:
    assert expressions.parse("rtt_ms * rate / rtt_ms + max(buffer, 1)").names == (
        "rtt_ms",
        "rate",
        "buffer",
    )


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("a.b + 1", "a.b"),
        ("1 + a[0]", "a[0]"),
        ("(1).real", "(1).real"),
        ("'text' * 9", "'text'"),
        ("a if b else 1", "a if b else 1"),
        ("a < 1", "a < 1"),
        ("a % 2", "a % 2"),
        ("a // 2", "a // 2"),
        ("1j * a", "1j"),
        ("True + 1", "True"),
        ("[a][0]", "[a][0]"),
        ("max(1, *a)", "*a"),
        ("log(a, base=2)", "log(a, base=2)"),
        ("(lambda: 1)()", "(lambda: 1)()"),
        ("(a := 1) + a", "a := 1"),
        ("1 +", "1 +"),
        ("a = 1", "a = 1"),
        ("(" * 300 + "1", "(" * 300 + "1"),
        ("", ""),
    ],
)
def test_anything_but_arithmetic_is_refused(text: str, part: str) -> None:
    with pytest.raises(InputError) as refused:
        expressions.parse(text)
    assert refused.value.value == part


@pytest.mark.parametrize("text", ["open(a)", "__import__(a)", "lgo(a)"])
def test_other_functions_are_unknown(text: str) -> None:
    with pytest.raises(InputError) as refused:
        expressions.parse(text)
    assert refused.value.value == text.partition("(")[0]
    assert refused.value.near == ("log" if text == "lgo(a)" else None)


@pytest.mark.parametrize("text", ["log()", "log(1, 2, 3)", "floor(1, 2)", "max(1)"])
def test_functions_take_their_number_of_arguments(text: str) -> None:
    with pytest.raises(InputError) as refused:
        expressions.parse(text)
    assert refused.value.value == text


def test_long_ones_are_refused() -> None:
    assert expressions.parse("+".join("1" * 250)).value({}) == 250
    with pytest.raises(InputError):
        expressions.parse("+".join("1" * 251))


def test_arguments_that_lack_or_are_unknown_are_named() -> None:
    with pytest.raises(InputError) as refused:
        formulas.evaluate("a * window", {"a": 1, "windw": 2})
    assert (refused.value.key, refused.value.value, refused.value.near) == (
        "args",
        "windw",
        "window",
    )
    with pytest.raises(InputError) as refused:
        formulas.evaluate("a * b", {"a": 1})
    assert (refused.value.key, refused.value.valid) == ("args", "b")


@pytest.mark.parametrize(
    "text", ["1 / a", "log(a)", "(a - 1) ** 0.5", "9 ** 9 ** 9", "1e308 * 10", "exp(1e9)"]
)
def test_without_a_value_it_raises(text: str) -> None:
    with pytest.raises((ArithmeticError, ValueError)):
        formulas.evaluate(text, {"a": 0} if "a" in text else {})


def check(formula: str, **args: float) -> Arithmetic:
    case = {"args": args, "expected": 12}
    return validate(Arithmetic, {"type": "arithmetic", "formula": formula, "case": [case]})


def test_a_claim_may_have_one() -> None:
    (finding,) = check("a * b", a=3, b=4).findings(None)  # type: ignore[arg-type]
    assert finding.estimate.value == 12
    assert math.isclose(finding.margin, 0)


@pytest.mark.parametrize(
    ("formula", "args", "key"),
    [
        ("a +", {"a": 1}, "formula"),
        ("nothing_known", {"a": 1}, "formula"),
        ("a * b", {"a": 1}, "case.1.args"),
        ("1 / a", {"a": 0}, "case.1.args"),
    ],
)
def test_a_claim_names_the_place_of_a_wrong_one(
    formula: str, args: dict[str, float], key: str
) -> None:
    with pytest.raises(InputError) as refused:
        check(formula, **args)
    assert refused.value.key == key
