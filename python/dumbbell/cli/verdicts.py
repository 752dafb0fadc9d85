"""Verdicts on claims, for people."""

from __future__ import annotations

from dumbbell.judging.evidence import Verdict


def marked(verdict: Verdict, outcome: str = "") -> str:
    """Return a verdict in its colour, with its mark; `outcome` replaces its name."""
    colour = "green" if verdict.is_good else "red" if verdict.is_bad else "yellow"
    return f"[{colour}]{verdict.mark} {outcome or verdict.value}[/]"
