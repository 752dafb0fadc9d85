"""Abilities of this machine that the testbed needs."""

from __future__ import annotations

import platform

from pydantic import BaseModel, ConfigDict

from dumbbell import _core
from dumbbell.engines import lateness


class Fact(BaseModel):
    """Something about the machine; without a `required` one nothing runs on the testbed."""

    model_config = ConfigDict(frozen=True)

    name: str
    state: str
    ok: bool
    required: bool
    needed_for: str
    remedy: str | None


class Machine(BaseModel):
    """All that is known of the machine; its kernel's release only where the testbed is built in."""

    model_config = ConfigDict(frozen=True)

    kernel: str | None
    ready: bool
    facts: tuple[Fact, ...]

    @property
    def lacking(self) -> tuple[Fact, ...]:
        """Facts that keep the testbed from running."""
        return tuple(fact for fact in self.facts if fact.required and not fact.ok)


def look() -> Machine:
    """Find out what this machine can do; nothing of that is left behind."""
    machine = Machine.model_validate_json(_core.testbed_facts())
    if machine.kernel is not None:
        return machine
    linux = platform.system() == "Linux"
    remedy = None if linux else "a Linux machine"
    own_fact = Fact(
        name="system",
        state=system(),
        ok=linux,
        required=True,
        needed_for="everything",
        remedy=remedy,
    )
    return machine.model_copy(update={"facts": (own_fact, *machine.facts)})


def with_lateness(machine: Machine, seconds: float = lateness.SECONDS) -> Machine:
    """Return what is known of the machine with how late it is now, which takes so long to see."""
    if platform.system() != "Linux":
        return machine
    late = lateness.measured(seconds)
    fact = Fact(
        name="delay of this machine",
        state=f"{late} ({seconds:g} s of sleeping)",
        ok=late.ok,
        required=False,
        needed_for="an emulator in time",
        remedy=None if late.ok else "end what else runs here; runs that suffer are marked invalid",
    )
    return machine.model_copy(update={"facts": (*machine.facts, fact)})


def system() -> str:
    """Return the system and its release: ``Linux 6.18.44``."""
    return f"{platform.system()} {platform.release()}".strip()


def verdict(machine: Machine) -> str:
    """Return whether the testbed is ready; if not, also missing facts and the first remedy."""
    if machine.ready:
        return "the testbed is ready"
    lacks = ", ".join(f"{fact.name} ({fact.state})" for fact in machine.lacking)
    return f"the testbed is not ready, because of {lacks}: {machine.lacking[0].remedy}"
