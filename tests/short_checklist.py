"""Two clauses of the battery of RFC 9743, by few runs."""

from __future__ import annotations

import pytest

from dumbbell.experiments.checklist import suite


def battery() -> suite.Suite:
    """Return the clauses on high loss and on lost feedback."""
    whole = suite.load()
    quick = {"where": {"flows": "10", "queue": "0.1bdp"}, "runs": 2}
    tests = [
        {**test, "quick": quick if test["name"] == "high-loss" else {"runs": 2}}
        for test in whole.tests
        if test["name"] in ("high-loss", "no-feedback")
    ]
    clauses = tuple(clause for clause in whole.clauses if clause.id in ("S03", "M03"))
    return whole.model_copy(update={"clauses": clauses, "tests": tests, "quantities": []})


def installed(patch: pytest.MonkeyPatch) -> None:
    """Let checklists have these clauses alone."""
    cut = battery()
    patch.setattr(suite, "load", lambda: cut)
