"""A command for each figure and table of the studies, with the time that it is expected to take.

Figures are those that a study draws. Claims about no drawn figure stand under the part of the
publication that has them. Time follows from the expected packets and from the pace of the commands
that ran the study before, by their logs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dumbbell.base import markdown, tree
from dumbbell.base.errors import InputError
from dumbbell.base.labels import amount, duration
from dumbbell.engines import engines
from dumbbell.engines.sizes import expected_packets
from dumbbell.figures.kinds import FigureSpec
from dumbbell.judging.spec import Measured
from dumbbell.plan.expanding import PlannedRun
from dumbbell.scenario.resolve import ResolvedScenario
from dumbbell.store import campaigns
from dumbbell.store.campaigns import Effort
from dumbbell.store.store import Store
from dumbbell.study import mentions
from dumbbell.study.model import Study

_HEADS = ("what", "about", "claims", "runs", "packets", "time", "command")

Runs = Mapping[tuple[str, tuple[str, ...]], Sequence[ResolvedScenario]]
"""Test and values of its axes -> the runs of that grid point."""


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
        Number of its runs, and the packets that they are expected to send.
    """

    what: str
    about: str
    claims: Sequence[str]
    command: str
    runs: int
    packets: float


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
    effort
        What is known of the commands that ran it.
    """

    study: Study
    pieces: Sequence[Piece]
    whole: Piece
    effort: Effort


def of_study(study: Study, stores: Iterable[Store]) -> Commands:
    """Return a study's commands; `stores` may have logs of commands that ran it."""
    by_point = _by_point(study.runs())
    drawn = [each.name for each in study.figures]
    about = {each.id: mentions.figures_in(each.source, drawn) for each in study.claims}
    pieces = [
        _drawn(study, figure, [name for name in about if figure.name in about[name]], by_point)
        for figure in study.figures
        if any(True for _ in figure.behind())
    ]
    pieces += [
        _undrawn(study, source, claims, by_point)
        for source, claims in _by_source(study, about).items()
    ]
    engine = engines.named("simulator").identity
    logs = [log for store in stores for log in campaigns.commands(store, study.name, engine)]
    whole = _sized(study.name, study.header.title, (), study.called, by_point.values())
    return Commands(study, pieces, whole, Effort.of(logs))


def page(found: Sequence[Commands]) -> str:
    """Return the page, in Markdown; an InputError if there is no log of any study."""
    known = sum((each.effort for each in found), Effort())
    if known.packets_per_s is None:
        raise InputError(
            "no folder has a log of a command that ran one of these studies on this engine",
            key="results",
            valid="the folder of `dumbbell run`",
        )
    return "\n".join((_about(known), *(_study(each, known) for each in found)))


def _about(known: Effort) -> str:
    return (
        "# A command for each figure and table\n\n"
        "Each command runs what a figure, and the claims about it, need. Finished runs are never "
        "run again, so figures that share runs take less. `dumbbell report` with the same name "
        "then draws the figure, and `dumbbell claims` judges its claims.\n\n"
        "Time is expected: packets, divided by the pace of the commands that ran the study "
        f"before. All of them together ran {known.runs:,} runs with "
        f"{amount(known.packets_per_s or 0.0)} packets a second. A study without a known command "
        "has that pace.\n\n"
        f"- Engine: `{engines.named('simulator').identity}`\n"
        f"- Written by {tree.identity()}\n"
    )


def _study(found: Commands, known: Effort) -> str:
    own = found.effort
    pace = own.packets_per_s or known.packets_per_s or 1.0
    by = f"{own.runs:,} runs of {own.commands} commands" if own.packets_per_s else "other studies"
    rows = [*found.pieces, found.whole]
    return (
        f"## {found.study.name}\n\n"
        f"{amount(pace)} packets a second, by {by}.\n\n"
        + markdown.table(_HEADS, (_row(each, pace) for each in rows))
    )


def _row(piece: Piece, pace: float) -> tuple[str, ...]:
    return (
        markdown.prose(piece.what),
        markdown.prose(piece.about),
        ", ".join(piece.claims),
        f"{piece.runs:,}",
        amount(piece.packets) if piece.runs else "",
        duration(piece.packets / pace) if piece.runs else "none needed",
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
    checks = (check for each in study.claims if each.id in claims for check in each.checks)
    return any(isinstance(check, Measured) for check in checks)


def _drawn(study: Study, figure: FigureSpec, claims: Sequence[str], by_point: Runs) -> Piece:
    part = study.part([figure.name])
    return _sized(figure.name, figure.title, claims, part.called, _runs(part, by_point))


def _undrawn(study: Study, source: str, claims: Sequence[str], by_point: Runs) -> Piece:
    if not _needs_runs(study, claims):
        return Piece(source, "", claims, f"dumbbell claims {study.called}", 0, 0.0)
    part = study.part(claims)
    return _sized(source, "", claims, part.called, _runs(part, by_point))


def _runs(part: Study, by_point: Runs) -> Iterator[Sequence[ResolvedScenario]]:
    for test in part.tests:
        for point in test.grid_points:
            yield by_point[test.name, tuple(point.values())]


def _sized(
    what: str,
    about: str,
    claims: Sequence[str],
    called: str,
    points: Iterable[Sequence[ResolvedScenario]],
) -> Piece:
    runs = {run.key: run for point in points for run in point}
    packets = sum(expected_packets(run.scenario) for run in runs.values())
    return Piece(what, about, claims, f"dumbbell run {called}", len(runs), packets)


def _by_point(planned: Iterable[PlannedRun]) -> Runs:
    by_point: dict[tuple[str, tuple[str, ...]], list[ResolvedScenario]] = {}
    for run in planned:
        by_point.setdefault((run.test, tuple(run.axes.values())), []).append(run.resolved)
    return by_point
