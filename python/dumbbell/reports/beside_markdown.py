"""Verdicts of both engines on a study's claims, as one page of Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from dumbbell.base import markdown, tree
from dumbbell.judging.beside import Beside, Pair
from dumbbell.judging.evidence import CheckResult
from dumbbell.reports.checks_markdown import counted
from dumbbell.results.results import Results

COLUMNS: Final = ("claim", "simulator", "simulator, the same checks", "kernel, the same checks")
_CHECKED: Final = ("claim", "what was looked at", "expected", "simulator", "kernel")


def page(simulator: Results, kernel: Results, claims: Sequence[Beside]) -> str:
    """Return the page: each claim on both engines, the measured values, and the contradictions."""
    return "\n".join(
        (
            _about(simulator, kernel, claims),
            "## Claim by claim\n",
            f"{_legend(claims)}\n",
            markdown.table((*COLUMNS, "what the authors state"), _claims(claims)),
            "## What both engines measured\n",
            markdown.table(_CHECKED, _checks(claims)),
            "## Where they are contrary\n",
            _contrary(claims),
        )
    )


def headline(claims: Sequence[Beside]) -> str:
    """Report how many claims both engines decide, and how many equally."""
    both = [claim for claim in claims if claim.pairs]
    pairs = [pair for claim in both for pair in claim.pairs]
    alike = sum(pair.simulator.verdict is pair.kernel.verdict for pair in pairs)
    contrary = sum(pair.is_contrary for pair in pairs)
    return (
        f"{len(both)} of {len(claims)} claims have checks with runs of both engines. Of these "
        f"{len(pairs)} checks: {alike} with the same verdict, {contrary} with the contrary one, "
        f"{len(pairs) - alike - contrary} undecided on one engine only"
    )


def row(claim: Beside) -> tuple[str, ...]:
    """Return a claim and its verdicts: by the simulator, and by the checks that both decide."""
    verdicts = [] if claim.verdicts is None else [verdict.value for verdict in claim.verdicts]
    return (claim.claim.id, claim.simulator.verdict.value, *(verdicts or ["", ""]))


def _about(simulator: Results, kernel: Results, claims: Sequence[Beside]) -> str:
    study = simulator.study
    return (
        f"# {markdown.literal(study.header.title)}: simulator and kernel\n\n"
        "The claims of the study, judged by the runs of the simulator and, as far as the testbed "
        "carries them, by those of the kernel's TCP. "
        f"`dumbbell claims {study.name} --both-engines --markdown FILE` writes this page.\n\n"
        f"- Simulator: `{simulator.engine.identity}`. {_runs(simulator)}\n"
        f"- Kernel: `{kernel.engine.identity}`. {_runs(kernel)}\n"
        f"- Written by {tree.identity()}\n"
        f"{_not_offered(kernel)}\n"
        f"{headline(claims)}.\n"
    )


def _not_offered(kernel: Results) -> str:
    if not kernel.not_offered:
        return ""
    lacks = markdown.prose(", ".join(kernel.not_offered))
    return (
        f"- The kernel's stack is its own. It does not offer these features of the study: {lacks}\n"
    )


def _runs(results: Results) -> str:
    return "; ".join(map(counted, results.counted))


def _legend(claims: Sequence[Beside]) -> str:
    marks = "✓ agrees, ✗ does not, ? undecided; empty: the kernel has no runs of it."
    ours = any(pair.kernel.is_ours for claim in claims for pair in claim.pairs)
    text = " Checks of tests that are scaled to the testbed are expectations of our own: that what"
    return f"{marks}{text} the authors found holds there, too." if ours else marks


def _claims(claims: Sequence[Beside]) -> Iterator[Sequence[str]]:
    for claim in claims:
        both = claim.verdicts or ()
        marks = [verdict.mark for verdict in both] or ["", ""]
        text = markdown.prose(claim.claim.text)
        yield (claim.claim.id, claim.simulator.verdict.mark, *marks, text)


def _checks(claims: Sequence[Beside]) -> Iterator[Sequence[str]]:
    for claim in claims:
        for pair in claim.pairs:
            words = map(markdown.prose, (pair.kernel.question.subject, pair.kernel.expected))
            yield (claim.claim.id, *words, _measured(pair.simulator), _measured(pair.kernel))


def _measured(check: CheckResult) -> str:
    return f"{check.verdict.mark} {markdown.prose(str(check.decisive or check.lacks))}"


def _contrary(claims: Sequence[Beside]) -> str:
    lines = [
        f"- **{claim.claim.id}** {_in_words(pair)}\n{_reason(claim)}"
        for claim in claims
        for pair in claim.pairs
        if pair.is_contrary
    ]
    return "".join(lines) or "Nowhere.\n"


def _reason(claim: Beside) -> str:
    return f"  {markdown.one_line(claim.claim.reason)}\n" if claim.claim.reason else ""


def _in_words(pair: Pair) -> str:
    text = f"{pair.kernel.question.subject}: expected {pair.kernel.expected}; simulator "
    return f"{markdown.prose(text)}{_measured(pair.simulator)}, kernel {_measured(pair.kernel)}"
