"""Names of quantities: ``goodput_mbit_per_s[stream]@during``.

A reference is the quantity's name, its subject in brackets, and its window after an ``@``. A
quantity of something that the user names has this name after a colon: ``state:alpha``.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, replace
from typing import Final, Self

from dumbbell.base.errors import InputError

_FORM: Final = re.compile(
    r"(?P<name>[a-z][a-z0-9_]*)"
    r"(:(?P<argument>[A-Za-z0-9_]+))?"
    r"(\[(?P<subject>[^\[\]]+)\])?"
    r"(@(?P<window>[a-z][a-z0-9_-]*))?"
)
_LONGEST: Final = 200


@dataclass(frozen=True)
class Reference:
    """A quantity of a subject in a window.

    Attributes
    ----------
    name
        The quantity's name.
    subject
        A flow's number, a group, a label or a queue; None: all flows, or the bottleneck.
    window
        The window's name; None: the main window of the test.
    argument
        Argument of a quantity that takes one, such as a variable that an algorithm exports.
    """

    name: str
    subject: str | None = None
    window: str | None = None
    argument: str | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a reference; a text of another form is an InputError."""
        match = _FORM.fullmatch(text) if len(text) <= _LONGEST else None
        if match is None:
            raise InputError(
                "not the name of a quantity",
                value=text,
                valid='for example "goodput_mbit_per_s", "goodput_mbit_per_s[1]@during"',
            )
        return cls(match["name"], match["subject"], match["window"], match["argument"])

    def __str__(self) -> str:
        argument = f":{self.argument}" if self.argument else ""
        subject = f"[{self.subject}]" if self.subject else ""
        window = f"@{self.window}" if self.window else ""
        return f"{self.name}{argument}{subject}{window}"

    def of(self, subject: str | None) -> Reference:
        """Return the same quantity of another subject."""
        return replace(self, subject=subject)


@functools.lru_cache(maxsize=4096)
def parse(text: str) -> Reference:
    """Read a reference, as `Reference.parse`."""
    return Reference.parse(text)
