"""Choosing an algorithm, or its parameters, for a path."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import polars as pl

from dumbbell.api import arguments
from dumbbell.api.arguments import Folder
from dumbbell.api.table import Table
from dumbbell.base.arguments import Names, names, number
from dumbbell.base.errors import unknown
from dumbbell.engines.choices import EngineName
from dumbbell.execution.pools import Pool
from dumbbell.experiments import advise as advising
from dumbbell.experiments.advise import words
from dumbbell.experiments.advise.words import COLUMNS, FURTHER
from dumbbell.experiments.setting import Setting
from dumbbell.experiments.tune import tuning
from dumbbell.experiments.tune import words as of_search
from dumbbell.experiments.tune.judging import SHOWN
from dumbbell.experiments.tune.paths import Traffic

_ENDS: Final = ("", "_low", "_high")


class Advice(Table):
    """The algorithm to use on a path, and the algorithms that are unfit.

    Attributes
    ----------
    details
        All that was measured: `dumbbell.experiments.advise.Advice`.
    """

    def __init__(self, details: advising.Advice) -> None:
        self.details = details

    @property
    def advised(self) -> str | None:
        """The algorithm to use; None: none is fit."""
        return None if self.details.advised is None else self.details.advised.name

    @property
    def conclusion(self) -> str:
        """The advice and its reasons, in sentences."""
        return " ".join(words.conclusion(self.details))

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each algorithm: those that are fit first, the best first.

        ``fit`` is True if it may be advised; otherwise ``why`` is the reason. The other columns are
        means with the ends of their 95 % intervals, as ``goodput_mbit_per_s``,
        ``goodput_mbit_per_s_low`` and ``goodput_mbit_per_s_high``, in Mbit/s, ms and per cent.
        """
        rows = []
        for candidate in self.details.candidates:
            row: dict[str, Any] = {
                "algorithm": candidate.name,
                "fit": candidate in self.details.fit,
                "why": self.details.refused.get(candidate.name),
            }
            for column in (*COLUMNS, *FURTHER):
                ends = zip(_ENDS, column.ends(candidate), strict=True)
                row |= {f"{_name(column)}{end}": value for end, value in ends}
            rows.append(row)
        return pl.DataFrame(rows, infer_schema_length=None)

    def report(self, output: str | Path = "advice.html") -> Path:
        """Write the page, or its figure for ``.svg``, ``.png``, ``.pdf`` or ``.json``."""
        from dumbbell.reports import advice_page  # noqa: PLC0415 - Altair takes a second to import

        advice_page.write(self.details, Path(output), "dumbbell.advise(...)")
        return Path(output)

    @property
    def _heading(self) -> tuple[str, str]:
        return words.path(self.details.setting), self.conclusion


_UNITS: Final = {"Mbit/s": "mbit_per_s", "%": "percent"}


def _name(column: words.Column) -> str:
    return f"{column.title}_{_UNITS.get(column.unit, column.unit)}".lower().replace(" ", "_")


def advise(
    *,
    rate: str,
    rtt: str,
    buffer: str = "1bdp",
    loss: str | float = "0",
    duration: str = "60s",
    stack: str = "linux-6",
    beside: str = "cubic",
    among: Names = (),
    runs: int = 3,
    results: Folder = "results",
    jobs: int | Pool | None = None,
    large: bool = False,
) -> Advice:
    """Advise which algorithm to use on a path, and which are unfit for it.

    Each algorithm runs alone, with datagrams in the middle third of the run, and next to a legacy
    flow that starts first or last. The paths are the given one, a shorter and a longer one.

    Parameters
    ----------
    rate, rtt, buffer, loss, duration, stack
        As for `compare`.
    beside
        The legacy algorithm, which others on the path use.
    among
        The algorithms that can be chosen; none: all that need no congestion marks.
    runs
        Repetitions on each path.
    results, jobs, large
        As for `run_study`.

    Returns
    -------
    Advice
        A table with a row for each algorithm.

    Raises
    ------
    InputError
        If an argument is wrong.

    Examples
    --------
    >>> advice = dumbbell.advise(
    ...     rate="10mbit", rtt="20ms", duration="2s", among=["reno", "cubic"], runs=1
    ... )
    >>> sorted(advice.to_frame()["algorithm"])
    ['cubic', 'reno']
    """
    return Advice(
        advising.advise(
            Setting(rate, rtt, buffer, str(loss), duration, stack),
            beside=beside,
            among=names(among, "among", "cubic"),
            runs=number(runs, "runs", 1),
            results=arguments.store(results),
            jobs=jobs,
            large=large,
        )
    )


