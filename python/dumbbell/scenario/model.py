"""The scenario file: what a user writes, checked.

`Scenario` mirrors the TOML file key by key. `Scenario.resolve` turns it into the plain
integers that an engine runs.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Final, Self

from pydantic import (
    Field,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from dumbbell.algorithms.catalogue import NO_OWN_ALGORITHMS, OwnAlgorithms
from dumbbell.base import documents, kinds, validation
from dumbbell.base.errors import InputError, placed
from dumbbell.base.units import Duration, Integer
from dumbbell.scenario import library
from dumbbell.scenario.model_flows import Arrivals, Flow, choose
from dumbbell.scenario.model_network import NetworkSpec
from dumbbell.scenario.model_record import Record
from dumbbell.scenario.model_stack import Stack
from dumbbell.scenario.resolve import Resolution, ResolvedScenario
from dumbbell.scenario.tables import Table, Title


class Scenario(Table):
    """One experiment: a network and the flows that share it."""

    documented_in: ClassVar = "docs/scenario.md"

    title: Title = Field("", examples=["Two H-TCP flows"])
    """Title of the scenario; does not influence the run."""

    duration: Duration = Field(examples=["600s"])
    """Length of the run in simulated time."""

    seed: Integer = Field(1, examples=[1])
    """Origin of all randomness; equal seeds give equal runs."""

    stack: Stack = Field(
        Stack(), examples=["linux-6", {"profile": "linux-6", "switches": {"quick_acks": 0}}]
    )
    """The TCP stack of all hosts: the name of a profile, or a table with switches."""

    # Not dumped: there each flow names its own.
    algorithm: str | None = Field(None, exclude=True, examples=["htcp", "htcp@li2007", "./my_cc.c"])
    """Congestion control of the TCP flows and arrivals that name none."""

    network: NetworkSpec = Field(examples=[{"rate": "250mbit", "rtt": "42ms", "queue": "0.2bdp"}])
    """The network: a dumbbell, or another `topology`."""

    flow: tuple[Flow, ...] = Field((), examples=[[{"algorithm": "htcp", "count": 2}]])
    """The flows, as an array of tables."""

    arrivals: tuple[Arrivals, ...] = Field(
        (), examples=[[{"algorithm": "cubic", "load": "30%", "size": "10kb"}]]
    )
    """Short flows that arrive at random or by a file, as an array of tables."""

    record: Record = Field(Record(), examples=[{"interval": "10ms"}])
    """Tables to record."""

    @field_validator("seed")
    @classmethod
    def _seed_limits(cls, seed: int) -> int:
        if not 0 <= seed < 2**64:
            raise InputError("not a seed", valid="0 to 2^64 - 1")
        return seed

    @field_validator("algorithm")
    @classmethod
    def _known_algorithm(cls, choice: str | None, info: ValidationInfo) -> str | None:
        if choice is not None:
            choose(choice, info)
        return choice

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if not self.flow and not self.arrivals:
            raise InputError("no flows", key="flow", valid="at least one [[flow]] or [[arrivals]]")
        # What the parts leave open shows when they are put together.
        _ = self.resolution
        return self

    @functools.cached_property
    def resolution(self) -> Resolution:
        """Itself in base units, for any seed."""
        return Resolution(self)

    @staticmethod
    def table(path: Path) -> dict[str, Any]:
        """Read a file that is to be a scenario, unchecked; another kind is an InputError."""
        if path.suffix != ".toml":
            kinds.check(path, "a scenario")
        content = documents.read_toml(path)
        kinds.check(path, "a scenario", content)
        return content

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a scenario file, or one that ships by its name.

        Any problem is an InputError naming file, line and key.
        """
        file = library.file(Path(path))
        try:
            return cls.parse(cls.table(file), str(file))
        except InputError as error:
            raise documents.located(error) from None

    @classmethod
    def parse(
        cls,
        data: Mapping[str, Any],
        source: str | None = None,
        own_algorithms: OwnAlgorithms = NO_OWN_ALGORITHMS,
    ) -> Self:
        """Validate the content of a scenario file that was read from `source`.

        Besides those that are built in, it may name those of `own_algorithms`.
        """
        with placed(source=source):
            filled = with_algorithm(data)
        return validation.validate(cls, filled, source, {"own_algorithms": own_algorithms})

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy, with other values if they are given; the copy is resolved again."""
        copied = super().model_copy(update=update, deep=deep)
        # Pydantic copies cached properties, too, and this one belongs to the original's values.
        copied.__dict__.pop("resolution", None)
        return copied

    def resolve(self, *, seed: int | None = None, capture: bool = False) -> ResolvedScenario:
        """Return the integers that an engine runs; random values of flows are drawn here.

        Parameters
        ----------
        seed
            Where randomness comes from, instead of the scenario's own seed.
        capture
            True if the run also keeps all packets for Wireshark.
        """
        chosen_seed = self.seed if seed is None else seed
        return self.resolution.drawn(self, chosen_seed, capture=capture)


def with_algorithm(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Give the scenario's `algorithm` to the flows and arrivals that name none.

    Raises InputError if there are none: then the key would mean nothing.
    """
    choice = data.get("algorithm")
    if not isinstance(choice, str):
        return data
    filled = {
        key: _with_algorithm(data[key], choice) for key in ("flow", "arrivals") if key in data
    }
    # A key without effect is more likely a mistake than a wish, so it is refused.
    if all(data[key] == tables for key, tables in filled.items()):
        raise InputError(
            "no flow uses it, as each names its own",
            key="algorithm",
            value=choice,
            valid="no such key here, or a [[flow]] without `algorithm`",
        )
    return {**data, **filled}


def _with_algorithm(flows: Any, choice: Any) -> Any:
    """Return tables of flows with an algorithm where they need one and name none."""
    if not isinstance(flows, list | tuple):
        return flows
    return [
        {**flow, "algorithm": choice}
        if isinstance(flow, Mapping) and "algorithm" not in flow and flow.get("transport") != "udp"
        else flow
        for flow in flows
    ]


class Reader:
    """Reads scenarios that have much in common: equal parts are checked once.

    Parameters
    ----------
    folder
        To which the files are relative that they name.
    own_algorithms
        Algorithms that they may name besides those that are built in.
    """

    def __init__(self, folder: Path, own_algorithms: OwnAlgorithms = NO_OWN_ALGORITHMS) -> None:
        self._context = {"folder": folder, "own_algorithms": own_algorithms}
        self._checked: dict[str, Any] = {}

    def parse(self, data: Mapping[str, Any]) -> Scenario:
        """Validate the content of a scenario; errors do not say where it is from."""
        filled = with_algorithm(data)
        parts = {key: self._part(key, filled[key]) for key in _PARTS if key in filled}
        return validation.validate(Scenario, {**filled, **parts}, context=self._context)

    def _part(self, key: str, value: Any) -> Any:
        """Return the model of a part; what is wrong stays, to be refused with its place."""
        name = f"{key} {documents.fingerprint(value)}"
        if name not in self._checked:
            try:
                model = _part_model(key)
                self._checked[name] = model.validate_python(value, context=self._context)
            except ValidationError:
                return value
        return self._checked[name]


_PARTS: Final[Mapping[str, Any]] = {"network": NetworkSpec, "flow": tuple[Flow, ...]}


@functools.cache
def _part_model(key: str) -> TypeAdapter[Any]:
    return TypeAdapter(_PARTS[key])
