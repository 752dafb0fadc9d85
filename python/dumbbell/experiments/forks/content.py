"""The study of a fork: the tests that change, with their figures and claims.

The tests carry all that the study has in common for them, so that the name of a fork, which ends
with the digest of its tests, depends on everything that is run.

A claim becomes one of the fork. Its checks are expectations, so that nothing counts for or against
the authors, who have not looked at the fork.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from dumbbell.base.errors import InputError
from dumbbell.base.labels import listing
from dumbbell.base.validation import validate
from dumbbell.experiments.forks import change as changing
from dumbbell.experiments.forks import following
from dumbbell.experiments.forks.change import Changes
from dumbbell.experiments.forks.following import GoneError
from dumbbell.plan import grid
from dumbbell.plan.tests import Test
from dumbbell.results import experiments
from dumbbell.scenario.changes import Change
from dumbbell.study import part as parts
from dumbbell.study.model import Study

_COMMON: Final = ("settings", "quantity", "window")
_WITHOUT_RUNS: Final = ("arithmetic", "parameters")
_OF_THE_AUTHORS: Final = ("stated", "stated_low", "stated_high")
_PRUNED: Final = re.compile(r"(figure|claim|quantity|window)\.(\d+)\b")


@dataclass(frozen=True)
class Fork:
    """A fork of a study.

    Attributes
    ----------
    content
        The study of it.
    changes
        Its changes.
    left_out
        The parts of the study that it has not, and the reasons, in sentences.
    """

    content: dict[str, Any]
    changes: Changes
    left_out: tuple[str, ...]

    @property
    def study(self) -> Study:
        """The study of it, before it is kept anywhere."""
        return validate(Study, self.content, self.content["study"]["name"])


def fork(study: Study, made: Sequence[Change], name: str | None = None) -> Fork:
    """Return a fork of a study or of a part of it.

    Parameters
    ----------
    study
        The study.
    made
        The changes.
    name
        Beginning of its name; None: that of the study, with the changes.

    Raises
    ------
    InputError
        If a change is of something that the study has not.
    """
    changes = Changes.of(study, made)
    tables = study.tables()
    notes: list[str] = []
    tests = list(_tests(study, tables, changes, notes))
    kept = {test["name"] for test in tests}
    figures = list(_figures(tables["figure"], kept, changes, study.name, notes))
    claims = list(_claims(tables["claim"], kept, changes, study.name, notes))
    if study.is_part:
        used = set(_used([*figures, *claims]))
        tests = [test for test in tests if test["name"] in used] or tests
    change, of = listing(changes.in_words), study.called.strip("'")
    words = [option for made_change in made for option in ("--set", str(made_change))]
    words += [] if name is None else ["--name", name]
    content: dict[str, Any] = {
        **experiments.head(
            experiments.stem(name or f"{of.rpartition('/')[2]} {' '.join(map(str, made))}"),
            tests,
            command=["run", of, *words],
            title=f"{study.header.title}, with {change}",
            summary=f"A fork of {of}: {change}",
        ),
        **{key: tables[key] for key in _COMMON if key in tables},
        "figure": figures,
        "claim": claims,
    }
    content["study"] |= {
        "reference": list(study.header.reference),
        "fork_of": _anywhere(study, of),
        "changes": list(map(str, made)),
    }
    _prune(content, notes)
    names = [test["name"] for test in content["test"]]
    gone = [test.name for test in study.tests if test.name not in names]
    notes = [note for note in notes if note.partition(":")[0] not in gone]
    if gone:
        notes.append(f"left out, as nothing of the fork needs them: {listing(gone)}")
    return Fork(content, changes, tuple(notes))


def _anywhere(study: Study, of: str) -> str:
    """Return how the original is called in any folder."""
    name, wanted = parts.split(of)
    return of if name == study.name else parts.joined(str(Path(name).absolute()), wanted)


def _used(tables: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the tests that figures and claims name."""
    for table in tables:
        yield from (table[key] for key in ("section", "test") if key in table)
        yield from _used([*table.get("panel", ()), *table.get("check", ())])


