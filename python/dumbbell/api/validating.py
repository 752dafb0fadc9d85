"""One scenario in the simulator and on the kernel, in a notebook."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from dumbbell.api import arguments
from dumbbell.api.arguments import Folder
from dumbbell.api.table import Table
from dumbbell.base.arguments import number, wrong
from dumbbell.engines.choices import RETRIES
from dumbbell.execution.executor import Progress
from dumbbell.experiments import scenario_files
from dumbbell.experiments.validate import validating, words


@dataclass(frozen=True, repr=False)
class Validation(Table, validating.Validation):
    """A scenario in the simulator and on the kernel, with 95 % intervals of their differences.

    Attributes
    ----------
    verdict
        "agrees", "differs", "undecidable", or "not measured" if no run is valid.
    compared
        The measures that both engines have, each with its verdict.
    simulator, kernel
        The runs that count (`runs`), and those that were not judged (`unjudged`).
    """

    @property
    def sentence(self) -> str:
        """The verdict in a sentence."""
        return words.verdict(self)

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each measure, in the units of its quantity.

        Its first columns are ``measure``, ``quantity``, ``verdict`` and ``tolerated``. Then come
        ``kernel``, ``simulator`` and ``difference`` with the ends of their intervals.
        """
        return self.frame()

    def report(self, output: str | Path = "validation.html") -> Path:
        """Write the page with the overlay, which is a single file, and return its path."""
        from dumbbell.reports import validate_page  # noqa: PLC0415 - Altair takes a second

        validate_page.write(self, Path(output), "dumbbell.validate(...)")
        return Path(output)

    @property
    def _heading(self) -> tuple[str, str]:
        return self.simulator.results.study.header.title, words.verdict(self)


def validate(
    scenario: str | Path,
    *,
    changes: Mapping[str, Any] | None = None,
    runs: int = validating.RUNS,
    seed: int | None = None,
    results: Folder = "results",
    jobs: int | None = None,
    retries: int = RETRIES,
    large: bool = False,
    on_progress: Callable[[Progress], None] | None = None,
) -> Validation:
    """Run a scenario in the simulator and on the kernel, and judge whether they agree.

    Goodput and mean RTT must agree within the bands of docs/agreement.md, and nothing else may
    differ. Runs on the kernel are in real time. Runs that fail or stay invalid are not judged.

    Parameters
    ----------
    scenario
        The path of a scenario file, or the name of one that ships.
    changes
        Other values for keys of the file: ``{"network.rtt": "80ms"}``.
    runs
        Number of runs on each engine, two or more, with the same seeds.
    seed
        The first seed; None: that of the file.
    results, jobs, large, on_progress
        As for `run_study`.
    retries
        How often an invalid run of the testbed is repeated.

    Returns
    -------
    Validation
        A table with a row for each measure.

    Raises
    ------
    InputError
        If the scenario or an argument is wrong.
    TestbedError
        If this machine has no testbed.
    TooLarge
        If a run is very large, unless `large`.

    Examples
    --------
    >>> validation = dumbbell.validate("short.toml", runs=2)
    >>> validation.to_frame().columns[:4]
    ['measure', 'quantity', 'verdict', 'tolerated']
    """
    if not isinstance(scenario, str | Path):
        raise wrong("scenario", scenario, "not a file", "the path of a scenario file")
    with arguments.naming_changes():
        read = scenario_files.read(
            Path(scenario),
            arguments.changes(changes),
            seed=None if seed is None else number(seed, "seed", 0),
            command="validate",
            prefix="validate-",
        )
    validation = validating.validate(
        read,
        runs=number(runs, "runs", 2),
        results=arguments.store(results),
        jobs=jobs,
        retries=number(retries, "retries", 0),
        large=large,
        on_progress=on_progress,
    )
    return Validation(validation.simulator, validation.kernel, validation.compared)
