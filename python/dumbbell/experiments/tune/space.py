"""The parameters that are searched, with the ranges that the algorithm's file declares."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from dumbbell.algorithms import catalogue
from dumbbell.algorithms.catalogue import Algorithm, Parameter
from dumbbell.base.errors import InputError, listed
from dumbbell.base.units import parse_integer

_LINEAR_UP_TO: Final = 10
"""Ranges whose ends lie this factor apart, or more, are searched evenly in logarithms."""

_CHOICE: Final = re.compile(r"(?P<name>\w+)(?:=(?P<low>[^.]*)\.\.(?P<high>.*))?")

Candidate = tuple[int, ...]
"""Values of the parameters that are searched, in the order of the dimensions."""


@dataclass(frozen=True)
class Dimension:
    """A parameter that is searched, and between which values."""

    parameter: Parameter
    low: int
    high: int

    @property
    def name(self) -> str:
        """The parameter's name."""
        return self.parameter.name

    @property
    def is_log(self) -> bool:
        """True if it is searched evenly in logarithms; 0 counts as 1 there."""
        return self.high >= _LINEAR_UP_TO * max(1, self.low) and self.high > _LINEAR_UP_TO

    def value(self, share: float) -> int:
        """Return the valid value at a share, 0 to 1, of the way from `low` to `high`."""
        if self.is_log:
            # There is no logarithm of 0, so the whole range is moved by 1 and back.
            zero = self.low == 0
            start, end = math.log(self.low + zero), math.log(self.high + zero)
            wanted = math.exp(start + share * (end - start)) - zero
        else:
            wanted = self.low + share * (self.high - self.low)
        steps = round((wanted - self.low) / self.parameter.step)
        # The range need not hold a whole number of steps.
        most = (self.high - self.low) // self.parameter.step
        return self.low + min(steps, most) * self.parameter.step

    @property
    def range(self) -> str:
        """The range in words."""
        unit = f" ({self.parameter.unit})" if self.parameter.unit != "1" else ""
        return f"{self.low} to {self.high}{unit}"


@dataclass(frozen=True)
class Space:
    """Parameters of an algorithm to search."""

    algorithm: Algorithm
    dimensions: tuple[Dimension, ...]
    left_out: tuple[str, ...] = ()
    """Parameters that would be searched if packets were marked."""

    @property
    def initial(self) -> Candidate:
        """The values without any preset."""
        return tuple(dimension.parameter.initial for dimension in self.dimensions)

    def candidate(self, shares: Sequence[float]) -> Candidate:
        """Return the values at shares, 0 to 1, of the dimensions."""
        return tuple(
            dimension.value(share) for dimension, share in zip(self.dimensions, shares, strict=True)
        )

    def values(self, candidate: Candidate) -> dict[str, int]:
        """Return the values by the names of the parameters."""
        return {
            dimension.name: value
            for dimension, value in zip(self.dimensions, candidate, strict=True)
        }

    def words(self, candidate: Candidate) -> str:
        """Say the values."""
        return ", ".join(f"{name} = {value}" for name, value in self.values(candidate).items())


def space(algorithm: Algorithm, choices: Sequence[str] = (), *, marks: bool = True) -> Space:
    """Return what is searched: ``kp``, ``kd=100..8000``.

    By default these are the parameters in which presets of the algorithm differ from its initial
    values, and all of them if none does. Unless `marks` reach the algorithm on some path, those
    that act only on marks are left out. InputError if one of these is chosen, or none remains.
    """
    if not algorithm.parameters:
        tunable = [name for name, known in catalogue.algorithms().items() if known.parameters]
        raise InputError(
            "has no parameters to tune",
            key="algorithm",
            value=algorithm.name,
            valid=listed(tunable, catalogue.LISTED),
        )
    if not choices:
        chosen = [
            parameter
            for parameter in algorithm.parameters
            if parameter.name in _preset_by(algorithm)
        ]
        dimensions = [_whole(parameter) for parameter in chosen or algorithm.parameters]
    else:
        dimensions = [_dimension(algorithm, choice) for choice in choices]
    idle = (
        ()
        if marks
        else tuple(dimension.name for dimension in dimensions if dimension.parameter.of_marks)
    )
    if idle and choices:
        raise _without_marks("has no effect", "parameter", idle[0])
    dimensions = [dimension for dimension in dimensions if dimension.name not in idle]
    if not dimensions:
        raise _without_marks("has no parameters to tune", "algorithm", algorithm.name)
    names = [dimension.name for dimension in dimensions]
    for name in names:
        if names.count(name) > 1:
            raise InputError("twice", key="parameter", value=name)
    return Space(
        algorithm,
        tuple(dimension for dimension in dimensions if dimension.low < dimension.high),
        idle,
    )


def _without_marks(problem: str, key: str, name: str) -> InputError:
    """Return the error that only parameters are there that act on congestion marks."""
    return InputError(
        f"{problem} on paths without congestion marks",
        key=key,
        value=name,
        valid='scenario files with the switch ecn = "classic" and a queue that marks',
    )


def _preset_by(algorithm: Algorithm) -> set[str]:
    return {
        name
        for preset in algorithm.presets
        for name, value in preset.values.items()
        if value != algorithm.parameter(name).initial
    }


def _whole(parameter: Parameter) -> Dimension:
    return Dimension(parameter, parameter.low, parameter.high)


def _dimension(algorithm: Algorithm, choice: str) -> Dimension:
    match = _CHOICE.fullmatch(choice)
    if match is None:
        raise InputError("not a parameter", key="parameter", value=choice, valid="kp, or kp=1..8")
    try:
        parameter = algorithm.parameter(match["name"])
        if match["low"] is None:
            return _whole(parameter)
        low, high = parse_integer(match["low"]), parse_integer(match["high"])
    except InputError as error:
        raise error.at(key="parameter") from None
    for value in (low, high):
        try:
            algorithm.check_parameter(parameter.name, value)
        except InputError as error:
            raise error.at(key="parameter") from None
    if low >= high:
        raise InputError("an empty range", key="parameter", value=choice, valid="kp=1..8")
    return Dimension(parameter, low, high)