class Tuning(Table):
    """The parameters that a search has found, and their results on paths that it has not seen.

    Attributes
    ----------
    details
        The search and all that it has tried: `dumbbell.experiments.tune.tuning.Tuned`.
    """

    def __init__(self, details: tuning.Tuned) -> None:
        self.details = details

    @property
    def winner(self) -> dict[str, int]:
        """The best parameters."""
        return self.details.winner

    @property
    def conclusion(self) -> str:
        """The gain by tuning, or that there is none, in a sentence."""
        return of_search.conclusion(self.details)

    @property
    def preset(self) -> str:
        """The winner as the text of a preset file, for ``algorithm@FILE.toml``."""
        return tuning.preset_file(self.details)

    def to_frame(self) -> pl.DataFrame:
        """Return a row for the winner, the default and each preset.

        ``parameters`` is its name. For each objective there are ``NAME_gain``, ``NAME_gain_low``
        and ``NAME_gain_high``: its factor over the default. Quantities are means in their own
        units. ``testbed`` is True if the kernel ran it. No rows: the search was interrupted.
        """
        objectives = [objective.name for objective in self.details.search.runs.objectives]
        rows = []
        for line in (*self.details.lines, *self.details.confirmed):
            row: dict[str, Any] = {"parameters": line.name}
            for name, gain in zip(objectives, line.gain, strict=True):
                ends = zip(_ENDS, (gain.value, gain.low, gain.high), strict=True)
                row |= {f"{name}_gain{end}": value for end, value in ends}
            row |= {name: line.means.get(name) for name in SHOWN}
            rows.append({**row, "testbed": line in self.details.confirmed})
        return pl.DataFrame(rows, infer_schema_length=None)

    def report(self, output: str | Path = "tuned") -> Path:
        """Write the page and the preset file into a folder and return the path of the page."""
        from dumbbell.reports import tune_page  # noqa: PLC0415 - Altair takes a second to import

        return tune_page.write(self.details, Path(output), "dumbbell.tune(...)")

    @property
    def _heading(self) -> tuple[str, str]:
        return f"{self.details.algorithm.name} tuned", self.conclusion


def tune(
    algorithm: str,
    *,
    rate: Names = (),
    rtt: Names = (),
    buffer: Names = "1bdp",
    loss: str | float = "0",
    duration: str = "60s",
    stack: str = "linux-6",
    flows: int = 1,
    cross: str = "",
    beside: str = "",
    requests: str = "",
    scenarios: str | Path | None = None,
    held_out: str | Path | None = None,
    objective: Names = "goodput",
    parameter: Names = (),
    candidates: int | None = None,
    runs: int = 5,
    seed: int = 0,
    confirm: str | None = None,
    results: Folder = "results",
    jobs: int | Pool | None = None,
    large: bool = False,
) -> Tuning:
    """Choose the parameters of an algorithm for some paths, and test them on other paths.

    Ctrl-C ends the search; the same call resumes it.

    Parameters
    ----------
    algorithm
        Its name, or its C file.
    rate, rtt, buffer
        The paths: all combinations of these values.
    loss, duration, stack
        As for `compare`; the same on all paths.
    flows
        Flows of the algorithm on each path.
    cross
        Rate of datagrams in the middle third of a run: ``"2mbit"``; empty: none.
    beside
        Algorithm of one more flow; empty: none.
    requests
        Size of the requests that flows send: ``"100kb"``; empty: one transfer without end.
    scenarios
        A folder of scenario files as the paths, instead of rates and RTTs.
    held_out
        A folder of scenario files on which the winner is tested; None: paths like the others.
    objective
        The objective: goodput, power, fairness, completion, recovery, harm, or a quantity; with a
        weight as ``"goodput*2"``. Several without weights give a front.
    parameter
        The parameters to search: ``"kp"`` or ``"kp=1..8"``; none: those that presets set.
    candidates
        Number of candidates to try; None: 24 for each parameter.
    runs
        Most runs of a path.
    seed
        Source of the candidates.
    confirm
        "testbed" to test the winner and the default on the kernel, too. None: only in the
        simulator.
    results, jobs, large
        As for `run_study`.

    Returns
    -------
    Tuning
        A table of the winner, the default and the presets.

    Raises
    ------
    InputError
        If an argument is wrong.

    Examples
    --------
    >>> tuned = dumbbell.tune(
    ...     "ccpd", rate="10mbit", rtt="20ms", duration="2s", candidates=2, runs=1
    ... )
    >>> sorted(tuned.winner)
    ['kd', 'kp']
    """
    if confirm not in (None, EngineName.TESTBED):
        raise unknown("engine", str(confirm), [EngineName.TESTBED]).at(key="confirm")
    tuned = tuning.tune(
        tuning.Request(
            algorithm,
            tuple(names(parameter, "parameter", "kp")),
            tuple(names(rate, "rate", "10mbit")),
            tuple(names(rtt, "rtt", "20ms")),
            tuple(names(buffer, "buffer", "1bdp")),
            str(loss),
            duration,
            stack,
            None if scenarios is None else Path(scenarios),
            None if held_out is None else Path(held_out),
            Traffic(number(flows, "flows", 1), cross, beside, requests),
            tuple(names(objective, "objective", "goodput")),
            number(runs, "runs", 1),
            None if candidates is None else number(candidates, "candidates", 2),
            number(seed, "seed", 0),
        ),
        results=arguments.store(results),
        jobs=jobs,
        confirm=confirm,
        large=large,
    )
    return Tuning(tuned)
