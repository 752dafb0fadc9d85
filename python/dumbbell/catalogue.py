"""What the engine offers: algorithms, stack profiles and the schema of its tables."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from dumbbell import _core, head_comments
from dumbbell.errors import InputError, listed, unknown
from dumbbell.head_comments import HeadComment

ENGINE_VERSION: str = _core.ENGINE_VERSION
"""Hash of the simulator's sources; results of another engine are other results."""

TESTBED_VERSION: str = _core.TESTBED_VERSION
"""Hash of the testbed's sources, whether or not it is built in."""

KERNEL_HOOKS: Final = frozenset(
    (
        *("init", "ssthresh", "cong_avoid", "pkts_acked", "cwnd_event", "set_state"),
        *("in_ack_event", "undo_cwnd", "cong_control", "info"),
    )
)
"""The hooks for which the kernel has adapters (crates/testbed/bpf/adapter.h)."""


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Parameter(_Entry):
    """One parameter of an algorithm; all values are integers in `unit`."""

    name: str
    unit: str
    initial: int
    low: int
    high: int
    step: int
    what: str
    source: str

    @property
    def limits(self) -> str:
        """The valid values in words."""
        steps = f" in steps of {self.step}" if self.step > 1 else ""
        unit = f" ({self.unit})" if self.unit != "1" else ""
        return f"{self.low} to {self.high}{steps}{unit}"


class Preset(_Entry):
    """A named set of parameter values; the others keep their initial values."""

    name: str
    source: str
    values: Mapping[str, int]


class Algorithm(_Entry):
    """A congestion-control algorithm of the engine."""

    name: str
    title: str
    family: str
    year: int
    source: str
    summary: str
    flags: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    presets: tuple[Preset, ...]
    info: tuple[str, ...]
    source_hash: str
    code: str = Field(repr=False)

    @property
    def comment(self) -> HeadComment:
        """What its file says of it."""
        return head_comments.parse(self.code, frozenset(each.name for each in self.parameters))

    @property
    def hooks(self) -> frozenset[str]:
        """The hooks that its file registers."""
        return frozenset(re.findall(rf"\bH\(\s*{self.name},\s*(\w+)\)", self.code))

    @property
    def worlds(self) -> tuple[str, ...]:
        """Where it runs: in the simulator, and in the kernel if that has adapters for its hooks.

        Whether the kernel of this machine can load it is what `running.machine` finds out.
        """
        return ("simulator", "kernel") if self.hooks <= KERNEL_HOOKS else ("simulator",)

    @property
    def needs_ecn(self) -> bool:
        """Whether it has nothing to listen to without congestion marks."""
        return self.family == "ecn" or "ecn" in self.flags

    @property
    def preset_names(self) -> tuple[str, ...]:
        """The names that may follow ``@``."""
        return tuple(preset.name for preset in self.presets)

    def preset(self, name: str) -> Preset:
        """Return a preset; an unknown name is an InputError."""
        for preset in self.presets:
            if preset.name == name:
                return preset
        raise unknown(f"preset of {self.name}", name, self.preset_names)

    def parameter(self, name: str) -> Parameter:
        """Return a parameter; an unknown name is an InputError."""
        for parameter in self.parameters:
            if parameter.name == name:
                return parameter
        names = [parameter.name for parameter in self.parameters]
        raise unknown(f"parameter of {self.name}", name, names)

    def check_parameter(self, name: str, value: int) -> None:
        """Raise InputError unless `name` is a parameter and `value` within its limits."""
        parameter = self.parameter(name)
        if value not in range(parameter.low, parameter.high + 1, parameter.step):
            raise InputError(
                f"outside the limits of {self.name}'s parameter {name}",
                value=value,
                valid=parameter.limits,
            )


class StackProfile(_Entry):
    """A TCP stack as a set of switches."""

    name: str
    summary: str
    switches: Mapping[str, bool | int | str | None]


class Stacks(_Entry):
    """All stack profiles, and what their switches mean."""

    profiles: Mapping[str, StackProfile]
    switches: Mapping[str, str]

    def check_switches(self, profile: str, switches: Mapping[str, bool | int | str]) -> None:
        """Raise InputError, keyed from ``switches`` on, unless the switches fit together.

        Some can have a value only beside another: without SACK, losses are found by New Reno.
        """
        for name in switches:
            if name not in self.switches:
                problem = unknown("switch of the TCP stack", name, self.switches)
                raise problem.at(key=f"switches.{name}")
        choice = {"profile": profile, "switches": dict(switches)}
        try:
            _core.check_stack(json.dumps(choice))
        except _core.ScenarioError as error:
            key, problem_found = error.args
            name = key.removeprefix("switches.")
            raise InputError(
                problem_found, key=key, value=switches.get(name), valid=self.switches.get(name)
            ) from None


@functools.cache
def algorithms() -> Mapping[str, Algorithm]:
    """Return the algorithms by name, in the engine's order."""
    entries = [Algorithm.model_validate(entry) for entry in json.loads(_core.algorithms())]
    return {entry.name: entry for entry in entries}


def algorithm(name: str) -> Algorithm:
    """Return one algorithm; an unknown name is an InputError."""
    if name not in algorithms():
        raise unknown("algorithm", name, algorithms())
    return algorithms()[name]


def split_preset(choice: str) -> tuple[Algorithm, str | None]:
    """Split ``htcp@li2007`` into the algorithm and the name of an existing preset."""
    name, at, preset = choice.partition("@")
    found = algorithm(name)
    if not at:
        return found, None
    try:
        return found, found.preset(preset).name
    except InputError as error:
        raise InputError(
            error.problem,
            value=choice,
            valid=listed([found.name, *(f"{found.name}@{name}" for name in found.preset_names)]),
            near=f"{found.name}@{error.near}" if error.near else None,
        ) from None


@functools.cache
def stacks() -> Stacks:
    """Return the stack profiles of the engine."""
    content = json.loads(_core.stack_profiles())
    for name, profile in content["profiles"].items():
        profile["name"] = name
    return Stacks.model_validate(content)


def stack_profile(name: str) -> StackProfile:
    """Return one profile; an unknown name is an InputError."""
    if name not in stacks().profiles:
        raise unknown("stack profile", name, stacks().profiles)
    return stacks().profiles[name]


class Column(_Entry):
    """One column of a result table; `dtype` is NumPy's name of its type."""

    name: str
    dtype: str
    unit: str
    what: str


class Schema(_Entry):
    """The result tables of the engine; `codes` names the values of enumerations, from 0."""

    version: int
    tables: Mapping[str, tuple[Column, ...]]
    codes: Mapping[str, tuple[str, ...]]


@functools.cache
def schema() -> Schema:
    """Return the schema that this engine writes."""
    return Schema.model_validate_json(_core.schema())
