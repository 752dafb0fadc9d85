"""Checklists of several algorithms, as one page of Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dumbbell.algorithms.labels import label_of
from dumbbell.base import markdown, tree
from dumbbell.base.labels import listing
from dumbbell.experiments.checklist import Checklist, words
from dumbbell.experiments.checklist.outcome import Answer
from dumbbell.experiments.suites.verdicts import FAILS, UNDECIDED

_CLAUSES = ("clause", "demand", "what is tested", "bounds", "fail", "undecided")


def page(checklists: Sequence[Checklist], command: str) -> str:
    """Return the page: which clauses each algorithm fails, and by which tests and bounds."""
    first = checklists[0]
    against = listing([label_of(role.name) for role in first.roles.references])
    runs = first.results.counts[0].finished
    quick = ", quick" if first.is_quick else ""
    return "\n".join(
        (
            f"# Algorithms by the clauses of {first.suite.title}\n",
            f"This page lists the clauses of {first.suite.title} that each algorithm fails. "
            f"`{command}` runs the tests ({runs:,} runs{quick}) and writes this page. "
            "[The guide](guides/checklist.md) explains it.\n",
            f"- Engine: `{first.engine.identity}`\n- Written by {tree.identity()}\n- References: "
            f"{against}\n- {' '.join((words.OUR_BOUNDS, *words.left_out(first)))}\n- Section 6 "
            "demands that the criteria of section 5 are met on the Internet. An algorithm may "
            "fail in special cases (section 7).\n",
            "## Algorithms\n",
            markdown.table(words.OVERVIEW, map(words.overview, checklists)),
            "## Clauses\n",
            markdown.table(_CLAUSES, _clauses(checklists)),
            "## Not judged\n",
            markdown.table(
                ("section", "about", "why"),
                ((clause.section, clause.title, clause.why) for clause in first.suite.unjudged),
            ),
            *(line for checklist in checklists for line in _faults(checklist)),
        )
    )


def _clauses(checklists: Sequence[Checklist]) -> Iterator[tuple[str, ...]]:
    """Yield a row for each clause: its tests, its bounds, and the number of failing algorithms."""
    for row in zip(*(checklist.clauses for checklist in checklists), strict=True):
        clause = row[0].clause
        bounds = dict.fromkeys(
            f"{_title(checklists[0], answer)}: {words.rule(answer)}" for answer in row[0].answers
        )
        outcomes = [judged.outcome for judged in row]
        yield (
            clause.title,
            clause.level.value,
            clause.tests,
            "; ".join(bounds),
            str(outcomes.count(FAILS)),
            str(outcomes.count(UNDECIDED)),
        )


def _title(checklist: Checklist, answer: Answer) -> str:
    """Return the title of a quantity without the reference of which it is."""
    title = answer.named.title
    for role in checklist.roles.references:
        title = title.removesuffix(f" of {role.name}")
    return title


def _faults(checklist: Checklist) -> Iterator[str]:
    """Yield the findings of the failed clauses of an algorithm."""
    faults = [
        (judged, fault) for judged, fault in words.faults(checklist) if judged.outcome is FAILS
    ]
    if faults:
        yield f"## {markdown.literal(label_of(checklist.algorithm))}\n"
        for judged, fault in faults:
            yield f"- **{judged.clause.title}**: {markdown.literal(fault)}"
        yield ""
