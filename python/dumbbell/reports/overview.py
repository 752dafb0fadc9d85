"""The first page of a site about several studies, and the page of all their claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dumbbell.judging.evidence import STATEMENTS, Verdict
from dumbbell.judging.judging import ClaimResult, by_verdict
from dumbbell.plan.grid import Selection
from dumbbell.reports import cross_links
from dumbbell.reports.pages import Pages, Place, fragment
from dumbbell.reports.study_page import parts_of
from dumbbell.results.account import Account
from dumbbell.results.results import Results
from dumbbell.store.campaigns import Cost
from dumbbell.study.model import Study

CLAIMS_PAGE: Final = "claims.html"
_MARK: Final = '<meta name="dumbbell-site">'
_HEAD_CHARACTERS: Final = 2000


@dataclass(frozen=True)
class Reported:
    """A study whose page is written."""

    results: Results
    account: Account
    place: Place
    page: Path

    @property
    def claims(self) -> Sequence[ClaimResult]:
        """The verdicts on its claims."""
        return self.account.claims

    @property
    def checks_path(self) -> str:
        """The path of the page with its checks."""
        return self.place.sibling(parts_of(self.results).checks)

    @property
    def figures_path(self) -> str:
        """The path of the page with its tests and figures."""
        return self.place.sibling(parts_of(self.results).figures)

    @property
    def name(self) -> str:
        """The study's short name."""
        return self.results.study.name

    @property
    def is_own(self) -> bool:
        """True if it is a user-defined experiment."""
        return bool(self.results.study.header.command)

    @property
    def finished(self) -> int:
        """Number of finished runs."""
        return self.results.progress[0]

    @property
    def cost(self) -> Cost:
        """The size of its results, and the cost of the commands that ran them."""
        return self.results.cost


@dataclass(frozen=True)
class Count:
    """Number of claims, and the address of their list."""

    number: int
    address: str


@dataclass(frozen=True)
class CountRow:
    """The claims of a study or of a kind by their verdicts, and all of them."""

    title: str
    counts: tuple[Count, ...]
    total: Count


@dataclass(frozen=True)
class CountTable:
    """Rows whose numbers add up to the last one."""

    head: str
    rows: tuple[CountRow, ...]
    total: CountRow


def write(
    reported: Sequence[Reported],
    pages: Pages,
    home: Place,
    unlisted: Sequence[str],
    not_run: Mapping[str, Study],
) -> Path:
    """Write the first page and the page of claims; return the first one's path."""
    pages.write(
        "claims.html.j2",
        home.below("Claims", CLAIMS_PAGE),
        reported=reported,
        named_links=cross_links.to_tests_and_claims,
    )
    return pages.write(
        "index.html.j2",
        home,
        reported=[study for study in reported if not study.is_own],
        experiments=[study for study in reported if study.is_own],
        tables=[by_study(reported), by_statement(reported)],
        runs=sum(study.finished for study in reported),
        engines=sorted({study.results.engine.identity for study in reported}),
        unlisted=unlisted,
        not_run=not_run,
        costs=[(study.name, f"#{study.name}", study.cost) for study in reported],
        total_cost=sum((study.cost for study in reported), Cost()),
    )


def is_first_page(page: Path) -> bool:
    """Return True if a file is the first page of a site."""
    try:
        with page.open(encoding="utf-8") as file:
            return _MARK in file.read(_HEAD_CHARACTERS)
    except (OSError, UnicodeDecodeError):
        return False


def by_study(reported: Sequence[Reported]) -> CountTable:
    """Count claims by studies and verdicts."""
    rows = tuple(
        _row(study.name, study.claims, {"study": study.name}) for study in reported if study.claims
    )
    return CountTable("Study", rows, _row("All studies", _all(reported), {}))


def by_statement(reported: Sequence[Reported]) -> CountTable:
    """Count claims by whose and which statement they are, and by verdicts."""
    claims = _all(reported)
    stated = {kind: [claim for claim in claims if claim.statement == kind] for kind in STATEMENTS}
    rows = tuple(
        _row(words, stated[kind], {"statement": kind})
        for kind, words in STATEMENTS.items()
        if stated[kind]
    )
    return CountTable("Kind of statement", rows, _row("All statements", claims, {}))


def _all(reported: Sequence[Reported]) -> list[ClaimResult]:
    return [claim for study in reported for claim in study.claims]


def _row(title: str, claims: Sequence[ClaimResult], chosen: Selection) -> CountRow:
    counted = {**dict.fromkeys(Verdict, 0), **by_verdict(claims)}
    return CountRow(
        title,
        tuple(
            Count(counted[verdict], _address({**chosen, "verdict": verdict.value}))
            for verdict in Verdict
        ),
        Count(len(claims), _address(chosen)),
    )


def _address(chosen: Selection) -> str:
    return CLAIMS_PAGE + (fragment(chosen) if chosen else "")
