"""The front page of all studies: how their statements stand, why, and where to read on.

Everything in it follows from results, and from data of the studies that shows only while it is
true. `themes.toml` names statements that several studies make.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Final

from artifact.bars import Bar
from dumbbell.base import markdown, tree
from dumbbell.base.errors import InputError, unknown
from dumbbell.base.labels import listing
from dumbbell.engines.choices import EngineName
from dumbbell.judging.beside import Beside, beside
from dumbbell.judging.control import Control
from dumbbell.judging.evidence import Statement, Verdict
from dumbbell.judging.judging import judged_by_runs
from dumbbell.judging.standing import Standing
from dumbbell.reports import study_text
from dumbbell.reports.beside_markdown import headline
from dumbbell.reports.study_text import Explained, StudyText
from dumbbell.results import account
from dumbbell.results.account import Account
from dumbbell.results.results import Results
from dumbbell.store.store import Store
from dumbbell.study.model import Study

CAUSES: Final = 4
DECISIONS: Final = 3
_STUDIES: Final = "../../studies"
"""The studies as data, seen from the front page."""
DRAWS: Final = 20
_KINDS: Final[Mapping[str, tuple[Statement, ...]]] = {
    "numbers": ("number",),
    "orders": ("order",),
    "arithmetic": ("arithmetic",),
    "ours": ("expectation",),
}
"""Kinds of statements, as the table of all of them names them."""
_NUMBERS: Final = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


@dataclass(frozen=True)
class Theme:
    """A statement with the claims that state it: study -> claims."""

    statement: str
    claims: Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Refereed:
    """A study, how its claims stand, and what to compare that with.

    Attributes
    ----------
    results
        Its runs on the simulator.
    account
        Its claims with their standings.
    control
        Its claims with the names of algorithms exchanged; None: it has too few of them.
    kernel
        Its claims on both engines; empty without runs on the kernel.
    address
        Where to read on: its page, or the study itself if it has none.
    """

    results: Results
    account: Account
    control: Control | None
    kernel: Sequence[Beside]
    address: str

    @property
    def study(self) -> Study:
        """The study."""
        return self.results.study

    @property
    def link(self) -> str:
        """Its name, as a link."""
        return f"[{self.study.name}]({self.address})"

    @cached_property
    def text(self) -> StudyText:
        """What its page says."""
        return study_text.of(self.study, self.account)

    def kind(self, statements: Sequence[Statement]) -> dict[Standing, int]:
        """Count its claims of some kinds by where they stand."""
        counted = Counter(
            self.account.standings[result.claim.id]
            for result in self.account.claims
            if result.statement in statements
        )
        return {standing: counted[standing] for standing in Standing}


def themes() -> list[Theme]:
    """Return the statements that several studies make."""
    content = tomllib.loads((files("artifact") / "themes.toml").read_text("utf-8"))
    return [Theme(theme.pop("statement"), theme) for theme in content["theme"]]


def refereed(study: Study, stores: Sequence[Store], folder: Path, draws: int = DRAWS) -> Refereed:
    """Judge a study by the results folder that holds most of its runs.

    `folder` is that of the front page, which may have a page of the study.
    """
    by_store = (Results(study, store) for store in stores)
    results = max(by_store, key=lambda results: results.progress[0])
    kernel = Results(study, results.store, engine=EngineName.TESTBED)
    judged = account.of(results)
    return Refereed(
        results,
        judged,
        _control(results, draws),
        [] if kernel.is_empty else beside(judged.claims, kernel.claims()),
        name if (folder / (name := f"{study.name}.md")).is_file() else f"{_STUDIES}/{study.name}",
    )


def _control(results: Results, draws: int) -> Control | None:
    try:
        return results.control(draws)
    except InputError:
        return None


def page(studies: Sequence[Refereed], themes: Sequence[Theme], figure: str) -> str:
    """Return the page, in Markdown; `figure` is the address of the bars."""
    return "\n".join(
        (
            _answer(studies),
            f"![{_alt(studies)}]({figure})\n",
            "## What came out\n",
            *_themes(studies, themes),
            "## What hangs on a decision\n",
            _decisions(studies),
            "## Why statements fail\n",
            *_causes(studies),
            "## The studies\n",
            _studies(studies),
            "## In numbers\n",
            _numbers(studies),
            _about(studies),
        )
    )


def _answer(studies: Sequence[Refereed]) -> str:
    counts = _sum(study.account.counts for study in studies)
    years = sorted({study.study.header.year for study in studies})
    when = f"From {years[0]} to {years[-1]}" if len(years) > 1 else f"In {years[0]}"
    what = f"{_word(len(studies))} {'study' if len(studies) == 1 else 'studies'}"
    return (
        f"# {_capital(what)}, run again\n\n"
        f"{when}, {what} evaluated TCP congestion control. Dumbbell runs "
        f"{'it' if len(studies) == 1 else 'them'} again and judges {sum(counts.values())} of "
        f"{'its' if len(studies) == 1 else 'their'} statements by runs: {_words(counts)}."
        f"{_unfinished(studies)}\n"
    )


def _unfinished(studies: Sequence[Refereed]) -> str:
    left = [study for study in studies if len(set(study.results.progress)) > 1]
    if not left:
        return ""
    verb = "has" if len(left) == 1 else "have"
    return f" {len(left)} of {len(studies)} {verb} not run whole."


def bars(studies: Sequence[Refereed]) -> list[Bar]:
    """Return a bar for each study."""
    return [
        Bar(f"{study.study.name}, {study.study.header.year}", study.account.counts)
        for study in studies
    ]


def _alt(studies: Sequence[Refereed]) -> str:
    return "; ".join(f"{study.study.name}: {_words(study.account.counts)}" for study in studies)


def _words(counts: Mapping[Standing, int]) -> str:
    """Say how many statements stand where."""
    parts = [
        f"{count} {_VERBS[standing][count != 1]}" for standing, count in counts.items() if count
    ]
    return listing(parts) or "none yet"


_VERBS: Final[Mapping[Standing, tuple[str, str]]] = {
    Standing.HOLDS: ("holds", "hold"),
    Standing.READING: ("holds under a declared reading", "hold under a declared reading"),
    Standing.TIE: ("is a tie", "are ties"),
    Standing.CONTRADICTED: ("is contradicted", "are contradicted"),
    Standing.OPEN: ("is open", "are open"),
}


def _themes(studies: Sequence[Refereed], themes: Sequence[Theme]) -> Iterator[str]:
    """Yield what holds wherever it is stated, what in a part, what nowhere, and what is open."""
    groups: dict[str, list[str]] = {}
    by_name = {study.study.name: study for study in studies}
    for theme in themes:
        standings = list(_standings(theme, by_name))
        heading = heading_of([standing for _, standing in standings])
        if heading == _OPEN:
            line = f"- {theme.statement}.\n"
        else:
            line = f"- {theme.statement}: {_where(standings)}.\n"
        groups.setdefault(heading, []).append(line)
    for heading in (*_HEADINGS, _OPEN):
        if heading in groups:
            yield f"**{heading}**\n"
            yield "".join(groups[heading])


_HEADINGS: Final = (
    "Holds where it is decided",
    "Divided",
    "A tie where it is decided",
    "Contradicted where it is decided",
)
_OPEN: Final = "Not decided yet"


def heading_of(standings: Sequence[Standing]) -> str:
    """Return the heading under which claims that stand so are listed."""
    decided = [standing for standing in standings if standing is not Standing.OPEN]
    if not decided:
        return _OPEN
    everywhere, divided, tied, nowhere = _HEADINGS
    if all(standing.holds for standing in decided):
        return everywhere
    if all(standing is Standing.TIE for standing in decided):
        return tied
    return nowhere if all(standing is Standing.CONTRADICTED for standing in decided) else divided


def _standings(
    theme: Theme, by_name: Mapping[str, Refereed]
) -> Iterator[tuple[Refereed, Standing]]:
    """Yield each claim of a theme as its study and where it stands."""
    for name, claims in theme.claims.items():
        study = by_name[name]
        judged = {result.claim.id for result in judged_by_runs(study.account.claims)}
        for claim in claims:
            if claim not in judged:
                raise unknown(f"claim of {name} that runs judge", claim, judged)
            yield study, study.account.standings[claim]


def _where(standings: Sequence[tuple[Refereed, Standing]]) -> str:
    """Say in which studies how many claims hold, of those that are decided."""
    parts = []
    for link in dict.fromkeys(study.link for study, _ in standings):
        of_study = [standing for study, standing in standings if study.link == link]
        decided = [standing for standing in of_study if standing is not Standing.OPEN]
        holding = sum(standing.holds for standing in decided)
        ties = sum(standing is Standing.TIE for standing in decided)
        tied = f" ({ties} tied)" if ties else ""
        if decided:
            parts.append(f"{link} {holding} of {len(decided)}{tied}")
    return ", ".join(parts)


def _decisions(studies: Sequence[Refereed]) -> str:
    """Return what was decided for authors, by how many statements hold only with it."""
    dependent = [
        (len(decided.dependent), study.link, decided.decision)
        for study in studies
        for decided in study.account.decided
        if decided.dependent
    ]
    dependent.sort(key=lambda one: -one[0])
    lines = [
        f"- {_statements(count)} of {link}: {markdown.prose(decision.parameter)}, "
        f"{markdown.prose(decision.value)}.\n"
        for count, link, decision in dependent[:DECISIONS]
    ]
    return "".join(lines) or "No statement is known to hang on one yet.\n"


def _causes(studies: Sequence[Refereed]) -> Iterator[str]:
    """Yield the causes of most contradictions, and how many have one."""
    explained = [(study, cause) for study in studies for cause in study.text.explained]
    explained.sort(key=lambda pair: -len(pair[1].claims))
    bad = sum(study.account.counts[Standing.CONTRADICTED] for study in studies)
    unknown_cause = sum(len(study.text.unexplained) for study in studies)
    shown = {
        (study.study.name, claim)
        for study, cause in explained
        if cause.shown_by
        for claim in cause.claims
    }
    if not bad:
        yield "No statement is contradicted.\n"
        return
    named = bad - unknown_cause
    if len(shown) == named > 0:
        known = f"A test shows the cause of {named} of {bad} contradicted statements."
    else:
        known = (
            f"{named} of {bad} contradicted statements have a named cause; a test shows that of "
            f"{len(shown)}."
        )
    yield known + (" Most often:\n" if len(explained) > CAUSES else "\n")
    yield "".join(_cause(study, cause) for study, cause in explained[:CAUSES])


def _cause(study: Refereed, explained: Explained) -> str:
    assumed = "" if explained.shown_by else " (assumed)"
    title = markdown.prose(explained.cause.title)
    return f"- {title}{assumed}: {len(explained.claims)} of {study.link}.\n"


def _statements(count: int) -> str:
    return f"{count} statement" + "s" * (count != 1)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _studies(studies: Sequence[Refereed]) -> str:
    heads = ("study", "year", "about", "hosts", "runs", *(standing.value for standing in Standing))
    rows = [
        (
            study.link,
            str(study.study.header.year),
            markdown.literal(study.study.header.title),
            ", ".join(dict.fromkeys(stack.partition(" (")[0] for stack in study.results.stacks)),
            _runs(study.results),
            *(str(count) for count in study.account.counts.values()),
        )
        for study in studies
    ]
    total = _sum(study.account.counts for study in studies)
    rows.append(("all", "", "", "", "", *(str(count) for count in total.values())))
    return markdown.table(heads, rows)


def _runs(results: Results) -> str:
    finished, planned = results.progress
    return f"{finished:,} of {planned:,}"


def _numbers(studies: Sequence[Refereed]) -> str:
    """Return every kind of statement by study, with the control next to it."""
    heads = (
        *("study", "statements", *(standing.value for standing in Standing)),
        *("all", "control: right names", "control: exchanged names"),
    )
    rows: list[tuple[str, ...]] = []
    for study in studies:
        for kind, statements in _KINDS.items():
            counts = study.kind(statements)
            if sum(counts.values()):
                rows.append((study.study.name, kind, *_cells(counts), "", ""))
        right, exchanged = _controlled(study.control)
        rows.append(
            (study.study.name, "judged by runs", *_cells(study.account.counts), right, exchanged)
        )
    for kind, statements in _KINDS.items():
        counts = _sum(study.kind(statements) for study in studies)
        rows.append(("all", kind, *_cells(counts), "", ""))
    total = _sum(study.account.counts for study in studies)
    rows.append(("all", "judged by runs", *_cells(total), *_all_controlled(studies)))
    return markdown.table(heads, rows)


def _cells(counts: Mapping[Standing, int]) -> list[str]:
    return [*map(str, counts.values()), str(sum(counts.values()))]


def _controlled(control: Control | None) -> tuple[str, str]:
    """Say how many claims that name algorithms hold, with the right names and with others."""
    if control is None:
        return "no names to exchange", ""
    whole = len(control.claims)
    return (
        f"{control.right[Verdict.HOLDS]} of {whole} hold",
        f"{control.mean(Verdict.HOLDS):.1f} of {whole} hold",
    )


def _all_controlled(studies: Sequence[Refereed]) -> tuple[str, str]:
    controls = [study.control for study in studies if study.control is not None]
    whole = sum(len(control.claims) for control in controls)
    right = sum(control.right[Verdict.HOLDS] for control in controls)
    mean = sum(control.mean(Verdict.HOLDS) for control in controls)
    return f"{right} of {whole} hold", f"{mean:.1f} of {whole} hold"


def _about(studies: Sequence[Refereed]) -> str:
    engines = dict.fromkeys(study.results.engine.identity for study in studies)
    both = [f"{study.study.name}: {headline(study.kernel)}" for study in studies if study.kernel]
    return (
        f"The control judges the same runs with names exchanged at random, {DRAWS} times. Only "
        "claims that single out algorithms count there. Numbers and orders are the authors'. "
        "[Statistics](../explanation/statistics.md) explains verdicts, and "
        "[commands](commands.md) has the command and the time of each figure.\n\n"
        + "".join(f"- On the kernel, {line}.\n" for line in both)
        + f"- Engine: {', '.join(f'`{engine}`' for engine in engines)}\n"
        f"- Written by {tree.identity()}, with `make front`\n"
    )


def _sum(
    counts: Iterator[Mapping[Standing, int]] | Sequence[Mapping[Standing, int]],
) -> dict[Standing, int]:
    total: Counter[Standing] = Counter()
    for of_study in counts:
        total.update(of_study)
    return {standing: total[standing] for standing in Standing}


def _word(number: int) -> str:
    return _NUMBERS[number] if number < len(_NUMBERS) else str(number)
