"""A policy: a small network from what a step observed to a factor on the window."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dumbbell.base.arguments import wrong
from dumbbell.base.errors import InputError, listed, placed, refusing, unknown
from dumbbell.gym.actions import ACTIONS

Numbers = NDArray[np.float64]
Layer = tuple[Numbers, Numbers]
"""Weights of shape (inputs, outputs), and biases."""

OBSERVABLE: Final = (
    "delivery_mbit_per_s",
    "loss_share",
    "mark_share",
    "rtt_min_ms",
    "rtt_mean_ms",
    "rtt_ms",
    "in_flight_segs",
    "cwnd_segs",
)
"""The fields of `dumbbell.gym.FIELDS` that a C file can compute too."""

INPUTS_MAX: Final = 10
"""Observed numbers that the state of a C file has room for."""

WIDTH_MAX: Final = 32
"""Numbers of a hidden layer that fit on BPF's stack in the kernel."""

LAYERS_MAX: Final = 3
"""With one more, two hidden layers would be on that stack."""

STEPS_RTT_MAX: Final = 100.0

_FORMAT: Final = "dumbbell policy 1"
_DIGITS: Final = 6


@dataclass(frozen=True)
class Policy:
    """A network of linear layers; all layers except the last end in max(0, x).

    It acts on normalised observations of `dumbbell.gym.PathEnv`, cut off at `ceiling`. Its output
    is a normalised `window-factor`, cut to -1 to 1.

    Parameters
    ----------
    layers
        Weights of shape (inputs, outputs) and biases of each layer. The first has the inputs
        history x fields, in the order of an observation. The last has one output.
    observe
        Names of the observed fields, of `OBSERVABLE`.
    history
        Number of observed steps.
    factor
        Smallest and largest factor on the window in a step.
    round_trips
        Length of a step in smoothed round trips.
    ceiling
        Largest input; larger numbers are cut to it.

    Raises
    ------
    InputError
        For layers that do not fit each other or a C file.
    """

    layers: tuple[Layer, ...]
    observe: tuple[str, ...]
    history: int = 1
    factor: tuple[float, float] = (ACTIONS["window-factor"].low, ACTIONS["window-factor"].high)
    round_trips: float = 1.0
    ceiling: float = 8.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "observe", _observe(self.observe))
        object.__setattr__(self, "factor", _factor(self.factor))
        _whole(self.history, "history")
        _positive(self.round_trips, "round_trips", STEPS_RTT_MAX)
        _positive(self.ceiling, "ceiling", 100.0)
        inputs = self.history * len(self.observe)
        if inputs > INPUTS_MAX:
            raise InputError(
                f"observes {inputs} numbers, more than the state of a C file holds",
                key="history", value=self.history,
                valid=f"history x fields of at most {INPUTS_MAX}",
            )  # fmt: skip
        object.__setattr__(self, "layers", _layers(self.layers, inputs))

    @property
    def settings(self) -> dict[str, Any]:
        """The arguments of an environment on whose observations it acts."""
        return {
            "step": f"{self.round_trips:g}rtt",
            "actions": {"window-factor": self.factor},
            "observe": self.observe,
            "history": self.history,
            "normalise": True,
        }

    def act(self, observations: ArrayLike) -> Numbers:
        """Return actions of shape (..., 1) for observations of shape (..., history, fields)."""
        values = self.inputs(observations)
        for weights, biases in self.layers[:-1]:
            values = np.maximum(values @ weights + biases, 0)
        weights, biases = self.layers[-1]
        return np.clip(values @ weights + biases, -1, 1)

    def inputs(self, observations: ArrayLike) -> Numbers:
        """Return observations as rows of inputs; raise InputError for another shape."""
        given = np.asarray(observations, np.float64)
        shape = (self.history, len(self.observe))
        if given.shape[-2:] != shape:
            raise InputError(
                "not observations of this policy",
                key="observations.shape", value=list(given.shape),
                valid=f"(..., {shape[0]}, {shape[1]}): the last {shape[0]} steps of "
                f"{listed(self.observe)}",
            )  # fmt: skip
        return np.minimum(given.reshape(*given.shape[:-2], -1), self.ceiling)

    def save(self, file: str | Path) -> None:
        """Write it as JSON, with six decimals."""
        table = {
            "format": _FORMAT,
            "observe": list(self.observe),
            "history": self.history,
            "factor": list(self.factor),
            "round_trips": self.round_trips,
            "ceiling": self.ceiling,
            "layers": [
                {"weights": _rounded(weights), "biases": _rounded(biases)}
                for weights, biases in self.layers
            ],
        }
        lines = json.dumps(table).replace("[[", "[\n[").replace("], [", "],\n[")
        with refusing("write it", file):
            Path(file).write_text(lines + "\n")

    @classmethod
    def load(cls, file: str | Path) -> Policy:
        """Read a policy that `save` wrote; raise InputError for anything else."""
        with placed(source=str(file)):
            try:
                table = json.loads(Path(file).read_text())
            except OSError as error:
                raise InputError(error.strerror or "cannot be read") from None
            except ValueError as error:
                raise InputError(f"is not JSON: {error}") from None
            if not isinstance(table, dict) or table.get("format") != _FORMAT:
                raise InputError("is no policy", key="format", valid=f'"{_FORMAT}"')
            try:
                layers = [(layer["weights"], layer["biases"]) for layer in table["layers"]]
                rest = {name: table[name] for name in ("history", "round_trips", "ceiling")}
                return cls(layers, table["observe"], factor=table["factor"], **rest)  # type: ignore[arg-type]
            except (KeyError, TypeError) as error:
                raise InputError(f"misses {error}", valid="a file that Policy.save wrote") from None


