"""Checking an algorithm."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from dumbbell.api.table import Rows
from dumbbell.base import kinds
from dumbbell.base.arguments import wrong
from dumbbell.conformance import checking
from dumbbell.conformance.verdicts import Row, is_sound


class Checks(Rows[Row]):
    """The checks of an algorithm: a sequence of `Row`."""

    @property
    def passed(self) -> bool:
        """True if no check failed; this machine may be unable to make some."""
        return is_sound(self)

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each check.

        Its columns are ``part``, ``check``, ``verdict``, ``message`` and ``remedy``.
        """
        names = ("part", "check", "verdict", "message", "remedy")
        rows = [(row.part, row.check, row.verdict.value, row.message, row.remedy) for row in self]
        return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")

    @property
    def _heading(self) -> tuple[str, str]:
        failed = sum(row.verdict.value == "failed" for row in self)
        return f"{len(self)} checks", f"{failed} failed" if failed else "none failed"


def check(algorithm: str | Path) -> Checks:
    """Check an algorithm: its interface, random calls, the simulator and, where it can, the kernel.

    Parameters
    ----------
    algorithm
        Its C file, or its name.

    Returns
    -------
    Checks
        A table with a row for each check. A file that does not compile has a failed row.

    Raises
    ------
    InputError
        If there is no such file or algorithm.

    Examples
    --------
    It takes about a minute.

    >>> checks = dumbbell.check("my_cc.c")  # doctest: +SKIP
    >>> [row.check for row in checks if row.remedy]  # doctest: +SKIP
    []
    """
    if not isinstance(algorithm, str | Path):
        raise wrong("algorithm", algorithm, "not an algorithm", "its C file, or its name")
    kinds.check(Path(algorithm), "an algorithm")
    return Checks(checking.check(str(algorithm)))
