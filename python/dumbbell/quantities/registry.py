"""All quantities: each is one function, which `of_flows` or `of_queue` registers.

A quantity's name ends with its unit (`goodput_mbit_per_s`); one without a unit is a ratio, an index
or a count. The first sentence of the function's documentation is its description.
"""

from __future__ import annotations

import importlib
import inspect
import math
import pkgutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Final, TypeVar

import dumbbell.quantities
from dumbbell.algorithms.catalogue import OwnAlgorithms
from dumbbell.base.errors import InputError, unknown
from dumbbell.base.labels import Bounds
from dumbbell.contract.scenario import RecordConfig
from dumbbell.plan.settings import Settings
from dumbbell.quantities import short_names
from dumbbell.quantities.reference import Reference
from dumbbell.quantities.view import QueueView

FlowsFunction = TypeVar("FlowsFunction", bound=Callable[..., float | None])
QueueFunction = TypeVar("QueueFunction", bound=Callable[[QueueView], float | None])


LISTED: Final = "dumbbell list quantities"
"""The command that names all of them."""

Arguments = Callable[[OwnAlgorithms], Sequence[str]]


class Per(StrEnum):
    """Subjects that have a quantity."""

    FLOW = "flow"
    GROUP = "group"
    QUEUE = "queue"
    RUN = "run"


class Best(StrEnum):
    """The better end of a quantity."""

    HIGHEST = "highest"
    LOWEST = "lowest"


@dataclass(frozen=True)
class Recorded:
    """A recording that a quantity needs to have a value.

    Attributes
    ----------
    what
        Its name in messages.
    example
        The line to write in the scenario.
    is_in
        Returns True if a run records it.
    """

    what: str
    example: str
    is_in: Callable[[RecordConfig], bool]


DELAYS: Final = Recorded(
    "the delays of packets",
    'record = { delays = "1s" }',
    lambda record: record.delays_ns is not None,
)


MODES: Final = Recorded(
    "changes of the algorithms' modes",
    "record = { modes = true }",
    lambda record: record.modes,
)


@dataclass(frozen=True)
class Quantity:
    """A quantity.

    Attributes
    ----------
    name
        Its name, with the unit.
    what
        Its description, a sentence without the full stop.
    title
        Its title for people.
    unit
        Its unit; empty: it has none.
    per
        The subjects that have one.
    best
        The better end of it; None: neither.
    percent
        True if it is shown in per cent.
    settings
        The table of settings that it depends on.
    takes
        Description of its argument, behind a colon; empty: it takes none.
    arguments
        Its valid arguments, given the user-defined algorithms.
    compute
        Its value for a view of flows or of a queue, and what it takes; None: it has none.
    yes_or_no
        True if it is 1 where something happened, else 0, so that its mean is a share of runs.
    needs
        The recording that it needs; None: nothing in particular.
    whole_without
        True if it needs that of a part of a run only.
    of_datagrams
        True if it is one of datagrams, so that without a subject it is that of all of them.
    index
        True if it is an index from 0 to 1, which is shown as it is.
    signed
        True if it may be negative.
    """

    name: str
    what: str
    title: str
    unit: str
    per: tuple[Per, ...]
    best: Best | None
    percent: bool
    settings: type[Settings] | None
    takes: str
    arguments: Arguments
    compute: Callable[..., float | None]
    yes_or_no: bool = False
    needs: Recorded | None = None
    whole_without: bool = False
    of_datagrams: bool = False
    index: bool = False
    signed: bool = False

    def recording(self, window: str | None) -> Recorded | None:
        """Return the recording that it needs in a window."""
        return None if self.whole_without and window == "run" else self.needs

    @property
    def is_of_tcp(self) -> bool:
        """Whether without a subject it is that of all TCP flows that have samples."""
        return not self.of_queue and not self.of_datagrams

    @property
    def is_share(self) -> bool:
        """Whether it is never below 0 nor above 1."""
        return self.percent or self.yes_or_no or self.index

    @property
    def bounds(self) -> Bounds:
        """The least and the most that it can be, in its own unit."""
        return (-math.inf if self.signed else 0.0, 1.0 if self.is_share else math.inf)

    @property
    def shown_bounds(self) -> Bounds:
        """The same in the unit in which people see it."""
        lowest, highest = self.bounds
        return lowest * self.shown_scale, highest * self.shown_scale

    @property
    def of_queue(self) -> bool:
        """True if it is that of a queue, else of flows."""
        return Per.QUEUE in self.per

    @property
    def of_several(self) -> bool:
        """True if it has no value for a flow alone."""
        return not self.of_queue and Per.FLOW not in self.per

    @property
    def shown_unit(self) -> str:
        """The unit in which people see it."""
        return "%" if self.percent else self.unit

    @property
    def shown_scale(self) -> float:
        """The factor from its own unit to that one."""
        return 100.0 if self.percent else 1.0

    def check_argument(self, reference: Reference, own_algorithms: OwnAlgorithms) -> None:
        """Raise InputError unless a reference to it has a valid argument after its colon."""
        if not self.takes and reference.argument is not None:
            problem = f"{self.name} takes nothing behind a colon"
            raise InputError(problem, value=str(reference), valid=f'"{self.name}"')
        if not self.takes:
            return
        known = self.arguments(own_algorithms)
        if reference.argument is None:
            valid = f'for example "{self.name}:{known[0]}"'
            problem = f"{self.name} takes a {self.takes} behind a colon"
            raise InputError(problem, value=str(reference), valid=valid)
        if reference.argument not in known and all(
            algorithm.is_described for algorithm in own_algorithms.values()
        ):
            raise unknown(self.takes, reference.argument, known)


