"""The algorithms that a suite judges."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from dumbbell.algorithms.catalogue import Algorithm
from dumbbell.base.errors import InputError, placed
from dumbbell.experiments.mixes import named


@dataclass(frozen=True)
class Role:
    """An algorithm in a suite.

    Attributes
    ----------
    name
        Its name in tables, with its preset if any.
    typed
        Its name, or the path of its C file, as typed.
    """

    name: str
    typed: str

    @property
    def value(self) -> str:
        """The algorithm as the value of an axis, in which a preset has no meaning."""
        return self.name.replace("@", "/")

    @property
    def axis(self) -> str:
        """The value for the study: a file has its path, so that it is read."""
        return self.value if "@" in self.name else self.typed

    @property
    def has_preset(self) -> bool:
        """True if its value on the axis is no algorithm."""
        return "@" in self.name

    @property
    def id(self) -> str:
        """Its name as part of the names of tests and quantities."""
        return re.sub(r"[^a-z0-9]", "", self.name.lower())


def read(
    choices: Sequence[str], key: str, example: str, own_algorithms: dict[str, Algorithm]
) -> tuple[Role, ...]:
    """Read algorithms, each once; `example` is one of them, and `own` gets those of C files."""
    with placed(key=key):
        roles_read = tuple(Role(named(choice, own_algorithms), choice) for choice in choices)
    if not roles_read:
        raise InputError("no algorithm", key=key, valid=example)
    if len({role.id for role in roles_read}) < len(roles_read):
        typed = ",".join(choices)
        raise InputError("the same algorithm twice", key=key, value=typed, valid="each once")
    return roles_read
