"""Cases of several algorithms, as one page of Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dumbbell.base import markdown, tree
from dumbbell.experiments.cases import Cases, words
from dumbbell.experiments.suites.verdicts import PASSES


def page(all_cases: Sequence[Cases], command: str) -> str:
    """Return the page: the cases that each algorithm passes, and the measured values."""
    suite = all_cases[0].suite
    return "\n".join(
        (
            f"# BBR by the cases of {suite.title}\n",
            f"Appendix A of {suite.title} ({suite.revised}) has {len(suite.cases)} cases. "
            f"`{command}` runs them and writes this page. "
            "[The guide](guides/bbr-cases.md) explains it.\n",
            f"- Engine: `{all_cases[0].results.engine.identity}`\n"
            f"- Written by {tree.identity()}\n"
            f"- {words.BOUNDS}\n",
            "## Verdicts\n",
            "".join(f"- {' '.join(words.conclusion(cases))}\n" for cases in all_cases),
            markdown.table(
                ("case", "title", *(cases.algorithm for cases in all_cases)), _verdicts(all_cases)
            ),
            "## Cases\n",
            markdown.table(
                ("case", "path", "what Dumbbell does not see or do"),
                (
                    (case.source, markdown.prose(case.tests), markdown.prose(case.cannot))
                    for case in suite.cases
                ),
            ),
            *(part for cases in all_cases for part in _measured(cases)),
        )
    )


def _verdicts(all_cases: Sequence[Cases]) -> Iterator[tuple[str, ...]]:
    for row in zip(*(cases.cases for cases in all_cases), strict=True):
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
                words.measured(answer),
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
