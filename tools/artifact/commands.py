"""A command for each figure and table of the studies, with the time that it is expected to take.

Figures are those that a study draws. Claims about no drawn figure stand under the part of the
publication that has them. Time is processor time: expected packets, by what a packet took in one
run of the same test, which is measured for the page. It hardly depends on what else the machine
does.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from dumbbell.base import markdown, tree
from dumbbell.base.labels import amount, duration
from dumbbell.engines import engines
from dumbbell.engines.sizes import expected_packets
from dumbbell.figures.kinds import FigureSpec
from dumbbell.judging.spec import Measured
from dumbbell.plan.expanding import PlannedRun
from dumbbell.scenario.resolve import ResolvedScenario
from dumbbell.study import mentions
from dumbbell.study.model import Study

CORES: Final = 2
"""Processors for which the page states times."""

_ENOUGH: Final = 3e6
"""Packets of a run after which another one would say no more of its pace."""

_HEADS = ("what", "about", "claims", "runs", "packets", "time", "command")

Pace = Callable[[ResolvedScenario], float]
"""Runs a scenario, and returns the seconds of processor time that it took."""


@dataclass(frozen=True)
class Piece:
    """A figure, or a part of the publication, with the claims about it.

    Attributes
    ----------
    what
        The figure's name, or the part's.
    about
        Its title; that of a part is empty.
    claims
        The claims about it.
    command
        The command that runs what it needs.
    runs
        Number of its runs.
    packets
        Test -> the packets that its runs are expected to send.
    """

    what: str
    about: str
    claims: Sequence[str]
    command: str
    runs: int
    packets: Mapping[str, float]

    def seconds(self, paces: Mapping[str, float]) -> float:
        """Return its processor time; `paces` are seconds a packet of each test."""
        return sum(packets * paces[test] for test, packets in self.packets.items())


@dataclass(frozen=True)
class Commands:
    """The pieces of a study, and its runs altogether.

    Attributes
    ----------
    study
        The study.
    pieces
        Its figures in their order, then the parts of the publication without one.
    whole
        All of it.
    paces
        Test -> seconds of processor time for an expected packet.
    """

    study: Study
    pieces: Sequence[Piece]
    whole: Piece
    paces: Mapping[str, float]


def of_study(study: Study, pace: Pace | None = None) -> Commands:
    """Return a study's commands; `pace` runs a scenario of each test, by default here."""
    planned = study.runs()
    by_point = _by_point(planned)
    drawn = [figure.name for figure in study.figures]
    about = {claim.id: mentions.figures_in(claim.source, drawn) for claim in study.claims}
    pieces = [
        _drawn(study, figure, [name for name in about if figure.name in about[name]], by_point)
        for figure in study.figures
        if any(True for _ in figure.behind())
    ]
    pieces += [
        _undrawn(study, source, claims, by_point)
        for source, claims in _by_source(study, about).items()
    ]
    whole = _sized(study.name, study.header.title, (), study.called, planned)
    return Commands(study, pieces, whole, _paces(study, planned, pace or processor_time))


def page(commands: Sequence[Commands]) -> str:
    """Return the page, in Markdown."""
    return "\n".join((_about(), *map(_study, commands)))


def processor_time(scenario: ResolvedScenario) -> float:
    """Run a scenario on the simulator, and return the seconds of processor time that it took."""
    began_s = time.process_time()
    engines.named("simulator").run(scenario)
    return time.process_time() - began_s


def _paces(study: Study, planned: Sequence[PlannedRun], pace: Pace) -> Mapping[str, float]:
    """Return test -> seconds a packet, by the shortest run that is long enough to tell."""
    by_test: dict[str, dict[str, ResolvedScenario]] = {}
    for run in [*study.runs(quick=True), *planned]:
        by_test.setdefault(run.test, {})[run.resolved.key] = run.resolved
    paces = {}
    for test, runs in by_test.items():
        sizes = {key: expected_packets(run.scenario) for key, run in runs.items()}
        chosen = min(sizes, key=lambda key: (sizes[key] < _ENOUGH, abs(sizes[key] - _ENOUGH)))
        paces[test] = pace(runs[chosen]) / sizes[chosen]
    return paces


