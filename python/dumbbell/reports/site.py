"""Reports as static files that open from disk, without a network.

::

    index.html            of one study its page; of all studies a list of them
    claims.html           of all studies: every claim, to choose from
    algorithms.html       of all studies: the algorithms against each other
    algorithms/NAME.html  what an algorithm is, where it ran, how it compares
    assets/               style, scripts, and Vega for interactive figures
    studies/NAME/         a folder for each study; of one study there is no such folder

and of a study::

    index.html            what came out, by questions and causes
    figures.html          its tests, figures and runs
    checks.html           every claim with its checks; costs, switches, data
    figures/              each figure as SVG, PNG and Vega-Lite
    data/                 the values behind figures and claims, as CSV
    runs/TEST.html        the runs of a test, to choose from
    run.html              any single run
    series/ab/ab12...js   the time series of a run
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Final

from dumbbell.base.errors import refusing
from dumbbell.reports import algorithm_pages, overview, stamp, study_page
from dumbbell.reports.overview import Reported
from dumbbell.reports.pages import Pages, Place
from dumbbell.reports.test_sections import Step
from dumbbell.results import account
from dumbbell.results.results import Results
from dumbbell.study.model import Study

_ALL: Final = "All studies"
_ABOVE: Final = ("../index.html", "../../index.html")
"""Where the first page of a site may be, seen from a folder in it."""


def write(results: Results, output: str | Path, on_step: Step = lambda _: None) -> Path:
    """Write the report of a study into a folder and return the path of its page.

    A page that shows what the results hold now stays as it is. Without its runs a figure is
    incomplete, and a claim is undecided. In a folder of a site of all studies the pages lead back
    to the first page of that site.
    """
    place = _place(results, Path(output))
    if (page := _current(results, Path(output), place)) is not None:
        return page
    with _writing(Path(output)) as pages:
        on_step(f"{results.study.name}: judging claims")
        return study_page.write(results, account.of(results), pages, place, on_step)


def write_all(
    studies: Sequence[Results],
    output: str | Path,
    on_step: Step = lambda _: None,
    unlisted: Sequence[str] = (),
    not_run: Mapping[str, Study] = MappingProxyType({}),
) -> Path:
    """Write one site about several studies and return the path of its first page.

    Parameters
    ----------
    studies
        The results of each in a results folder.
    output
        The folder of the site.
    on_step
        Called with the name of each step.
    unlisted
        Names of studies with runs in the results folder that are not among the studies.
    not_run
        Studies that are only named, as they have no runs, by the commands that run them.
    """
    with _writing(Path(output)) as pages:
        home = Place.at(_ALL)
        reported = []
        for results in studies:
            name = results.study.name
            place = home.below(name, f"studies/{name}/index.html")
            on_step(f"{name}: judging claims")
            judged = account.of(results)
            page = _current(results, pages.output, place)
            page = page or study_page.write(results, judged, pages, place, on_step)
            reported.append(Reported(results, judged, place, page))
        on_step("comparing algorithms")
        algorithm_pages.write(reported, pages, home)
        return overview.write(reported, pages, home, unlisted, not_run)


def _place(results: Results, folder: Path) -> Place:
    """Return the place of a study's page in a folder: below the first page of a site, if in one."""
    name = results.study.name
    for up in _ABOVE:
        if overview.is_first_page((folder / up).resolve()):
            return Place.at(_ALL, up).below(name, "index.html")
    return Place.at(name)


def _current(results: Results, site: Path, place: Place) -> Path | None:
    """Return the page of a study; None if it or its files are older than the results."""
    page = site / place.path
    shown = stamp.read(page)
    is_current = shown is not None and shown == stamp.of(results, place, page.parent)
    return page if is_current else None


@contextmanager
def _writing(output: Path) -> Iterator[Pages]:
    """Provide a folder with the assets that all pages share."""
    with refusing("write the report", output):
        pages = Pages(output)
        pages.write_assets()
        yield pages
