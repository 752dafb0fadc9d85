"""Names in claims and figures, and the check that a study has them.

Annotations of fields, such as `AxisName`, say what they name; `uses` yields each name of a check or
a figure as a `Use`. A `Vocabulary`, made of the tests of a study, refuses wrong ones.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Final, TypeVar

from pydantic import BaseModel

from dumbbell.algorithms import catalogue
from dumbbell.base.errors import InputError, placed, unknown
from dumbbell.base.keys import numbered
from dumbbell.contract import scenario as contract
from dumbbell.plan import grid
from dumbbell.plan.expanding import Plan, Point
from dumbbell.plan.grid import Selection
from dumbbell.plan.tests import Test
from dumbbell.plan.windows import BUILT_IN, At, Event, Instant, Part, Step, Window
from dumbbell.quantities import placing, planned, series
from dumbbell.quantities.derived import Derived
from dumbbell.quantities.planned import Planned
from dumbbell.quantities.reference import Reference, parse
from dumbbell.quantities.registry import LISTED, Per, Recorded, quantities, quantity
from dumbbell.quantities.subjects import named, names
from dumbbell.quantities.tables import number_columns
from dumbbell.scenario import facts
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.tables import Abbreviable
from dumbbell.theory import curves, formulas

Candidate = TypeVar("Candidate")

_NUMBERS_SHOWN: Final = 20
"""Numbers of flows that an error message lists."""


class What(StrEnum):
    """Kind of thing that a name refers to."""

    TEST = "test"
    AXIS = "axis"
    VALUE = "value"
    SELECTION = "selection"
    POINTS = "points"
    NUMBERS = "numbers"
    QUANTITY = "quantity"
    COLUMN = "column"
    SERIES = "series"
    FORMULA = "formula"
    CURVE = "curve"
    PRESET = "preset"


@dataclass(frozen=True)
class Use:
    """A place of a table of the study that names something.

    Attributes
    ----------
    key
        The place, inside the table: ``y.field``.
    what
        Kind of the thing that is named. A column is a quantity or the number of an axis
        (``rtt_ms``). A value is one of an axis, as the pair of both. Points are a selection within
        another one, numbers those of an axis (``rtt_ms``). A preset is ``htcp@li2007`` with the
        names of parameters.
    name
        The name; of a selection the selection.
    test
        The test of which it is; None where that does not matter.
    """

    key: str
    what: What
    name: Any
    test: str | None = None


@dataclass(frozen=True)
class Names:
    """Annotates a field of a claim's check or a figure: what it names, in the test of its table."""

    what: What


TestName = Annotated[str, Names(What.TEST)]
AxisName = Annotated[str, Names(What.AXIS)]
QuantityName = Annotated[str, Names(What.QUANTITY)]
ColumnName = Annotated[str, Names(What.COLUMN)]
SeriesName = Annotated[str, Names(What.SERIES)]
FormulaName = Annotated[str, Names(What.FORMULA)]
CurveName = Annotated[str, Names(What.CURVE)]
Chosen = Annotated[Selection, Names(What.SELECTION)]
OptionalAxis = Annotated[str | None, Names(What.AXIS)]
OptionalQuantity = Annotated[str | None, Names(What.QUANTITY)]


def uses(table: BaseModel, test: str | None = None, within: str = "") -> Iterator[Use]:
    """Yield what the annotated fields of a table and of the tables in it name.

    A table without a `test` refers to that of the table around it.
    """
    test = getattr(table, "test", test)
    for name, field in type(table).model_fields.items():
        value, key = getattr(table, name), within
        if not isinstance(table, Abbreviable):
            key = f"{within}.{field.alias or name}".lstrip(".")
        inner = numbered(key, value) if isinstance(value, tuple) else [(key, value)]
        for place, entry in inner:
            if isinstance(entry, BaseModel):
                yield from uses(entry, test, place)
        for mark in field.metadata if value is not None else ():
            if isinstance(mark, Names):
                yield Use(key, mark.what, value, None if mark.what is What.TEST else test)