def _tests(
    study: Study, tables: Mapping[str, Any], changes: Changes, notes: list[str]
) -> Iterator[dict[str, Any]]:
    """Yield the tests that change, each with all that the study has in common for it."""
    used: set[str] = set()
    refused: dict[str, InputError] = {}
    for test, table in zip(study.tests, tables["test"], strict=True):
        layers = [*_layers(test, table, tables)]
        template: Mapping[str, Any] = {}
        for _, layer in layers:
            template = grid.merged(template, layer)
        further = []
        for change in changes.keys:
            try:
                further.append(changing.layer(template, change, study))
            except InputError as error:
                refused[change.key] = error
            else:
                used.add(change.key)
        changed = {axis: list(values) for axis, values in changes.axes.items() if axis in test.axes}
        if further or changed:
            yield _test(table, layers, changed, further, notes)
    for key, refusal in refused.items():
        if key not in used:
            raise refusal


Layered = tuple[Mapping[str, Any], Mapping[str, Any]]
"""Where a table is merged into a scenario, and the table."""


def _layers(test: Test, table: Mapping[str, Any], tables: Mapping[str, Any]) -> Iterator[Layered]:
    """Yield what the scenario of a test is made of; see `expanding.Plan`."""
    yield {}, tables.get("scenario", {})
    for vary in tables.get("vary", ()):
        where = dict(vary["where"])
        if test.name in grid.wanted_values({"test": where.pop("test", test.name)}, "test"):
            yield where, vary["set"]
    yield {}, table.get("scenario", {})
    for vary in table.get("vary", ()):
        yield vary["where"], vary["set"]


def _test(
    table: Mapping[str, Any],
    layers: Sequence[Layered],
    changed: Mapping[str, list[str]],
    further: Sequence[Mapping[str, Any]],
    notes: list[str],
) -> dict[str, Any]:
    axes = {axis: changed.get(axis, values) for axis, values in table["axes"].items()}
    first, *rest = _there(layers, table["name"], axes, table["axes"], notes)
    scenario = grid.merged(first[1], {})
    while rest and not rest[0][0]:
        scenario = grid.merged(scenario, rest.pop(0)[1])
    rest += [({}, layer) for layer in further]
    quick = dict(table.get("quick", {}))
    if "where" in quick:
        quick["where"] = _quick(quick["where"], changed, axes)
    if quick.get("set"):
        for layer in further:
            quick["set"] = grid.merged(quick["set"], layer)
    left_out = [following.kept(selection, axes) for selection in table.get("without", ())]
    others = {
        "vary": [{"where": where, "set": layer} for where, layer in rest],
        "quick": quick,
        "without": [selection for selection in left_out if selection is not None],
    }
    whole = {**table, "axes": axes, "scenario": scenario}
    whole = {key: value for key, value in whole.items() if key not in others}
    return {**whole, **{key: value for key, value in others.items() if value}}


def _there(
    layers: Sequence[Layered],
    test: str,
    axes: Mapping[str, Sequence[str]],
    before: Mapping[str, Sequence[str]],
    notes: list[str],
) -> Iterator[Layered]:
    """Yield the layers of grid points that are still there, and note those that are gone."""
    for where, layer in layers:
        if not where.keys() <= axes.keys():
            continue
        selection = following.kept(where, axes)
        if selection is not None:
            yield selection, layer
        elif following.kept(where, before) is not None:
            at = ", ".join(f"{axis} = {_one(value)}" for axis, value in where.items())
            notes.append(f"{test}: what the study sets at {at} is not set in the fork")


def _one(value: Any) -> str:
    return value if isinstance(value, str) else " or ".join(value)


