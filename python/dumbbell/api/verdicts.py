"""The verdicts on the claims of a study, as a table."""

from __future__ import annotations

from typing import Final

import polars as pl

from dumbbell.api.table import Rows
from dumbbell.judging.judging import ClaimResult, by_verdict, headline

_SCHEMA: Final = {
    "id": pl.String,
    "verdict": pl.String,
    "statement": pl.String,
    "source": pl.String,
    "text": pl.String,
    "measured": pl.String,
    "quick": pl.Boolean,
    "runs_needed": pl.Int64,
}


class Claims(Rows[ClaimResult]):
    """The verdicts on the claims of a study: a sequence of `ClaimResult`."""

    @property
    def summary(self) -> dict[str, int]:
        """Number of claims by verdict: ``{"holds": 9, "undecided": 24}``."""
        return {verdict.value: count for verdict, count in by_verdict(self).items() if count}

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each claim.

        ``quick`` is True if the verdict depends on quick runs. ``runs_needed`` is the number of
        runs of its grid points that are expected to decide it; null if it is decided or if that is
        not known.
        """
        rows = [
            (
                result.claim.id,
                result.verdict.value,
                result.statement,
                result.claim.source,
                result.claim.text,
                result.measured,
                result.is_quick,
                sum(need.runs for need in result.needs) or None,
            )
            for result in self
        ]
        return pl.DataFrame(rows, schema=_SCHEMA, orient="row")

    @property
    def _heading(self) -> tuple[str, str]:
        return f"{len(self)} claims", headline(self)
