"""The page on which algorithms are compared over all studies, and a page for each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from dumbbell.catalogue import Algorithm
from dumbbell.head_comments import Kind
from dumbbell.report import comparison
from dumbbell.report.comparison import Comparison
from dumbbell.report.overview import Reported
from dumbbell.report.pages import Pages, Place

PAGE: Final = "algorithms.html"

_HEADINGS: Final = {
    Kind.LAW: "What it does",
    Kind.AS_IN_LINUX: "As in Linux",
    Kind.UNLIKE_LINUX: "Unlike Linux",
    Kind.INTERPRETATION: "Interpretations",
}


@dataclass(frozen=True)
class Compared:
    """What a study says of the algorithms: where each ran, and how they compare in its tests."""

    study: Reported
    choices: Mapping[str, Mapping[str, int]]
    comparisons: tuple[Comparison, ...]


def page_path(name: str) -> str:
    """Return the path of an algorithm's page from the site's root."""
    return f"algorithms/{name}.html"


def write(reported: Sequence[Reported], pages: Pages, home: Place) -> None:
    """Write the comparison, and a page for each algorithm that ran."""
    studies = [
        Compared(each, comparison.choices(each.results), tuple(comparison.of_study(each.results)))
        for each in reported
    ]
    algorithms = _algorithms(studies)
    place = home.below("Algorithms", PAGE)
    content = {"studies": studies, "page_path": page_path}
    pages.write("algorithms.html.j2", place, algorithms=algorithms, **content)
    for algorithm in algorithms:
        pages.write(
            "algorithm.html.j2",
            place.below(algorithm.title, page_path(algorithm.name)),
            algorithm=algorithm,
            headings=[
                (heading, algorithm.comment.of(kind))
                for kind, heading in _HEADINGS.items()
                if algorithm.comment.of(kind)
            ],
            **content,
        )


def _algorithms(studies: Sequence[Compared]) -> list[Algorithm]:
    """Return the algorithms that ran anywhere, in alphabetical order of their titles.

    Of one that studies bring in different files, the first study's counts.
    """
    found: dict[str, Algorithm] = {}
    for each in studies:
        for algorithm in each.study.results.algorithms:
            if algorithm.name in each.choices:
                found.setdefault(algorithm.name, algorithm)
    return sorted(found.values(), key=lambda each: each.title.lower())
