"""Hunts in a notebook."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from dumbbell.api import arguments
from dumbbell.api.arguments import Folder
from dumbbell.api.table import Table
from dumbbell.base.arguments import Names, names, number, wrong
from dumbbell.base.errors import InputError
from dumbbell.execution.pools import Pool
from dumbbell.experiments.hunt import hunting, words
from dumbbell.experiments.hunt.hunting import POINTS


class Hunt(Table):
    """The scenario in which an algorithm does worst, and all that was tried.

    Attributes
    ----------
    details
        The search and its result: `dumbbell.experiments.hunt.hunting.Hunted`.
    """

    def __init__(self, details: hunting.Hunted) -> None:
        self.details = details

    @property
    def conclusion(self) -> str:
        """What was found, and whether it was confirmed, in sentences."""
        return "\n".join(words.conclusion(self.details))

    @property
    def regret(self) -> float:
        """The regret of the minimal scenario, from 0 to 1; without one, the largest regret."""
        worst = self.details.minimal or self.details.course.worst
        return worst.regret

    @property
    def scenario(self) -> str | None:
        """The minimal scenario as the text of a file in this folder; None: no weakness."""
        if self.details.minimal is None:
            return None
        return hunting.scenario_file(self.details, Path())

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each scenario of the search, the worst first.

        ``regret`` is that of one seed. The other columns describe the scenario: numbers in Mbit/s
        (``rate``), ms (``rtt``, ``jitter``, ``pulse``, ``outage``), bandwidth-delay products
        (``queue``) or shares. A disturbance that is absent is 0. Choices are texts.
        """
        space = self.details.space
        rows: list[dict[str, Any]] = []
        for tried in self.details.course.tried:
            values = {
                dimension.name: dimension.choices[int(value)] if dimension.choices else value
                for dimension, value in zip(space.dimensions, tried.point, strict=True)
            }
            rows.append({"regret": tried.regret, **values, "failure": tried.failure or None})
        frame = pl.DataFrame(rows, infer_schema_length=None)
        return frame.sort("regret", descending=True, maintain_order=True)

    def report(self, output: str | Path = "hunted") -> Path:
        """Write the page and the scenario file into a folder and return the path of the page."""
        from dumbbell.reports import hunt_page  # noqa: PLC0415 - Altair takes a second to import

        return hunt_page.write(self.details, Path(output), "dumbbell.hunt(...)")

    @property
    def _heading(self) -> tuple[str, str]:
        return f"hunt {self.details.algorithm}", self.conclusion


def hunt(
    algorithm: str,
    *,
    against: Names = (),
    goal: str = "",
    distinguish: bool = False,
    over: Names = (),
    where: Mapping[str, str] | None = None,
    points: int = POINTS,
    within: str = "",
    duration: str = "30s",
    stack: str = "linux-6",
    runs: int = 10,
    seed: int = 0,
    confirm: str | None = None,
    results: Folder = "results",
    jobs: int | Pool | None = None,
    large: bool = False,
) -> Hunt:
    """Search the scenario in which an algorithm does worst, compared with the best of others.

    The worst scenario is made as simple as possible, and then confirmed with other seeds. Ctrl-C
    ends the search; the same call resumes it.

    Parameters
    ----------
    algorithm
        Its name, or its C file.
    against
        The references; none: CUBIC and Reno.
    goal
        Goal of the search: goodput, recovery, delay, resent, fairness, share, harm, attack, or a
        quantity of a lone flow; empty: goodput.
    distinguish
        True to find the scenario in which the algorithm and the single reference differ most,
        whichever is ahead.
    over
        The dimensions to search, such as ``["rate", "jitter"]``; none: all.
    where
        Other ranges, or single values: ``{"rate": "10mbit..1gbit", "discipline": "fifo"}``.
    points
        Number of scenarios to try.
    within
        Time after which no further scenario is tried, such as ``"5min"``; empty: no limit.
    duration, stack
        As for `compare`.
    runs
        Runs of each algorithm that confirm the finding.
    seed
        Source of the scenarios.
    confirm
        "testbed" to replay the finding on the kernel, too. None: no replay.
    results, jobs, large
        As for `run_study`.

    Returns
    -------
    Hunt
        A table of the scenarios.

    Raises
    ------
    InputError
        If an argument is wrong.
    DumbbellError
        If a run of a reference fails.

    Examples
    --------
    >>> hunt = dumbbell.hunt(
    ...     "vegas", against="reno", over=["jitter"], points=4, duration="4s", runs=2
    ... )
    >>> hunt.to_frame().height
    4
    """
    for key, value, example in (
        ("algorithm", algorithm, "bbr"),
        ("goal", goal, "goodput"),
        ("stack", stack, "linux-6"),
    ):
        if not isinstance(value, str):
            raise wrong(key, value, "not a text", f'a name, such as "{example}"')
    others = tuple(names(against, "against", "cubic"))
    if distinguish and len(others) != 1:
        raise InputError(
            "two algorithms are told apart", key="against", value=list(others), valid="one"
        )
    request = hunting.Request(
        algorithm=algorithm,
        against=others,
        goal=goal,
        either=distinguish,
        over=tuple(names(over, "over", "rate")),
        where=_where(where),
        duration=duration,
        stack=stack,
        points=number(points, "points", 2),
        within=within,
        runs=number(runs, "runs", 2),
        seed=number(seed, "seed", 0),
        confirm="" if confirm is None else str(confirm),
    )
    return Hunt(
        hunting.hunt(
            request,
            results=arguments.store(results),
            jobs=jobs,
            large=large,
        )
    )


def _where(value: object) -> dict[str, str]:
    """Return ranges by names; what is none is an InputError."""
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(
        isinstance(text, str) for text in (*value, *value.values())
    ):
        raise wrong("where", value, "not a mapping of texts", '{"rate": "10mbit..1gbit"}')
    return dict(value)
