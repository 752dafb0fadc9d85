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


def page(simulator: Results, kernel: Results, found: Sequence[Beside]) -> str:
    """Return the page: each claim on both engines, what was measured, and what is contrary."""
    return "\n".join(
        (
            _about(simulator, kernel, found),
            "## Claim by claim\n",
            f"{_legend(found)}\n",
            markdown.table((*COLUMNS, "what the authors state"), _claims(found)),
            "## What both engines measured\n",
            markdown.table(_CHECKED, _checks(found)),
            "## Where they are contrary\n",
            _contrary(found),
        )
    )


def headline(found: Sequence[Beside]) -> str:
    """Say of how many claims both engines decide something, and how often they say the same."""
    both = [each for each in found if each.pairs]
    pairs = [pair for each in both for pair in each.pairs]
    alike = sum(pair.simulator.verdict is pair.kernel.verdict for pair in pairs)
    contrary = sum(pair.is_contrary for pair in pairs)
    return (
        f"{len(both)} of {len(found)} claims have checks with runs of both engines. Of these "
        f"{len(pairs)} checks: {alike} with the same verdict, {contrary} with the contrary one, "
        f"{len(pairs) - alike - contrary} undecided on one engine only"
    )


def row(each: Beside) -> tuple[str, ...]:
    """Return a claim and its verdicts: the simulator's, and those of what both decide."""
    verdicts = [] if each.verdicts is None else [verdict.value for verdict in each.verdicts]
    return (each.claim.id, each.simulator.verdict.value, *(verdicts or ["", ""]))


def _about(simulator: Results, kernel: Results, found: Sequence[Beside]) -> str:
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
        f"{headline(found)}.\n"
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


def _legend(found: Sequence[Beside]) -> str:
    marks = "✓ agrees, ✗ does not, ? undecided; empty: the kernel has no runs of it."
    ours = any(pair.kernel.is_ours for each in found for pair in each.pairs)
    text = " Checks of tests that are scaled to the testbed are expectations of our own: that what"
    return f"{marks}{text} the authors found holds there, too." if ours else marks


def _claims(found: Sequence[Beside]) -> Iterator[Sequence[str]]:
    for each in found:
        both = each.verdicts or ()
        marks = [verdict.mark for verdict in both] or ["", ""]
        text = markdown.prose(each.claim.text)
        yield (each.claim.id, each.simulator.verdict.mark, *marks, text)


def _checks(found: Sequence[Beside]) -> Iterator[Sequence[str]]:
    for each in found:
        for pair in each.pairs:
            words = map(markdown.prose, (pair.kernel.asked.subject, pair.kernel.expected))
            yield (each.claim.id, *words, _measured(pair.simulator), _measured(pair.kernel))


def _measured(check: CheckResult) -> str:
    return f"{check.verdict.mark} {markdown.prose(str(check.decisive or check.lacks))}"


def _contrary(found: Sequence[Beside]) -> str:
    lines = [
        f"- **{each.claim.id}** {_said(pair)}\n{_reason(each)}"
        for each in found
        for pair in each.pairs
        if pair.is_contrary
    ]
    return "".join(lines) or "Nowhere.\n"


def _reason(each: Beside) -> str:
    return f"  {markdown.one_line(each.claim.reason)}\n" if each.claim.reason else ""


def _said(pair: Pair) -> str:
    text = f"{pair.kernel.asked.subject}: expected {pair.kernel.expected}; simulator "
    return f"{markdown.prose(text)}{_measured(pair.simulator)}, kernel {_measured(pair.kernel)}"
