"""The page on which algorithms are compared over all studies, and a page for each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from dumbbell.algorithms.catalogue import Algorithm
from dumbbell.algorithms.head_comments import Kind
from dumbbell.base.lazy import altair as alt
from dumbbell.figures import drawing
from dumbbell.reports import comparison, comparison_charts, pictures
from dumbbell.reports.comparison import Comparison
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
    """A chart next to its page: its name there, and the size of its picture."""

    name: str
    width: int
    height: int


@dataclass(frozen=True)
class Compared:
    """A study's algorithms: the tests that each ran in, and comparisons in these tests."""

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
    charts = {
        (each.study.name, compared.test.name): _drawn(
            comparison_charts.of_test(compared),
            pages,
            place,
            f"{each.study.name}-{compared.test.name}",
        )
        for each in studies
        for compared in each.comparisons
    }
    pages.write("algorithms.html.j2", place, algorithms=algorithms, charts=charts, **content)
    for algorithm in algorithms:
        own_place = place.below(algorithm.title, page_path(algorithm.name))
        tests = {
            f"{each.study.name}: {compared.test.name}": compared
            for each in studies
            for compared in each.comparisons
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


def _drawn(chart: alt.ConcatChart | None, pages: Pages, place: Place, name: str) -> Drawn | None:
    """Write a chart next to its page, as a picture and for scripts; None if there is none."""
    if chart is None:
        return None
    spec = chart.to_dict()
    svg = drawing.rendered(spec, ".svg")
    pages.write_text(place.beside(f"figures/{name}.svg"), svg.decode())
    pages.write_text(place.beside(f"figures/{name}.js"), pictures.script(name, spec))
    return Drawn(name, *pictures.size(svg))


def _algorithms(studies: Sequence[Compared]) -> list[Algorithm]:
    """Return the algorithms that ran anywhere, in alphabetical order of their titles.

    Of one that studies bring in different files, the first study's counts.
    """
    by_name: dict[str, Algorithm] = {}
    for each in studies:
        for algorithm in each.study.results.algorithms:
            if algorithm.name in each.choices:
                by_name.setdefault(algorithm.name, algorithm)
    return sorted(by_name.values(), key=lambda each: each.title.lower())
