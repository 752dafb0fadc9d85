"""The pages of an experiment or a study: written on request, found again by `open`."""

from __future__ import annotations

import re
from pathlib import Path

from dumbbell.cli import progress
from dumbbell.cli.outcomes import tell_place
from dumbbell.cli.output import say
from dumbbell.engines import engines
from dumbbell.reports import site
from dumbbell.results.campaign import Campaign
from dumbbell.results.results import Results
from dumbbell.study.model import Study


def tell(campaign: Campaign, report: Path | None) -> None:
    """Write the pages of what was run into a folder, or say how to see them."""
    if report is None:
        tell_place(campaign.study.named, campaign.store.root, engines.option(campaign.engine))
        return
    say.print(f"Page: {written(campaign.results(), report)}", soft_wrap=True)


def folder(study: Study) -> str:
    """Return the name of a study's folder in a site; a part has one next to the whole study."""
    return re.sub(r"[^\w.-]", "-", study.named)


def written(results: Results, folder: Path) -> Path:
    """Return the page of a study in a folder, which is drawn unless it is there and current."""
    with progress.steps("drawing", say) as step:
        return site.write(results, folder, step)