def _about() -> str:
    return (
        "# A command for each figure and table\n\n"
        "Each command runs what a figure, and the claims about it, need. Finished runs are never "
        "run again, so figures that share runs take less. `dumbbell report` with the same name "
        "then draws the figure, and `dumbbell claims` judges its claims.\n\n"
        f"Time is expected on {CORES} processors that do nothing else: packets, by the processor "
        "time of one run of each test on the machine that wrote this page.\n\n"
        f"- Engine: `{engines.named('simulator').identity}`\n"
        f"- Written by {tree.identity()}, with `make commands`\n"
    )


def _study(commands: Commands) -> str:
    rows = [*commands.pieces, commands.whole]
    return f"## {commands.study.name}\n\n" + markdown.table(
        _HEADS, (_row(piece, commands.paces) for piece in rows)
    )


def _row(piece: Piece, paces: Mapping[str, float]) -> tuple[str, ...]:
    return (
        markdown.prose(piece.what),
        markdown.prose(piece.about),
        ", ".join(piece.claims),
        f"{piece.runs:,}",
        amount(sum(piece.packets.values())) if piece.runs else "",
        duration(piece.seconds(paces) / CORES) if piece.runs else "none needed",
        f"`{piece.command}`",
    )


def _by_source(study: Study, about: Mapping[str, Sequence[str]]) -> Mapping[str, list[str]]:
    """Return the claims about no drawn figure, by the part of the publication that has them."""
    by_source: dict[str, list[str]] = {}
    for claim in study.claims:
        if not about[claim.id]:
            by_source.setdefault(claim.source, []).append(claim.id)
    return by_source


def _needs_runs(study: Study, claims: Sequence[str]) -> bool:
    checks = (check for claim in study.claims if claim.id in claims for check in claim.checks)
    return any(isinstance(check, Measured) for check in checks)


_Points = Mapping[tuple[str, tuple[str, ...]], Sequence[PlannedRun]]
"""Test and values of its axes -> the runs of that grid point."""


def _drawn(study: Study, figure: FigureSpec, claims: Sequence[str], points: _Points) -> Piece:
    part = study.part([figure.name])
    return _sized(figure.name, figure.title, claims, part.called, _runs(part, points))


def _undrawn(study: Study, source: str, claims: Sequence[str], points: _Points) -> Piece:
    if not _needs_runs(study, claims):
        return Piece(source, "", claims, f"dumbbell claims {study.called}", 0, {})
    part = study.part(claims)
    return _sized(source, "", claims, part.called, _runs(part, points))


def _runs(part: Study, points: _Points) -> Iterator[PlannedRun]:
    for test in part.tests:
        for point in test.grid_points:
            yield from points[test.name, tuple(point.values())]


def _sized(
    what: str, about: str, claims: Sequence[str], called: str, planned: Iterable[PlannedRun]
) -> Piece:
    """Return a piece with its runs; those that tests share count in the first."""
    runs: dict[str, PlannedRun] = {}
    for run in planned:
        runs.setdefault(run.resolved.key, run)
    packets: dict[str, float] = {}
    for run in runs.values():
        packets[run.test] = packets.get(run.test, 0.0) + expected_packets(run.resolved.scenario)
    return Piece(what, about, claims, f"dumbbell run {called}", len(runs), packets)


def _by_point(planned: Iterable[PlannedRun]) -> _Points:
    by_point: dict[tuple[str, tuple[str, ...]], list[PlannedRun]] = {}
    for run in planned:
        by_point.setdefault((run.test, tuple(run.axes.values())), []).append(run)
    return by_point
