"""All checks of a study's claims, with runs, costs and switches, as a page of Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dumbbell.base import markdown, tree
from dumbbell.base.labels import listing
from dumbbell.judging.evidence import STATEMENTS
from dumbbell.judging.judging import ClaimResult, headline
from dumbbell.plan.tests import Test
from dumbbell.reports import cost_table
from dumbbell.results.planned_runs import Counts
from dumbbell.results.results import Results


def page(results: Results, claims: Sequence[ClaimResult]) -> str:
    """Return the page of the checks of a study."""
    return "\n".join(
        (
            f"# Checks of {results.study.name}\n",
            f"{headline(claims)}.\n" if claims else "",
            "## Claims\n",
            *map(_claim, claims),
            "## Tests\n",
            *(_test(results, test) for test in results.study.tests),
            "## Runs and engine\n",
            *_runs(results),
            "## Cost\n",
            markdown.table(cost_table.COLUMNS, cost_table.rows(results.cost)),
        )
    )


def counted(counts: Counts) -> str:
    """Report the number of runs of a plan."""
    plan = counts.plan
    kind = "Quick runs, shorter and fewer than the study's" if plan.quick else "Runs"
    repetitions = "" if plan.runs is None else f", {plan.runs} of each grid point"
    seed = f", seed {plan.seed}" if plan.seed else ""
    part = f" ({markdown.literal(' '.join(plan.conditions))})" if plan.where else ""
    return f"{kind}{part}: {counts.finished:,} of {counts.planned:,}{repetitions}{seed}"


def _claim(judged: ClaimResult) -> str:
    claim = judged.claim
    lines = [
        f"### {claim.id}\n",
        f"{_prose(claim.text)} ({_prose(claim.source)}; {STATEMENTS[judged.statement]})\n",
        f"**{judged.outcome}**. Can be met: {_prose(claim.expectation)}.\n",
        *(f"- {check.verdict.value}: {_prose(check.sentence)}." for check in judged.checks),
    ]
    if judged.reason:
        lines += ["", f"**Reason:** {_prose(judged.reason)}"]
    return "\n".join((*lines, ""))


def _test(results: Results, test: Test) -> str:
    axes = "; ".join(f"{axis} {', '.join(values)}" for axis, values in test.axes.items())
    source = f" ({_prose(test.source)})" if test.source else ""
    finished = len(results.finished(test.name))
    runs = f"{finished:,} {'run' if finished == 1 else 'runs'}"
    return f"### {test.name}\n\n{_prose(test.title)}{source}. {runs}. Axes: {_prose(axes)}.\n"


def _runs(results: Results) -> Iterator[str]:
    yield f"- Engine: `{results.engine.identity}`"
    yield f"- Written by {tree.identity()}"
    yield f"- TCP stack: {_prose(listing(results.stacks))}"
    yield from (f"- {counted(counts)}" for counts in results.counted)
    for title, reasons in results.troubled.items():
        yield from (f"- {title}: {_prose(why)}" for why in reasons.values())
    yield from (f"- Doubtful: {_prose(line)}" for line in results.doubtful)
    yield ""


def _prose(text: str) -> str:
    return markdown.prose(markdown.one_line(text))
