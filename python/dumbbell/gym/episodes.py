"""Episodes on many paths at once, which all environments have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from dumbbell import _core
from dumbbell.algorithms import apart
from dumbbell.base.arguments import wrong
from dumbbell.base.errors import InputError
from dumbbell.engines.engine import core_errors, never_returns
from dumbbell.gym.measured import FIELDS, Measured
from dumbbell.gym.settings import Settings
from dumbbell.gym.sources import Source
from dumbbell.scenario.resolve import ResolvedScenario

TIME_IS_OVER: Final = 1
ALL_IS_SENT: Final = 2
OVER: Final = "there is no episode, or it is over"
NO_ARRAY: Final = np.array(None)
"""What stands for lists of different lengths, which no array has."""

_SEEDS: Final = 2**63


class Episodes:
    """Places that have a path each, and an episode that goes on.

    Attributes
    ----------
    observations
        Of shape (places, learners, history, fields).
    measured
        The measurements of the last step, of shape (places, learners, `FIELDS`).
    progress
        Of each place 0, or why its episode is over.
    """

    def __init__(self, source: Source, settings: Settings, places: int, threads: int = 1) -> None:
        self.source = source
        self.settings = settings
        learners = len(source.learners)
        shape = (settings.history, len(settings.observe))
        self.observations = np.zeros((places, learners, *shape), np.float32)
        self.measured = np.zeros((places, learners, len(FIELDS)))
        self.progress = np.zeros(places, np.uint8)
        self.skip = np.zeros(places, np.uint8)
        self._actions = np.zeros((places, learners, len(settings.dials.names)))
        self._units = settings.dials.units
        self._threads = threads
        self._numbers = [-1] * places
        self._core: Any = self._made()

    def clear(self) -> None:
        """Drop the paths with their episodes, and the memory that the engine has for them."""
        self._core = None
        self._numbers = [-1] * len(self._numbers)

    def _made(self) -> _core.Environments:
        with core_errors("simulator"):
            terms = self.settings.terms(self.source.learners)
            return _core.Environments(terms, len(self._numbers), apart.STALLED_S)

    def begin(
        self, place: int, random: np.random.Generator, options: dict[str, Any] | None
    ) -> dict[str, Any]:
        """Begin an episode, on a path that is drawn unless the options name it."""
        number = self._path(options)
        drawn = int(random.integers(len(self.source))), int(random.integers(_SEEDS))
        number = drawn[0] if number is None else number
        resolved = self.source.resolved(number)
        self.source.rehearse(number)
        if self._core is None:
            self._core = self._made()
        with core_errors("simulator"):
            if self._numbers[place] != number:
                self._numbers[place] = -1
                self._core.put(place, resolved.json)
                self._numbers[place] = number
            try:
                self._core.reset(place, drawn[1], self.observations[place], self.measured[place])
            except _core.Stalled as stalled:
                raise never_returns(resolved, *stalled.args[1:]) from None
        self.progress[place] = 0
        return {"path": self.source.name(number)}

    def step(self, actions: Any) -> None:
        """Let every place take a step that is not to be skipped; InputError for a wrong action."""
        given = np.asarray(actions)
        if given.dtype.kind not in "fiu" or given.shape != self._actions.shape:
            self._refuse(given)
        np.multiply(given, self._units, out=self._actions)
        try:
            self._core.step(
                self._actions,
                self.skip,
                self.observations,
                self.measured,
                self.progress,
                self._threads,
            )
        except _core.ActionError as error:
            place, learner, dial, value = error.args
            raise self._wrong(place, learner, dial, value) from None
        except _core.Stalled as stalled:
            place, algorithm, hook = stalled.args
            raise never_returns(self.scenarios[place], algorithm, hook) from None
        except BaseException:
            # Not around the call: a context costs as much as a step.
            with core_errors("simulator"):
                raise

    def rewards(self) -> Any:
        """Return the worth of the last step, of shape (places, learners)."""
        worth = _numbers(self.settings.reward(Measured(self.measured, self._baselines)))
        if worth.shape != self.measured.shape[:2]:
            raise InputError(
                f"returns an array of shape {worth.shape} for numbers of shape "
                f"{self.measured.shape[:2]}",
                key="reward",
                valid="a function that takes and returns arrays entry by entry",
            )
        if not np.isfinite(worth).all():
            raise InputError("returns no finite number", key="reward")
        return worth

    def reward(self) -> float:
        """Return the worth of the last step to the only learner in the only place."""
        worth = self.settings.reward(Measured(self.measured[0, 0], self._baseline))
        if not isinstance(worth, float):
            given = _numbers(worth)
            if given.size != 1:
                raise InputError(
                    "returns no single number", key="reward", value=given.tolist(),
                    valid="a function that returns a number",
                )  # fmt: skip
            worth = float(given.item())
        if not -np.inf < worth < np.inf:
            raise InputError("returns no finite number", key="reward", value=worth)
        return worth

    @property
    def scenarios(self) -> list[ResolvedScenario]:
        """The path of each place."""
        return [self.source.resolved(number) for number in self._numbers]

    def summary(self, place: int) -> str | None:
        """Return the summary of an episode that is over by its time, once."""
        output = None if self._core is None else self._core.finish(place)
        return None if output is None else output.summary

    def copied(self, places: Any, learners: Any) -> Measured:
        """Return the measurements of the last step as they are now."""
        return Measured(
            self.measured[places, learners].copy(),
            lambda: self._baselines()[places, learners],
        )

    def _baseline(self) -> float:
        return self.source.baseline_mbit_per_s(self._numbers[0])

    def _baselines(self) -> Any:
        by_place = [self.source.baseline_mbit_per_s(number) for number in self._numbers]
        return np.repeat(np.array(by_place)[:, np.newaxis], self.measured.shape[1], axis=1)

    def _path(self, options: dict[str, Any] | None) -> int | None:
        given = checked(options)
        for name in given:
            if name != "path":
                raise InputError("no such option", key="options", value=name, valid='"path"')
        number = given.get("path")
        if number is None:
            return None
        if not isinstance(number, int | np.integer) or not 0 <= number < len(self.source):
            valid = f"0 to {len(self.source) - 1}"
            raise InputError("no path", key="options.path", value=number, valid=valid)
        return int(number)

    def _refuse(self, given: Any) -> None:
        names = ", ".join(self.settings.dials.names)
        raise InputError(
            f"has the shape {given.shape} and the type {given.dtype}",
            key="action",
            valid=f"floats in the shape {self._actions.shape[-1:]} for each learner: {names}",
        )

    def _wrong(self, place: int, learner: int, dial: int, value: float) -> InputError:
        who = f"[{place}]" if len(self.skip) > 1 else ""
        if self._actions.shape[1] > 1:
            who += f"[{self.source.labels()[learner]}]"
        return self.settings.dials.refused(dial, float(value / self._units[dial]), who)


def checked(options: object) -> Mapping[str, Any]:
    """Return the options of a reset; InputError if they are no dictionary."""
    if options is None:
        return {}
    if isinstance(options, Mapping):
        return options
    raise wrong("options", options, "not options by names", 'a dictionary such as {"path": 3}')


def _numbers(worth: Any) -> Any:
    """Return what a reward returned as an array; InputError if it is no number."""
    try:
        given = np.asarray(worth)
    except ValueError:  # lists of different lengths
        given = np.array(None)
    if given.dtype.kind not in "fiub":
        raise InputError(
            "returns no number", key="reward", value=str(worth),
            valid="a function that returns a number",
        )  # fmt: skip
    return given
