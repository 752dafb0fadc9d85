"""The page on which algorithms are compared over all studies, and a page for each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from dumbbell.algorithms.catalogue import Algorithm
from dumbbell.algorithms.head_comments import Kind
from dumbbell.reports import comparison, comparison_charts, pictures
from dumbbell.reports.comparison import Comparison
from dumbbell.reports.comparison_charts import Shown
from dumbbell.reports.overview import Reported
from dumbbell.reports.pages import Pages, Place

PAGE: Final = "algorithms.html"

_HEADINGS: Final = {
    Kind.LAW: "What it does",
    Kind.AS_IN_LINUX: "As in Linux",
    Kind.UNLIKE_LINUX: "Unlike Linux",
    Kind.INTERPRETATION: "Interpretations",
}


@dataclass(frozen=True)
class Drawn:
    """A chart next to its page: its name, the size of its picture, and its description."""

    name: str
    width: int
    height: int
    description: str


@dataclass(frozen=True)
class Compared:
    """A study's algorithms: the tests that each ran in, and comparisons in these tests."""

    reported: Reported
    choices: Mapping[str, Mapping[str, int]]
    comparisons: tuple[Comparison, ...]


def page_path(name: str) -> str:
    """Return the path of an algorithm's page from the site's root."""
    return f"algorithms/{name}.html"


def write(reported: Sequence[Reported], pages: Pages, home: Place) -> None:
    """Write the comparison, and a page for each algorithm that ran."""
    studies = [
        Compared(
            study, comparison.choices(study.results), tuple(comparison.of_study(study.results))
        )
        for study in reported
    ]
    algorithms = _algorithms(studies)
    place = home.below("Algorithms", PAGE)
    content = {"studies": studies, "page_path": page_path}
    charts = {
        (study.reported.name, compared.test.name): _drawn(
            comparison_charts.of_test(compared),
            pages,
            place,
            f"{study.reported.name}-{compared.test.name}",
        )
        for study in studies
        for compared in study.comparisons
    }
    pages.write("algorithms.html.j2", place, algorithms=algorithms, charts=charts, **content)
    for algorithm in algorithms:
        own_place = place.below(algorithm.title, page_path(algorithm.name))
        tests = {
            f"{study.reported.name}: {compared.test.name}": compared
            for study in studies
            for compared in study.comparisons
            if algorithm.name in {choice.partition("@")[0] for choice in compared.algorithms}
        }
        chart = comparison_charts.of_algorithm(algorithm.name, tests)
        pages.write(
            "algorithm.html.j2",
            own_place,
            algorithm=algorithm,
            chart=_drawn(chart, pages, own_place, algorithm.name),
            headings=[
                (heading, algorithm.comment.of(kind))
                for kind, heading in _HEADINGS.items()
                if algorithm.comment.of(kind)
            ],
            **content,
        )


def _drawn(shown: Shown | None, pages: Pages, place: Place, name: str) -> Drawn | None:
    """Write a chart next to its page, as a picture and for scripts; None if there is none."""
    if shown is None:
        return None
    folder = pages.output / place.sibling("figures")
    folder.mkdir(parents=True, exist_ok=True)
    size = pictures.write(name, shown.chart.to_dict(), folder, (".svg",))
    return Drawn(name, *size, shown.description)


def _algorithms(studies: Sequence[Compared]) -> list[Algorithm]:
    """Return the algorithms that ran anywhere, in alphabetical order of their titles.

    Of one that studies bring in different files, the first study's counts.
    """
    by_name: dict[str, Algorithm] = {}
    for study in studies:
        for algorithm in study.reported.results.algorithms:
            if algorithm.name in study.choices:
                by_name.setdefault(algorithm.name, algorithm)
    return sorted(by_name.values(), key=lambda algorithm: algorithm.title.lower())
