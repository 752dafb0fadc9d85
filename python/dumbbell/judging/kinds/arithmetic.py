"""Arithmetic: a closed form gives the numbers that the authors state."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from dumbbell.base.errors import InputError
from dumbbell.base.keys import numbered
from dumbbell.base.labels import listing, number
from dumbbell.inference.statistics import CONFIDENCE, Exact
from dumbbell.judging.evidence import Finding
from dumbbell.judging.runs import Source
from dumbbell.judging.spec import Check
from dumbbell.quantities.names import FormulaName
from dumbbell.scenario.tables import Table
from dumbbell.theory import formulas


class Case(Table):
    """One evaluation of a closed form."""

    args: dict[str, int | float] = Field({})
    """Arguments of the formula, in the units of its parameter names."""

    expected: int | float
    """The authors' number."""


class Arithmetic(Check):
    """A closed form gives the stated numbers. It needs no runs."""

    noun: ClassVar[str] = "cases"

    type: Literal["arithmetic"]

    statement: Literal["arithmetic", "expectation"] = "arithmetic"
    """Author of the statement: the study's authors or us."""

    formula: FormulaName = Field(
        examples=["bdp_packets", "packets * 8 * packet_bytes / (rate_gbit * 1e6)"]
    )
    """Name of a formula, or your own formula: an expression of numbers, the names of its
    arguments, `+ - * / **`, parentheses, `abs`, `cbrt`, `ceil`, `exp`, `floor`, `log`, `max`, `min`
    and `sqrt`. Names are listed below."""

    cases: tuple[Case, ...] = Field(alias="case", min_length=1)
    """Values for which it is evaluated."""

    tolerance: float = Field(0.0, ge=0)
    """Largest relative difference from the stated number."""

    @model_validator(mode="after")
    def _has_values(self) -> Self:
        try:
            formulas.check(self.formula)
        except InputError as error:
            raise error.at(key="formula") from None
        else:
            for key, case in numbered("case", self.cases):
                try:
                    self._value(case)
                except InputError as error:
                    raise error.at(key=key) from None
        return self

    def _value(self, case: Case) -> float:
        try:
            return formulas.evaluate(self.formula, case.args)
        except (ArithmeticError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(
                f"{self.formula} has no value for them", key="args", value=case.args
            ) from None

    def subject(self, source: Source) -> str:  # noqa: ARG002 - needs no runs
        """Name the formula."""
        return f"formula {self.formula}"

    def expected(self, source: Source) -> str:  # noqa: ARG002
        """Say what the authors state."""
        stated = listing([number(case.expected) for case in self.cases])
        return f"{stated} within {100 * self.tolerance:g} %" if self.tolerance else stated

    def findings(self, source: Source) -> Iterator[Finding]:  # noqa: ARG002
        """Evaluate each case."""
        for case in self.cases:
            value = self._value(case)
            reach = self.tolerance * abs(case.expected)
            yield Finding(
                Exact(value, 1, CONFIDENCE),
                number(value, 4),
                low=case.expected - reach,
                high=case.expected + reach,
                where=", ".join(f"{name} = {number(arg)}" for name, arg in case.args.items()),
                margin=-abs(value / case.expected - 1) if case.expected else -abs(value),
            )
