"""Changes of a study: other values of an axis, or another value of a key of its scenarios."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from dumbbell.algorithms import catalogue
from dumbbell.base.errors import InputError, as_toml, listed, near
from dumbbell.base.keys import index_of
from dumbbell.experiments import sweeps
from dumbbell.plan import grid
from dumbbell.scenario import changes as altering
from dumbbell.scenario.changes import KEY, Change
from dumbbell.scenario.model import Scenario
from dumbbell.study.model import Study

_PLACEHOLDER: Final = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True)
class Changes:
    """Changes of a study.

    Attributes
    ----------
    axes
        Axis of the study -> its new values.
    keys
        Changes of keys of the scenarios.
    """

    axes: Mapping[str, Sequence[str]]
    keys: Sequence[Change]

    @classmethod
    def of(cls, study: Study, changes: Sequence[Change]) -> Changes:
        """Sort changes into those of axes and of keys; InputError for what the study has not."""
        known = list(dict.fromkeys(axis for test in study.tests for axis in test.axes))
        axes: dict[str, Sequence[str]] = {}
        keys = []
        for change in changes:
            if change.key in known:
                axes[change.key] = [catalogue.anywhere(value) for value in _values(change)]
            else:
                _check_key(study, change, known)
                keys.append(change)
        return cls(axes, keys)

    @property
    def in_words(self) -> list[str]:
        """Each in words: ``rtt = 42ms``."""
        axes = [f"{axis} = {', '.join(values)}" for axis, values in self.axes.items()]
        return [*axes, *(f"{change.key} = {_text(change.value)}" for change in self.keys)]

    def blamed(self, error: InputError) -> InputError:
        """Name the change where an error about a scenario of the fork comes from one."""
        others = [self.blamed(other) for other in error.others]
        _, mark, key = (error.key or "").rpartition(".set.")
        for change in self.keys:
            if mark and (key == change.key or key.startswith(f"{change.key}.")):
                return replace(error, source=None, key=f"{KEY}.{key}", line=None, others=others)
        for axis, values in self.axes.items():
            if error.value in values:
                return replace(error, source=None, key=f"{KEY}.{axis}", line=None, others=others)
        return replace(error, others=others)


def _values(change: Change) -> Sequence[str]:
    """Return the new values of an axis, as the study would spell them."""
    value = change.value
    key = f"{KEY}.{change.key}"
    texts = [_text(element) for element in (value if isinstance(value, list) else [value])]
    try:
        if change.key in sweeps.RANGES and len(texts) == 1 and sweeps.is_sweep(texts[0]):
            return sweeps.axis(change.key, texts[0]).values
    except InputError as error:
        raise replace(error, key=key) from None
    values = [part.strip() for text in texts for part in text.split(",")]
    if not all(values):
        raise InputError("a value is missing", key=key, value=value, valid=f"{change.key}=VALUE")
    if (again := grid.twice(values)) is not None:
        raise InputError("an axis has a value twice", key=key, value=again, valid="each once")
    return values


def _text(value: Any) -> str:
    return value if isinstance(value, str) else as_toml(value)


def _check_key(study: Study, change: Change, axes: Sequence[str]) -> None:
    """Refuse what is neither an axis of the study nor a key of scenarios."""
    first = change.key.partition(".")[0]
    keys = [field.alias or name for name, field in Scenario.model_fields.items()]
    if first not in keys or first == "seed":
        raise InputError(
            f"neither an axis of {study.path} nor a key of its scenarios",
            key=f"{KEY}.{change.key}",
            value=change.value,
            valid=f"axes: {listed(axes)}; keys as in scenario files, such as network.edge_queue",
            near=near(change.key, [*axes, *keys]),
        )


def layer(template: Mapping[str, Any], change: Change, study: Study) -> dict[str, Any]:
    """Return what has to be merged into a scenario, so that a key of it has another value.

    InputError if the scenario has no such place, or if an axis sets it.
    """
    after = altering.changed(template, [change])
    lost = list(dict.fromkeys(_placeholders(template)))
    lost = [axis for axis in lost if axis not in set(_placeholders(after))]
    if lost:
        raise InputError(
            f"is what the axis {lost[0]} of {study.path} sets",
            key=f"{KEY}.{change.key}",
            value=change.value,
            valid=f"{lost[0]}=VALUE",
        )
    merged: dict[str, Any] = _only(template, change.key.split("."), after)
    return merged


def _only(before: Any, path: Sequence[str], after: Any) -> Any:
    """Return of what is `after` a change that which differs; tables on the way stay tables."""
    if not path:
        return after
    first, *rest = path
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        return {first: _only(before.get(first), rest, after[first])}
    if grid.is_tables(before) and before:
        place = index_of(first, before)
        assert place is not None, "`changed` refuses other entries"
        return [*({} for _ in range(place)), _only(before[place], rest, after[place])]
    return after


def _placeholders(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield from _PLACEHOLDER.findall(value)
    elif isinstance(value, Mapping | list):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _placeholders(part)
