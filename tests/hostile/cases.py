"""A case: a command in a folder with hostile input, and the expected outcome."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

OUTSIDE = "outside"
"""The folder next to the input that nothing may be written to, nor copied from."""


@dataclass(frozen=True)
class Case:
    """A command over hostile input.

    Attributes
    ----------
    arguments
        The arguments behind `dumbbell`.
    is_wrong
        The input is wrong by construction: exit code 0 accepts what must be refused.
    """

    arguments: tuple[str, ...]
    is_wrong: bool = False


Prepared = Callable[[Random, Path], Case]
"""Fill the folder `mine` of a box, where the command runs, and return the case.

Next to `mine` the command may also write to `theirs`.
"""
