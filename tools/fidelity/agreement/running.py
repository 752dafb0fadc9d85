"""Everything that is compared on the testbed: with the simulator, with the kernel's own modules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dumbbell.engines.engine import SimulatorEngine
from dumbbell.store.store import Store
from fidelity.agreement import deciding, hosts, parity, scenarios
from fidelity.agreement.case import Case
from fidelity.agreement.collecting import Side
from fidelity.agreement.deciding import OnProgress
from fidelity.agreement.drawn import Draw
from fidelity.agreement.judging import Agreement
from fidelity.agreement.measures import DRAWN_MEASURES
from fidelity.agreement.parity import Parity
from fidelity.agreement.scenarios import (
    REPETITIONS,
    REPETITIONS_SIMULATED,
    REPETITIONS_UNDECIDED,
)
from fidelity.agreement.testbed import Bed

KERNEL = "kernel"
SIMULATOR = "simulator"
OWN_BUILD = "our build"
MODULE = "kernel's module"


@dataclass(frozen=True)
class Validation:
    """The result of validation on the testbed.

    Attributes
    ----------
    agreement
        Simulator and kernel.
    modules
        Our builds and the kernel's own modules, where there are both; none: not compared.
    parity
        Callbacks replayed.
    drawn, draw_seed
        Simulator and kernel in scenarios drawn at random, if any were, and the seed that drew them.
    """

    agreement: Agreement
    modules: Agreement | None
    parity: tuple[Parity, ...]
    drawn: Agreement | None = None
    draw_seed: int = 0

    @property
    def first(self) -> Agreement:
        """Simulator and kernel in whichever scenarios there are."""
        return self.drawn if self.drawn and not self.agreement.judged else self.agreement

    @property
    def passed(self) -> bool:
        """True if nothing is outside without an explanation."""
        return (
            self.agreement.passed
            and (self.modules is None or self.modules.passed)
            and (self.drawn is None or self.drawn.passed)
            and all(replayed.passed for replayed in self.parity)
        )

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "agreement": self.agreement.as_dict(),
            "modules": self.modules.as_dict() if self.modules else None,
            "parity": [replayed.as_dict() for replayed in self.parity],
            "drawn": {"seed": self.draw_seed, **self.drawn.as_dict()} if self.drawn else None,
        }


def validate(
    cases: Sequence[Case],
    bed: Bed,
    store: Store,
    jobs: int = 1,
    on_progress: OnProgress | None = None,
    *,
    modules: bool = True,
    drawn: Draw | None = None,
    on_algorithm: Callable[[str], None] | None = None,
    further_s: float = scenarios.REAL_TIME_UNDECIDED_S,
) -> Validation:
    """Compare on the testbed whatever the scenarios concern; finished runs are used again.

    Undecided scenarios run again for at most `further_s` seconds of real time.

    Without `modules` the kernel's own are left out. Scenarios drawn at random are compared with
    separate bands.
    """
    simulator = Side(
        SIMULATOR,
        SimulatorEngine(),
        REPETITIONS_SIMULATED,
        jobs,
        hold_ns=hosts.HOLD_NS,
        switches=bed.switches,
    )
    kernel = Side(
        KERNEL, bed.engine(False), REPETITIONS, repetitions_undecided=REPETITIONS_UNDECIDED
    )
    algorithms = {algorithm.name: algorithm for case in cases for algorithm in case.algorithms}
    return Validation(
        deciding.measure(cases, kernel, simulator, store, on_progress, further_s=further_s),
        _modules(cases, bed, store, on_progress) if modules else None,
        tuple(parity.check(algorithms.values(), bed.replay, on_algorithm)),
        deciding.measure(
            drawn.cases,
            kernel,
            simulator,
            store,
            on_progress,
            measures=DRAWN_MEASURES,
            further_s=further_s,
        )
        if drawn
        else None,
        drawn.seed if drawn else 0,
    )


def _modules(
    cases: Sequence[Case], bed: Bed, store: Store, on_progress: OnProgress | None
) -> Agreement:
    """Compare the two builds of what the kernel has itself."""
    both = _built_twice(cases, bed)
    own_build = Side(OWN_BUILD, bed.engine(False), REPETITIONS)
    module = Side(MODULE, bed.engine(True), REPETITIONS)
    return deciding.measure(both, module, own_build, store, on_progress)


def _built_twice(cases: Sequence[Case], bed: Bed) -> list[Case]:
    """Return the scenarios of what the kernel has itself; flows alone will do."""
    alone = (case for case in cases if len(case.algorithms) == 1)
    return [case for case in alone if case.algorithms[0].name in bed.built_in]


def real_time_s(
    cases: Sequence[Case],
    bed: Bed,
    *,
    modules: bool = True,
    drawn: Sequence[Case] = (),
    further_s: float = scenarios.REAL_TIME_UNDECIDED_S,
) -> float:
    """Return how long all of it takes at most, about, if nothing is there yet."""
    twice = _built_twice(cases, bed) if modules else []
    algorithms = {algorithm.name for case in cases for algorithm in case.algorithms}
    return (
        scenarios.real_time_s([*cases, *twice, *drawn])
        + _undecided_s(cases, further_s)
        + _undecided_s(drawn, further_s)
        + len(algorithms) * parity.RUN_S
    )


def _undecided_s(cases: Sequence[Case], further_s: float) -> float:
    return min(scenarios.real_time_s(cases, REPETITIONS_UNDECIDED[-1] - REPETITIONS), further_s)
