"""Cases of several algorithms, as one page of Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dumbbell.base import markdown, tree
from dumbbell.experiments.cases import Cases, words
from dumbbell.experiments.suites.verdicts import PASSES


def page(found: Sequence[Cases], command: str) -> str:
    """Return the page: which cases each algorithm passes, and what was measured."""
    suite = found[0].suite
    return "\n".join(
        (
            f"# BBR by the cases of {suite.title}\n",
            f"Appendix A of {suite.title} ({suite.revised}) has {len(suite.cases)} cases. "
            f"`{command}` runs them and writes this page. "
            "[The guide](guides/bbr-cases.md) explains it.\n",
            f"- Engine: `{found[0].results.engine.identity}`\n"
            f"- Written by {tree.identity()}\n"
            f"- {words.BOUNDS}\n",
            "## Verdicts\n",
            "".join(f"- {' '.join(words.conclusion(each))}\n" for each in found),
            markdown.table(
                ("case", "title", *(each.algorithm for each in found)), _verdicts(found)
            ),
            "## Cases\n",
            markdown.table(
                ("case", "path", "what Dumbbell does not see or do"),
                (
                    (each.source, markdown.prose(each.tests), markdown.prose(each.cannot))
                    for each in suite.cases
                ),
            ),
            *(part for each in found for part in _measured(each)),
        )
    )


def _verdicts(found: Sequence[Cases]) -> Iterator[tuple[str, ...]]:
    for row in zip(*(each.cases for each in found), strict=True):
        case = row[0].case
        yield (case.source, case.title, *(judged.outcome for judged in row))


def _measured(cases: Cases) -> Iterator[str]:
    """Yield why cases of an algorithm do not pass, and its measurements."""
    yield f"## {markdown.literal(words.called(cases))}\n"
    reasons = [
        f"- **{judged.case.source}** {markdown.literal(why)}"
        for judged, why in words.reasons(cases)
    ]
    yield "\n".join([*reasons, ""])
    yield markdown.table(
        ("case", "check", "found", "bound", "verdict"),
        (
            (
                judged.case.source,
                markdown.prose(answer.check.about),
                words.found(answer),
                words.bound(answer.check),
                _verdict(answer.outcome, ensures=answer.check.ensures),
            )
            for judged in cases.cases
            for answer in judged.answers
        ),
    )


def _verdict(outcome: str, *, ensures: bool) -> str:
    """Return the verdict of a check; one that is about the path is met or not."""
    if not ensures:
        return outcome
    return "the path's: met" if outcome == PASSES else "the path's: not met"