def _rounded(numbers: Numbers) -> Any:
    return np.round(numbers, _DIGITS).tolist()


def rounded(layers: Sequence[Layer]) -> tuple[Layer, ...]:
    """Return layers with the decimals of a file."""
    return tuple(
        (np.round(weights, _DIGITS), np.round(biases, _DIGITS)) for weights, biases in layers
    )


def _observe(names: object) -> tuple[str, ...]:
    if isinstance(names, str) or not isinstance(names, Sequence) or not names:
        raise wrong("observe", names, "not names of fields", listed(OBSERVABLE))
    for name in names:
        if name not in OBSERVABLE:
            raise unknown("field of a C file", str(name), OBSERVABLE).at(key="observe")
    return tuple(names)


def _factor(bounds: object) -> tuple[float, float]:
    valid = "(low, high) with 0.1 <= low < high <= 10"
    try:
        low, high = (float(bound) for bound in bounds)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        raise wrong("factor", bounds, "not bounds", valid) from None
    if not 0.1 <= low < high <= 10:
        raise InputError("not bounds", key="factor", value=[low, high], valid=valid)
    return low, high


def _whole(value: object, key: str) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise wrong(key, value, "not such a number", "a whole number, 1 or more")


def _positive(value: object, key: str, most: float) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= most:
        raise wrong(key, value, "not such a number", f"a number above 0, at most {most:g}")


def _layers(given: object, inputs: int) -> tuple[Layer, ...]:
    if not isinstance(given, Sequence) or not 1 <= len(given) <= LAYERS_MAX:
        raise InputError(
            "not the layers of a network", key="layers",
            valid=f"1 to {LAYERS_MAX} pairs of weights and biases",
        )  # fmt: skip
    layers, width = [], inputs
    for number, pair in enumerate(given):
        is_last = number == len(given) - 1
        layers.append(_layer(pair, f"layers.{number}", width, is_last))
        width = layers[-1][1].shape[0]
    return tuple(layers)


def _layer(pair: Any, key: str, width: int, is_last: bool) -> Layer:
    valid = f"weights of shape ({width}, {'1' if is_last else 'outputs'}) and as many biases"
    try:
        weights, biases = (np.array(numbers, np.float64) for numbers in pair)
    except (TypeError, ValueError):
        raise InputError("not weights and biases", key=key, valid=valid) from None
    shapes = [list(weights.shape), list(biases.shape)]
    fits = weights.ndim == 2 and weights.shape[0] == width and biases.shape == weights.shape[1:]
    if not fits or (is_last and weights.shape[1] != 1):
        raise InputError("has another shape", key=key, value=shapes, valid=valid)
    if not 1 <= weights.shape[1] <= WIDTH_MAX:
        raise InputError("too wide", key=key, value=shapes, valid=f"1 to {WIDTH_MAX} outputs")
    if not (np.isfinite(weights).all() and np.isfinite(biases).all()):
        raise InputError("has a number that is not finite", key=key)
    weights.flags.writeable = biases.flags.writeable = False
    return weights, biases