class Vocabulary:
    """All that the claims and figures of a study may name.

    Parameters
    ----------
    plan
        The tests of the study.
    derived
        The quantities that the study derives.
    """

    def __init__(self, plan: Plan, derived: Sequence[Derived] = ()) -> None:
        self.plan = plan
        self.derived = {quantity_of_study.name: quantity_of_study for quantity_of_study in derived}
        self._known: dict[str, list[tuple[Planned, ...]]] = {}
        self._known_points: dict[str, list[Point]] = {}

    def check(self, use: Use) -> None:
        """Raise InputError, with the place inside the table, unless the name is right."""
        try:
            self._CHECKS[use.what](self, use)
        except InputError as error:
            raise error.at(key=use.key) from None

    def check_derived(self, derived: Derived) -> None:
        """Raise InputError unless a derived quantity is one of at least one test."""
        if derived.name in quantities():
            raise InputError(
                "Dumbbell has a quantity of this name",
                key="name",
                value=derived.name,
                valid="another name",
            )
        _in_some(self.plan.tests, functools.partial(self._derived, derived))

    def check_windows(self, test: Test) -> None:
        """Raise InputError unless what the windows of a test refer to is in it."""
        with placed(key="measure"):
            self._window(test, test.measure)
        for key, window in numbered("window", test.windows):
            with placed(key=key):
                self._window(test, window)

    def check_common_windows(self) -> None:
        """Raise InputError unless what a window of all tests refers to is in one of them."""
        for key, window in numbered("window", self.plan.windows):
            with placed(key=key):
                _in_some(self.plan.tests, functools.partial(self._window, window=window))

    def _window(self, test: Test, window: Window) -> None:
        for end, instant in (("from", window.begin), ("to", window.end)):
            with placed(key=end):
                self._instant(test, instant)

    def _instant(self, test: Test, instant: Instant | None) -> None:
        match instant:
            case Event(_, name, _):
                self._subject(test, name)
            case Step():
                _in_some(self._scenarios(test), lambda scenario: placing.step_ns(scenario, instant))
            case None | At() | Part():
                pass

    def _test(self, use: Use) -> Test:
        return self.plan.test(use.test if use.test is not None else use.name)

    def _check_axis(self, use: Use) -> None:
        test = self._test(use)
        if use.name not in test.axes:
            raise unknown(f"axis of the test {test.name}", use.name, test.axes)

    def _check_value(self, use: Use) -> None:
        axis, value = use.name
        grid.check({axis: value}, self._test(use).axes)

    def _check_selection(self, use: Use) -> None:
        selection: Selection = use.name
        grid.check(selection, self._test(use).axes)

    def _check_points(self, use: Use) -> None:
        within, shown = use.name
        test = self._test(use)
        grid.check(within, test.axes)
        for point in test.grid_points:
            if grid.matches(point, within) and grid.matches(point, shown):
                return
        raise InputError(
            "chooses no grid point of the figure",
            value=dict(within),
            valid=f"what the figure shows: {dict(shown)}" if shown else "an existing combination",
        )

    def _check_numbers(self, use: Use) -> None:
        known = number_columns(self._test(use)).values()
        if use.name not in known:
            raise InputError(
                "what the authors state has no place along it",
                value=use.name,
                valid=f"the numbers of an axis: {', '.join(known)}",
            )

    def _check_column(self, use: Use) -> None:
        test = self._test(use)
        numbers = list(number_columns(test).values())
        if use.name in numbers:
            return
        try:
            self._check_quantity(use)
        except InputError as error:
            # A column may also be a number of an axis, so the error offers these, too.
            if error.problem.startswith("unknown quantity"):
                known = [*numbers, *self.derived, *quantities()]
                raise unknown("quantity or number of an axis", use.name, known, LISTED) from None
            raise

    def _check_quantity(self, use: Use) -> None:
        test = self._test(use)
        if use.name not in self.derived:
            self._reference(parse(use.name), test)
            return
        try:
            self._derived(self.derived[use.name], test)
        except InputError as error:
            raise InputError(
                f"is not derived in the test {test.name}: {error}",
                value=use.name,
                valid="a quantity that the test has",
            ) from None

    def _derived(self, derived: Derived, test: Test) -> None:
        for key, operand in numbered(derived.way, derived.operands):
            with placed(key=key):
                with placed(key="quantity"):
                    reference = parse(operand.quantity)
                    self._reference(reference, test)
                    if derived.way == "harm" and quantity(reference.name).best is None:
                        raise InputError(
                            "it has no better end, so it cannot be harmed",
                            value=operand.quantity,
                            valid="a quantity with a better end, such as goodput_mbit_per_s",
                        )
                with placed(key="at"):
                    grid.check(operand.at, test.axes)

    def _reference(self, reference: Reference, test: Test) -> None:
        registered = self._named(reference.name)
        registered.check_argument(reference, test.own_algorithms)
        windows = [*self.plan.windows_of(test), *(name for name in BUILT_IN if name != "main")]
        if reference.window is not None and reference.window not in windows:
            raise unknown(f"window of the test {test.name}", reference.window, windows)
        needs = registered.recording(reference.window)
        if needs is not None:
            self._recorded(test, reference, needs)
        if reference.subject is None:
            return
        if registered.of_queue:
            self._queue(test, reference.subject)
        else:
            several = self._subject(test, reference.subject)
            if Per.FLOW not in registered.per and not several:
                raise InputError(
                    f"{registered.name} has no value for a single flow",
                    value=str(reference),
                    valid="a group, or none",
                )

    def _recorded(self, test: Test, reference: Reference, needs: Recorded) -> None:
        def check(scenario: contract.Scenario) -> None:
            if not needs.is_in(scenario.record):
                raise InputError(
                    f"needs {needs.what}, which the test {test.name} does not record",
                    value=str(reference),
                    valid=f"in its scenario {needs.example}",
                )

        _in_some(self._scenarios(test), check)

    def _named(self, name: str) -> Any:
        try:
            return quantity(name)
        except InputError:
            raise unknown("quantity", name, [*self.derived, *quantities()], LISTED) from None

    def _queue(self, test: Test, name: str) -> None:
        def check(scenario: contract.Scenario) -> None:
            links = [link.name for link in facts.sampled_links(scenario)]
            if name not in links:
                raise unknown(f"queue of the test {test.name}", name, links)

        _in_some(self._scenarios(test), check)

    def _scenarios(self, test: Test) -> Iterator[contract.Scenario]:
        """Yield the scenarios of a test, one for each network.

        Those that are wrong themselves are left out: `Plan.runs` refuses them.
        """
        seen: set[str] = set()
        for point in self._points(test):
            # Only the network counts here, and expanding thousands of grid points takes seconds.
            network = json.dumps(point.scenario.get("network"), default=str, sort_keys=True)
            if network in seen:
                continue
            seen.add(network)
            with suppress(InputError):
                scenario = Scenario.parse(point.scenario, own_algorithms=test.own_algorithms)
                yield scenario.resolve().scenario

    def _subject(self, test: Test, name: str) -> bool:
        """Return True if a name means several flows; raise InputError if it means none."""
        flows_by_scenario = [named(flows, name) for flows in self._flows(test)]
        several = max(map(len, flows_by_scenario), default=0)
        if not several:
            flows = max(self._flows(test), key=len, default=())
            valid = [*names(flows), *(str(flow.number) for flow in flows[:_NUMBERS_SHOWN])]
            raise unknown(f"flow or group of the test {test.name}", name, valid)
        return several > 1

    def _flows(self, test: Test) -> list[tuple[Planned, ...]]:
        """Return the flows of a test's scenarios; flows that many grid points share, once."""
        if test.name not in self._known:
            flows_by_point = (planned.flows_of(point.scenario) for point in self._points(test))
            self._known[test.name] = list(dict.fromkeys(flows_by_point))
        return self._known[test.name]

    def _points(self, test: Test) -> list[Point]:
        """Return the grid points of a test, which are put together once."""
        if test.name not in self._known_points:
            self._known_points[test.name] = self.plan.points(test)
        return self._known_points[test.name]

    def _check_preset(self, use: Use) -> None:
        choice, names = use.name
        algorithm, _ = catalogue.split_preset(choice)
        for name in names:
            known = [parameter.name for parameter in algorithm.parameters]
            if name not in known and algorithm.is_described:
                raise unknown(f"parameter of {algorithm.name}", name, known)

    def _check_curve(self, use: Use) -> None:
        for column in curves.curve(use.name).columns:
            test = self._test(use)
            if column in test.axes:
                continue
            try:
                self._check_column(Use("", What.COLUMN, column, test.name))
            except InputError:
                raise InputError(
                    f"the curve {use.name} needs {column}: the test {test.name} has none",
                    value=use.name,
                    valid="a curve that goes with the axes of the test",
                ) from None

    _CHECKS: Final[Mapping[What, Callable[[Vocabulary, Use], object]]] = {
        What.TEST: _test,
        What.AXIS: _check_axis,
        What.VALUE: _check_value,
        What.SELECTION: _check_selection,
        What.POINTS: _check_points,
        What.NUMBERS: _check_numbers,
        What.QUANTITY: _check_quantity,
        What.COLUMN: _check_column,
        What.FORMULA: lambda _, use: formulas.check(use.name),
        What.CURVE: _check_curve,
        What.SERIES: lambda _, use: series.named(use.name),
        What.PRESET: _check_preset,
    }


def _in_some(candidates: Iterable[Candidate], check: Callable[[Candidate], object]) -> None:
    """Raise the first InputError of a check unless one of several passes it, or there are none."""
    problem: InputError | None = None
    for candidate in candidates:
        try:
            check(candidate)
        except InputError as error:
            problem = problem or error
        else:
            return
    if problem is not None:
        raise problem
