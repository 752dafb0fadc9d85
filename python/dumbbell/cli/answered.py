"""Tables of stored runs, printed again without reading a study.

The imports here are small: this is what a repeated command takes (`benches/start_up.py`).
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dumbbell.cli.outcomes import tell_counts, tell_place
from dumbbell.cli.output import Form
from dumbbell.cli.totals import print_as
from dumbbell.quantities.cells import Totals
from dumbbell.store import answers

if TYPE_CHECKING:
    from dumbbell.results.campaign import Campaign


@dataclass(frozen=True)
class Request:
    """A command for the simulator, whose result is one table."""

    results: Path
    command: Mapping[str, Any]

    def answer(self, form: Form) -> bool:
        """Print the kept answer; return False if there is none that counts."""
        began_s = time.monotonic()
        known = answers.read(self.results, self.command)
        if known is None:
            return False
        try:
            totals, data = Totals.of_data(known.shown["table"]), known.shown["json"]
        except (KeyError, TypeError, ValueError):
            return False
        tell_counts(reused=len(known.runs), elapsed_s=time.monotonic() - began_s)
        print_as(form, totals, data)
        tell_place(known.study, self.results)
        return True

    def keep(self, campaign: Campaign, totals: Totals, data: Mapping[str, Any]) -> None:
        """Keep what is printed in each form.

        If an own algorithm ran, nothing is kept: its files may change.
        """
        runs = {run.resolved.key: run.resolved for run in campaign.planned}
        if not any(run.scenario.sources for run in runs.values()):
            shown = {"table": totals.as_data(), "json": data}
            answer = answers.Answer(campaign.study.name, tuple(runs), shown)
            answers.write(self.results, self.command, answer)
