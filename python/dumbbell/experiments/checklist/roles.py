"""The algorithms that are judged, and their references."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dumbbell.algorithms.catalogue import Algorithm
from dumbbell.experiments.suites.roles import Role, read


@dataclass(frozen=True)
class Roles:
    """The judged algorithms and their references; an algorithm may be both."""

    judged: tuple[Role, ...]
    references: tuple[Role, ...]

    @property
    def all(self) -> tuple[Role, ...]:
        """Each algorithm once, the judged ones first."""
        return tuple(dict.fromkeys((*self.judged, *self.references)))

    def of(self, judged: Role) -> Roles:
        """Return a single judged algorithm with its references."""
        return Roles((judged,), self.references)


def roles(algorithms: Sequence[str], against: Sequence[str]) -> Roles:
    """Read algorithms and their references; what is none is an InputError."""
    own_algorithms: dict[str, Algorithm] = {}
    judged = read(algorithms, "algorithm", "cubic", own_algorithms)
    return Roles(judged, read(against, "against", "reno,cubic", own_algorithms))


def filled(template: Any, values: dict[str, str]) -> Any:
    """Replace the placeholders of these names in the texts of a template; others stay."""
    if isinstance(template, str):
        for name, value in values.items():
            # `str.format` would refuse the placeholders of axes, which stay.
            template = template.replace(f"{{{name}}}", value)
        return template
    if isinstance(template, dict):
        return {key: filled(value, values) for key, value in template.items()}
    if isinstance(template, list):
        return [filled(value, values) for value in template]
    return template


def for_references(template: dict[str, Any], roles: Roles) -> list[dict[str, Any]]:
    """Return a template once, or for each reference if it names one."""
    each_of = [
        filled(
            template,
            {
                "reference": role.typed,
                "reference_value": role.value,
                "reference_name": role.name,
                "id": role.id,
            },
        )
        for role in roles.references
    ]
    return [template] if each_of[0] == template else each_of


def on_axis(test: dict[str, Any], roles: Roles) -> dict[str, Any]:
    """Return a test with all algorithms on its axis; of a preset its scenario is written out."""
    axes = {
        axis: [role.axis for role in roles.all] if values == "{algorithms}" else values
        for axis, values in test["axes"].items()
    }
    presets = [
        {
            "where": {"algorithm": role.value},
            "set": filled(_with_algorithm(test["scenario"]), {"algorithm": role.typed}),
        }
        for role in roles.all
        if role.has_preset
    ]
    return {**test, "axes": axes, "vary": [*presets, *test.get("vary", [])]}


def _with_algorithm(scenario: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of a scenario that name the algorithm."""
    return {key: value for key, value in scenario.items() if "{algorithm}" in str(value)}
