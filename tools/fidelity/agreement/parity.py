"""Parity: each callback of each algorithm in the kernel, replayed natively, byte for byte."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from dumbbell.algorithms.catalogue import Algorithm
from dumbbell.conformance import kernel
from dumbbell.conformance.kernel import Replay
from fidelity.agreement.scenarios import SETUP_S, ChosenCase, Path

CALLBACKS_WANTED: Final = 100_000

ROUNDS_MAX: Final = 8

FLOWS_FIRST: Final = 2
FLOWS_LATER: Final = 8
"""Once it is known that few flows are not enough: TCP-LP leaves the link to all others."""

PATH: Final = Path(**vars(kernel.PATH))

SECONDS: Final = 15

RUN_S: Final = SECONDS + SETUP_S
"""About what an algorithm takes: one run is usually enough."""


@dataclass(frozen=True)
class Parity:
    """Result of replaying the callbacks of one algorithm.

    Attributes
    ----------
    algorithm
        Its name.
    callbacks, lost_records
        Number of replayed callbacks, and of those that the kernel could not record.
    mismatches
        Number of callbacks with another result natively.
    first
        The first of those.
    error
        Reason why it could not run.
    """

    algorithm: str
    callbacks: int = 0
    lost_records: int = 0
    mismatches: int = 0
    first: str = ""
    error: str = ""

    @property
    def passed(self) -> bool:
        """True if enough callbacks were replayed and all were equal."""
        return not (self.error or self.mismatches) and self.callbacks >= CALLBACKS_WANTED

    @property
    def remark(self) -> str:
        """The fault, in words."""
        if self.error or self.mismatches:
            return self.error or self.first
        return "" if self.passed else f"fewer than {CALLBACKS_WANTED:,} callbacks"

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {**vars(self), "passed": self.passed}


def check(
    algorithms: Iterable[Algorithm],
    replay: Replay,
    on_algorithm: Callable[[str], None] | None = None,
) -> list[Parity]:
    """Replay algorithm by algorithm, with new seeds until there are enough callbacks."""
    parities = []
    for algorithm in algorithms:
        if on_algorithm is not None:
            on_algorithm(algorithm.name)
        parities.append(_of(algorithm, replay))
    return parities


def _of(algorithm: Algorithm, replay: Replay) -> Parity:
    callbacks = lost = differing = 0
    first = ""
    for seed in range(1, ROUNDS_MAX + 1):
        if differing or callbacks >= CALLBACKS_WANTED:
            break
        flows = FLOWS_FIRST if seed == 1 else FLOWS_LATER
        case = ChosenCase((algorithm,) * flows, PATH, True, SECONDS)
        try:
            reports = replay(case.resolve(seed).json)
        except Exception as error:  # the other algorithms go on, whatever went wrong here
            return Parity(algorithm.name, callbacks, lost, error=str(error) or type(error).__name__)
        for report in reports:
            callbacks += sum(report["callbacks"].values())
            lost += report["lost_records"]
            differing += report["differing"]
            first = first or "".join(report["mismatches"][:1])
    return Parity(algorithm.name, callbacks, lost, differing, first)
