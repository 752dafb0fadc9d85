"""Claims that hold in each reading of an open detail of a paper, as a page of Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from dumbbell.base import markdown, tree
from dumbbell.base.labels import listing
from dumbbell.base.shell import quoted
from dumbbell.judging import readings
from dumbbell.judging.evidence import Verdict
from dumbbell.judging.judging import by_verdict
from dumbbell.judging.readings import Reading
from dumbbell.results.results import Results

COLUMNS: Final = ("holds", "contradicted", "undecided", "gained", "lost")


def page(results: Results, axis: str, judged: Sequence[Reading]) -> str:
    """Return the page: the readings by how many claims hold, and each claim in each of them."""
    order = readings.ranked(judged)
    return "\n".join(
        (
            _about(results, axis, order),
            markdown.table(("", axis, *COLUMNS), _ranks(order, judged)),
            "## In no reading\n",
            _never(judged),
            "## Claim by claim\n",
            "✓ holds, ✗ contradicted, = tie, ? undecided; numbers are those of the table above.\n",
            _matrix(order),
        )
    )


def _ranks(order: Sequence[Reading], judged: Sequence[Reading]) -> Iterator[Sequence[str]]:
    for number, reading in enumerate(order, 1):
        yield (str(number), name(reading), *row(reading, judged))


def name(reading: Reading) -> str:
    """Name a reading; the one that the claims name is set apart."""
    text = markdown.prose(reading.value)
    return f"**{text}**" if reading.is_main else text


def row(reading: Reading, judged: Sequence[Reading]) -> tuple[str, ...]:
    """Return the number of claims that hold, and those that differ from the named reading."""
    counts = by_verdict(reading.claims)
    gained, lost = readings.gained(reading, [main for main in judged if main.is_main])
    fails = counts.get(Verdict.CONTRADICTED, 0) + counts.get(Verdict.FAILED, 0)
    return (
        str(len(reading.held)),
        str(fails),
        str(counts.get(Verdict.UNDECIDED, 0)),
        ", ".join(gained),
        ", ".join(lost),
    )


def _about(results: Results, axis: str, order: Sequence[Reading]) -> str:
    study = results.study
    best = [reading.value for reading in order if len(reading.held) == len(order[0].held)]
    total = len(order[0].claims)
    return (
        f"# {markdown.literal(study.header.title)}: readings\n\n"
        f"Number of the {total} claims that hold in each reading of an open detail of the paper. "
        f"Each is judged at every value of the axis `{axis}` by the runs of "
        f"`dumbbell run {study.called}`. Claims that need no runs, or do not depend on the axis, "
        "count in each. The study's verdicts use the reading in bold. Gained "
        "and lost are the claims that hold in a reading but not in that one, and the reverse. "
        f"`dumbbell claims {study.name} --over {quoted(axis)} --markdown FILE` writes this "
        "page.\n\n"
        f"Most hold, {len(order[0].held)} of {total}, in {markdown.prose(listing(best))}.\n\n"
        f"- Engine: `{results.engine.identity}`\n"
        f"- Written by {tree.identity()}\n"
    )


def never(judged: Sequence[Reading]) -> list[str]:
    """Return the claims that hold in no reading."""
    held = frozenset[str]().union(*(reading.held for reading in judged))
    return [claim.claim.id for claim in judged[0].claims if claim.claim.id not in held]


def _never(judged: Sequence[Reading]) -> str:
    lines = []
    wanted = set(never(judged))
    for claim, verdicts in readings.by_claim(judged):
        if claim.id in wanted:
            open_in = [value for value, result in verdicts.items() if not result.verdict.is_bad]
            undecided = f"; undecided in {markdown.prose(listing(open_in))}" if open_in else ""
            lines.append(f"- **{claim.id}** {markdown.prose(claim.text)}{undecided}\n")
    return "".join(lines) or "Each claim holds in some reading.\n"


def _matrix(order: Sequence[Reading]) -> str:
    heads = ("claim", *(str(number) for number, _ in enumerate(order, 1)))
    return markdown.table(heads, _rows(order))


def _rows(order: Sequence[Reading]) -> Iterator[Sequence[str]]:
    for claim, verdicts in readings.by_claim(order):
        yield (claim.id, *(result.verdict.mark for result in verdicts.values()))