_REGISTERED: Final[dict[str, Quantity]] = {}


def _nothing(_: OwnAlgorithms) -> Sequence[str]:
    return ()


def of_flows(
    title: str,
    unit: str = "",
    *,
    best: Best | None = None,
    percent: bool = False,
    several: bool = False,
    settings: type[Settings] | None = None,
    takes: str = "",
    arguments: Arguments = _nothing,
    yes_or_no: bool = False,
    needs: Recorded | None = None,
    whole_without: bool = False,
    datagrams: bool = False,
    index: bool = False,
    signed: bool = False,
) -> Callable[[FlowsFunction], FlowsFunction]:
    """Register a quantity of flows; one of `several` has no value for a flow alone."""
    per = (Per.GROUP, Per.RUN) if several else (Per.FLOW, Per.GROUP, Per.RUN)

    def register(compute: FlowsFunction) -> FlowsFunction:
        name, what = _words(compute)
        shown = (title, unit, per, best, percent)
        kept = (settings, takes, arguments, compute, yes_or_no)
        registered = Quantity(
            *(name, what, *shown, *kept),
            needs=needs,
            whole_without=whole_without,
            of_datagrams=datagrams,
            index=index,
            signed=signed,
        )
        _add(registered)
        return compute

    return register


def of_queue(
    title: str,
    unit: str = "",
    *,
    best: Best | None = None,
    percent: bool = False,
    needs: Recorded | None = None,
) -> Callable[[QueueFunction], QueueFunction]:
    """Make a quantity of a queue known; that of a run is the bottleneck's."""

    def register(compute: QueueFunction) -> QueueFunction:
        name, what = _words(compute)
        shown = (title, unit, (Per.QUEUE, Per.RUN), best, percent)
        _add(Quantity(name, what, *shown, None, "", _nothing, compute, needs=needs))
        return compute

    return register


def _words(compute: Callable[..., float | None]) -> tuple[str, str]:
    """Return the name of a quantity and its description."""
    first = (inspect.getdoc(compute) or "").partition("\n\n")[0]
    return compute.__name__, " ".join(first.split()).removesuffix(".")


def _add(added: Quantity) -> None:
    assert added.name not in _REGISTERED, f"{added.name} is defined twice"
    _REGISTERED[added.name] = added


CHAPTERS: Final = (
    "rates",
    "delays",
    "losses",
    "cwnd",
    "queues",
    "fairness",
    "latency",
    "queries",
    "responsiveness",
    "datagrams",
    "packet_delays",
)
"""The most used quantities, by their modules; the others follow by their names."""


def _chapter(listed_quantity: Quantity) -> tuple[int, str]:
    module = listed_quantity.compute.__module__.rpartition(".")[2]
    return CHAPTERS.index(module) if module in CHAPTERS else len(CHAPTERS), module


@cache
def quantities() -> dict[str, Quantity]:
    """Return all quantities by their names, in the order of their chapters."""
    # A quantity registers itself when its module is imported, so that a new file is enough.
    for module in pkgutil.iter_modules(dumbbell.quantities.__path__):
        importlib.import_module(f"dumbbell.quantities.{module.name}")
    return dict(sorted(_REGISTERED.items(), key=lambda entry: _chapter(entry[1])))


def quantity(name: str, others: Iterable[str] = ()) -> Quantity:
    """Return a quantity; an unknown name is an InputError, which also offers `others`."""
    registered = quantities().get(name)
    # A near name would mislead here: the name is right, but it has no single number.
    if name in (*short_names.ONLY_SERIES, *short_names.ONLY_SERIES.values()):
        raise InputError("is a series, not a number", value=name, valid=f'series(run, "{name}")')
    if registered is None:
        raise unknown("quantity", name, [*others, *quantities()], LISTED)
    return registered
