"""Verdicts on a study's claims, as one page of Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dumbbell.base import markdown
from dumbbell.base.labels import listing
from dumbbell.judging.judging import ClaimResult, headline
from dumbbell.reports import cost_table
from dumbbell.reports.study_page import commands, report_command
from dumbbell.results.results import Counts, Results

_COLUMNS = ("claim", "where", "what the authors state", "what can be met", "measured", "verdict")


def page(results: Results, claims: Sequence[ClaimResult]) -> str:
    """Return the page: what was run, the verdicts on the claims, and the reasons."""
    return "\n".join(
        (
            _about(results),
            _runs(results),
            "## Cost\n",
            markdown.table(cost_table.COLUMNS, cost_table.rows(results.cost)),
            "## Claims\n",
            _score(claims),
            markdown.table(_COLUMNS, map(_claim, claims)),
            *_reasons(claims),
        )
    )


def _about(results: Results) -> str:
    header = results.study.header
    venue = f" *{markdown.literal(header.venue)}*," if header.venue else ""
    return (
        f"# {markdown.literal(header.title)}\n\n"
        f"{markdown.literal(listing(header.authors))}.{venue} {header.year}.\n"
    )


def _runs(results: Results) -> str:
    made = ", ".join(f"`{command}`" for command in commands(results))
    lines = [
        f"Verdicts of Dumbbell's own runs on each claim of this study: {made}. The report, "
        f"`{report_command(results)}`, shows the figures and the runs behind "
        "each claim; `dumbbell claims` with `--markdown` writes this page.",
        "",
        f"- Engine: `{results.engine.identity}`",
        f"- TCP stack: {markdown.prose(listing(results.stacks))}",
        *(f"- {counted(counts)}" for counts in results.counted),
    ]
    for title, found in results.troubled.items():
        lines += [f"- {title}: {markdown.prose(markdown.one_line(why))}" for why in found.values()]
    lines += [f"- Doubtful: {markdown.prose(markdown.one_line(line))}" for line in results.doubtful]
    return "\n".join((*lines, ""))


def counted(counts: Counts) -> str:
    """Say how many runs of a plan there are."""
    plan = counts.plan
    kind = "Quick runs, shorter and fewer than the study's" if plan.quick else "Runs"
    repetitions = "" if plan.runs is None else f", {plan.runs} of each grid point"
    seed = f", seed {plan.seed}" if plan.seed else ""
    return f"{kind}: {counts.finished:,} of {counts.planned:,}{repetitions}{seed}"


def _score(claims: Sequence[ClaimResult]) -> str:
    return f"{headline(claims)}.\n" if claims else ""


def _claim(judged: ClaimResult) -> tuple[str, ...]:
    claim, outcome = judged.claim, judged.outcome
    texts = (claim.source, claim.text, claim.expectation, judged.measured)
    return (
        claim.id,
        *map(markdown.prose, texts),
        f"**{outcome}**" if judged.verdict.is_bad else outcome,
    )


def _reasons(claims: Sequence[ClaimResult]) -> Iterator[str]:
    others = [judged for judged in claims if not judged.verdict.is_good or judged.failed]
    if others:
        yield "## What was not reproduced, and why\n"
    for judged in others:
        detail = markdown.prose(markdown.one_line(judged.detail))
        yield f"- **{judged.claim.id}** {detail}."
        if judged.verdict.is_bad or judged.failed:
            reason = markdown.one_line(judged.reason) or "The reason is not known."
            yield f"  {markdown.prose(reason)}"
    if others:
        yield ""
