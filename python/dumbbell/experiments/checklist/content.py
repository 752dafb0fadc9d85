"""The study of a checklist: the suite with an algorithm and its references filled in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, cast

from dumbbell.algorithms.labels import label_of
from dumbbell.base.labels import listing
from dumbbell.experiments.checklist.roles import Roles, for_references, on_axis
from dumbbell.experiments.checklist.suite import Clause, Suite
from dumbbell.experiments.suites.roles import Role
from dumbbell.judging.claim import Claim
from dumbbell.judging.kinds.reference import Reference
from dumbbell.plan import grid
from dumbbell.results import experiments
from dumbbell.study.model import Study

STEM: Final = "checklist"
"""Beginning of the name of the study of a checklist."""

_ID: Final = len("S01")
"""Length of the id of a clause; of several algorithms their number follows."""


def content(suite: Suite, roles: Roles, *, flags: list[str]) -> dict[str, Any]:
    """Return the study; `flags` are the options of the command that makes it again."""
    tests = [
        # Shared seeds: an algorithm and its references meet the same random numbers, run by run.
        {**on_axis(test, roles), "seeds": "shared", "folder": str(Path.cwd())}
        for template in suite.tests
        for test in for_references(template, roles)
    ]
    for test in tests:
        test["scenario"] = grid.merged(suite.scenario, test["scenario"])
    judged, against = (
        listing([label_of(role.name) for role in roles_of_kind])
        for roles_of_kind in (roles.judged, roles.references)
    )
    return {
        **experiments.head(
            STEM,
            tests,
            command=[STEM, *(role.typed for role in roles.judged), *flags],
            title=f"{judged} by the criteria of {suite.title}",
            summary=f"{suite.summary}, against {against}",
        ),
        "quantity": [
            quantity
            for template in suite.quantities
            for quantity in for_references(template, roles)
        ],
        "claim": [
            _claim(clause, role, roles, number)
            for number, role in enumerate(roles.judged, start=1)
            for clause in suite.clauses
        ],
    }


def roles_of(study: Study) -> Roles:
    """Return the algorithms and the references of the study of a checklist."""
    judged: dict[str, None] = {}
    references: dict[str, None] = {}
    for claim in study.claims:
        check = cast("Reference", claim.checks[0])
        judged |= dict.fromkeys(grid.wanted_values(check.of, "algorithm"))
        references |= dict.fromkeys(grid.wanted_values(check.to, "algorithm"))
    one, other = (
        tuple(Role(name, name) for name in (value.replace("/", "@") for value in values))
        for values in (judged, references)
    )
    return Roles(one, other)


def clause_of(claim: Claim) -> str:
    """Return the id of the clause that a claim is about."""
    return claim.id[:_ID]


def _claim(clause: Clause, judged: Role, roles: Roles, number: int) -> dict[str, Any]:
    """Return a clause as a claim, whose checks are Dumbbell's own expectations."""
    further = f"{number:02}" if len(roles.judged) > 1 else ""
    return {
        "id": f"{clause.id}{further}",
        "source": clause.source,
        "text": f"{clause.title} ({clause.level}): “{clause.quote}”",
        "expectation": f"{clause.tests} The bounds are Dumbbell's.",
        "check": list(_checks(clause, judged, roles)),
    }


def _checks(clause: Clause, judged: Role, roles: Roles) -> Iterator[dict[str, Any]]:
    groups = {
        "of": {"algorithm": judged.value},
        "to": {"algorithm": [role.value for role in roles.references]},
    }
    for template in clause.checks:
        for check in for_references(template, roles):
            yield {"type": "reference", "statement": "expectation", **groups, **check}
