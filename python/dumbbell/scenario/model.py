"""The scenario file: what a user writes, checked.

`Scenario` mirrors the TOML file key by key. `Scenario.resolve` turns it into the plain
integers that an engine runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from pydantic import Field, field_validator, model_validator

from dumbbell import documents
from dumbbell.catalogue import NONE_OWN, Own
from dumbbell.errors import InputError
from dumbbell.scenario.model_flows import Arrivals, Flow
from dumbbell.scenario.model_network import NetworkSpec
from dumbbell.scenario.model_record import Record
from dumbbell.scenario.model_stack import Stack
from dumbbell.scenario.resolve import ResolvedScenario, resolve
from dumbbell.scenario.tables import Table
from dumbbell.units import Duration, Integer


class Scenario(Table):
    """One experiment: a network and the flows that share it."""

    title: str = Field("", examples=["Two H-TCP flows"])
    """What the scenario is about; does not influence the run."""

    duration: Duration = Field(examples=["600s"])
    """Length of the run in simulated time."""

    seed: Integer = Field(1, examples=[1])
    """Where all randomness comes from; equal seeds give equal runs."""

    stack: Stack = Field(
        Stack(), examples=["linux-6", {"profile": "linux-6", "switches": {"quick_acks": 0}}]
    )
    """The TCP stack of all hosts: the name of a profile, or a table with switches."""

    network: NetworkSpec = Field(examples=[{"rate": "250mbit", "rtt": "42ms", "queue": "0.2bdp"}])
    """The network: a dumbbell, or another `topology`."""

    flow: tuple[Flow, ...] = Field((), examples=[[{"algorithm": "htcp", "count": 2}]])
    """The flows, as an array of tables."""

    arrivals: tuple[Arrivals, ...] = Field(
        (), examples=[[{"algorithm": "cubic", "load": "30%", "size": "10kb"}]]
    )
    """Short flows that arrive at random, as an array of tables."""

    record: Record = Field(Record(), examples=[{"interval": "10ms"}])
    """What to record."""

    @field_validator("seed")
    @classmethod
    def _seed_limits(cls, seed: int) -> int:
        if not 0 <= seed < 2**64:
            raise InputError("not a seed", valid="0 to 2^64 - 1")
        return seed

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if not self.flow and not self.arrivals:
            raise InputError("no flows", key="flow", valid="at least one [[flow]] or [[arrivals]]")
        # What the parts leave open shows when they are put together.
        self.resolve()
        return self

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a scenario file; any problem is an InputError naming file and key."""
        return cls.parse(documents.read_toml(path), str(path))

    @classmethod
    def parse(cls, data: Mapping[str, Any], source: str | None = None, own: Own = NONE_OWN) -> Self:
        """Validate the content of a scenario file that was read from `source`.

        Besides those that are built in, it may name the algorithms in `own`.
        """
        return documents.validate(cls, data, source, {"own": own})

    def resolve(self, *, capture: bool = False) -> ResolvedScenario:
        """Return the integers that an engine runs; what is random of the flows is drawn here.

        With `capture`, the run also keeps all packets for Wireshark.
        """
        return resolve(self, capture=capture)