def _quick(
    where: Mapping[str, Any], changed: Mapping[str, list[str]], axes: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    """Return the grid points of quick runs: of an axis that has none of its values, all."""
    points: dict[str, Any] = {}
    for axis, value in where.items():
        try:
            followed = following.followed({axis: value}, changed)
        except GoneError:
            continue
        points |= following.kept(followed, axes) or {}
    return points


def _figures(
    tables: Sequence[Mapping[str, Any]],
    tests: set[str],
    changes: Changes,
    of: str,
    notes: list[str],
) -> Iterator[dict[str, Any]]:
    change = listing(changes.in_words)
    for table in tables:
        shown = {part.get("test") for part in (table, *table.get("panel", ())) if "test" in part}
        if not {*shown, table["section"]} <= tests:
            continue
        try:
            figure = following.follow(table, changes.axes)
        except GoneError as gone:
            notes.append(f"{table['name']} is left out: the fork has no {gone}")
            continue
        # The authors' numbers and words are of their own setting; the original shows them.
        figure.pop("authors", None)
        if "panel" in figure and not figure["panel"]:
            notes.append(f"{table['name']} is left out: the fork has none of its runs")
            continue
        if "panel" in figure:
            figure["panel"] = _panels(figure["panel"], change)
        yield {
            **figure,
            "title": f"{table['name']} of {of} with {change}",
            "caption": f"As in the original, but with {change}.",
        }


def _panels(panels: Sequence[Mapping[str, Any]], change: str) -> list[dict[str, Any]]:
    """Return panels with titles of what they show: one for each grid point, each once."""
    by_title: dict[str, dict[str, Any]] = {}
    for panel in panels:
        where = panel["where"]
        for values in itertools.product(*(grid.wanted_values(where, axis) for axis in where)):
            point = dict(zip(where, values, strict=True))
            title = ", ".join(f"{axis} {value}" for axis, value in point.items()) or change
            by_title.setdefault(title, {**panel, "where": point, "title": title})
    return list(by_title.values())


def _claims(
    tables: Sequence[Mapping[str, Any]],
    tests: set[str],
    changes: Changes,
    of: str,
    notes: list[str],
) -> Iterator[dict[str, Any]]:
    change = listing(changes.in_words)
    for table in tables:
        checks = [check for check in table["check"] if check["type"] not in _WITHOUT_RUNS]
        if not checks or not {check.get("test") for check in checks} <= tests:
            continue
        why = next((why for check in checks if (why := _compares(check, changes.axes))), "")
        try:
            followed = [following.follow(check, changes.axes) for check in checks]
        except GoneError as gone:
            why, followed = why or f"the fork has no {gone}", []
        if why:
            notes.append(f"{table['id']} is left out: {why}")
            continue
        yield {
            "id": table["id"],
            "source": f"fork of {of}, {table['source']}",
            "text": f"With {change}, what the authors state for theirs: “{table['text']}”",
            "expectation": f"of the fork, of which the authors say nothing: {table['expectation']}",
            **({"holds_if": table["holds_if"]} if "holds_if" in table else {}),
            "check": [_check(check) for check in followed],
        }


def _check(table: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in table.items() if key not in _OF_THE_AUTHORS}
    return {**kept, "statement": "expectation"}


def _compares(check: Mapping[str, Any], changed: following.Values) -> str:
    """Return why a check, which compares values of a changed axis, has no meaning; or nothing."""
    for axis, values in changed.items():
        groups = [check[key] for key in following.GROUPS if axis in check.get(key, {})]
        if any(following.kept({axis: group[axis]}, {axis: values}) is None for group in groups):
            return f"it compares values of {axis} that the fork has not"
        if check.get("axis") == axis and len(values) < 2:
            return f"it compares values of {axis}, of which the fork has one"
    return ""


def _prune(content: dict[str, Any], notes: list[str]) -> None:
    """Leave out what the tests of the fork do not allow, and note each figure and claim."""
    while True:
        try:
            validate(Study, content, content["study"]["name"])
        except InputError as error:
            place = _PRUNED.match(error.key or "")
            if place is None:
                raise
            kind, number = place[1], int(place[2]) - 1
            gone = content[kind].pop(number)
            if kind in ("figure", "claim"):
                notes.append(f"{gone.get('name') or gone['id']} is left out: {error.problem}")
        else:
            return
