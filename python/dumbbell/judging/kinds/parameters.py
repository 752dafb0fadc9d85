"""Parameters: the presets of algorithms hold the values that the study states."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

from pydantic import Field

from dumbbell.algorithms import catalogue
from dumbbell.base.labels import listing
from dumbbell.inference.statistics import CONFIDENCE, Exact
from dumbbell.judging.evidence import Finding, Lack
from dumbbell.judging.runs import Source
from dumbbell.judging.spec import Check
from dumbbell.quantities.names import Use, What


class Parameters(Check):
    """The presets hold the parameter values that the study states. It needs no runs."""

    noun: ClassVar[str] = "parameters"

    type: Literal["parameters"]

    statement: Literal["arithmetic", "expectation"] = "arithmetic"
    """Author of the statement: the study's authors or us."""

    presets: dict[str, dict[str, int]] = Field(min_length=1)
    """A table for each algorithm with its preset: the parameters and their values, in the
    algorithm's own units."""

    def uses(self) -> Iterator[Use]:
        """Yield the presets with their parameters."""
        for choice, stated in self.presets.items():
            yield Use(f"presets.{choice}", What.PRESET, (choice, tuple(stated)))

    def subject(self, source: Source) -> str:  # noqa: ARG002 - needs no runs
        """Name the presets."""
        return f"parameters of {listing(list(self.presets))}"

    def expected(self, source: Source) -> str:  # noqa: ARG002
        """Say what the study states."""
        return "; ".join(
            f"{choice}: " + ", ".join(f"{name} = {value}" for name, value in stated.items())
            for choice, stated in self.presets.items()
        )

    def findings(self, source: Source) -> Iterator[Finding]:  # noqa: ARG002
        """Compare each parameter."""
        for choice, stated in self.presets.items():
            algorithm, preset = catalogue.split_preset(choice)
            values = {parameter.name: parameter.initial for parameter in algorithm.parameters}
            values |= algorithm.preset(preset).values if preset else {}
            if not algorithm.is_described:
                raise Lack(f"the parameters of {choice} are not known: it has never run here")
            for name, value in stated.items():
                yield Finding(
                    Exact(values[name], 1, CONFIDENCE),
                    f"{name} = {values[name]}",
                    low=value,
                    high=value,
                    where=choice,
                    margin=-abs(values[name] - value),
                )
