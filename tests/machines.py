"""Machines as `dumbbell doctor` describes them, with a testbed that is ready or not."""

from __future__ import annotations

from dumbbell.engines.machine import Fact, Machine


def user_machine(ready: bool) -> Machine:
    """Return one whose only fact is its user."""
    fact = Fact(name="user", state="nobody", ok=ready, required=True, needed_for="", remedy="root")
    return Machine(kernel="6.18", ready=ready, facts=(fact,))
