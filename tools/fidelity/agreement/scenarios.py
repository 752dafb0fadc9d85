"""The scenarios in which simulator and kernel are compared, generated from the catalogue.

Each round below gives every algorithm one scenario; rounds follow one another for as long as the
time on the real kernel lasts, the first three always. Each of the troubles comes on top. A new
algorithm is in the set by being in the catalogue. Of the paths, an algorithm gets those on which
a run has enough cycles of it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from dumbbell.algorithms import catalogue
from dumbbell.algorithms.catalogue import Algorithm
from dumbbell.conformance import lone_flow
from dumbbell.theory import fluid, formulas
from fidelity.agreement import cycles, troubles
from fidelity.agreement.case import Case, between, edge_jitter
from fidelity.agreement.troubles import Trouble

REPETITIONS: Final = 3
"""On the real kernel, which runs in real time and one at a time."""

REPETITIONS_UNDECIDED: Final = (6, 12, 24)
"""On the real kernel, of a scenario that fewer do not decide, one after the other."""

REPETITIONS_SIMULATED: Final = 10

REAL_TIME_S: Final = 1000
"""Longest time of the set on the real kernel, in seconds."""

REAL_TIME_UNDECIDED_S: Final = 600
"""Longest time of further repetitions of undecided scenarios, in seconds."""

SETUP_S: Final = 1.5
"""Time of a run besides its duration, in seconds: namespaces, programs, connections."""

DURATIONS_S: Final = (8, 10)
"""Shortest and longest run; how long depends on the number of algorithms."""

ROUNDS_ALWAYS: Final = 3

CYCLES_MIN: Final = 4
"""Reductions of the window in a run, of each flow."""

SECOND_START_S: Final = (0.5, 1.0)
"""When the second flow of a pair starts: after the first one's slow start."""


@dataclass(frozen=True)
class Path(lone_flow.Path):
    """A bottleneck whose name and whose shares are known."""

    def shared_by(self, flows: int) -> fluid.Path:
        """Return what one of some flows has of it."""
        bdp = formulas.bdp_packets(self.rate_mbit, self.rtt_ms)
        return fluid.Path(bdp / flows, self.rtt_ms / 1000, self.buffer_bdp)

    def __str__(self) -> str:
        """Say it as the names of scenarios do."""
        return f"{self.rate_mbit} Mbit/s, {self.rtt_ms} ms, {self.buffer_bdp:g} BDP"


PATHS: Final = (
    Path(10, 40, 1.0, 5e-3),
    Path(50, 20, 1.0, 2e-3),
    Path(100, 10, 0.5, 1e-3),
    Path(10, 160, 0.5, 3e-3),
    Path(100, 40, 0.5, 5e-4),
    Path(500, 10, 0.25, 2e-4),
    Path(200, 80, 0.25, 2e-4),
    Path(500, 40, 0.2, 1e-4),
    Path(500, 160, 0.1, 5e-5),
)
"""From small bandwidth-delay products to large ones."""


TROUBLED_PATH: Final = Path(troubles.RATE_MBIT, 40, 1.0, 0.0)


@dataclass(frozen=True)
class ChosenCase(Case):
    """A scenario of the set.

    Attributes
    ----------
    path, loss
        Where its flows run, and whether packets are lost at random.
    trouble
        Further impairment of packets.
    """

    algorithms: tuple[Algorithm, ...]
    path: Path
    loss: bool
    seconds: int
    trouble: Trouble | None = None

    @property
    def name(self) -> str:
        """Algorithms and path, in words; unique."""
        loss = f", loss {self.path.loss:g}" if self.loss else ""
        return f"{self.flows}, {self.path}{loss}" + (
            f", {self.trouble.name}" if self.trouble else ""
        )

    @property
    def loses_alike(self) -> bool:
        """True if both engines lose the same packets at random where their seeds are equal."""
        return self.loss or (self.trouble is not None and "loss" in self.trouble.network)

    def network(self, hold_ns: int) -> dict[str, Any]:
        """Return the table of the network."""
        path = self.path
        ecn = any(algorithm.needs_ecn for algorithm in self.algorithms)
        limit = f"{path.buffer_bdp:g}bdp"
        return {
            "rate": f"{path.rate_mbit}mbit",
            "rtt": f"{path.rtt_ms}ms",
            # A third of the buffer is well above the bursts that ECN must not answer.
            "queue": {
                "discipline": "step",
                "limit": limit,
                "threshold": f"{path.buffer_bdp / 3:.3f}bdp",
            }
            if ecn
            else limit,
            "edge_jitter": edge_jitter(path.rate_mbit, hold_ns),
            "loss": [{"place": "receiver", "probability": path.loss}] if self.loss else [],
            **(self.trouble.network if self.trouble else {}),
        }

    def flow(self, number: int) -> dict[str, Any]:
        """Return the keys of a flow's table besides its algorithm: its start."""
        return {"start": between(SECOND_START_S)} if number else {}


def all_cases(algorithms: Iterable[Algorithm] | None = None) -> tuple[ChosenCase, ...]:
    """Return the set, by default of all algorithms of the catalogue."""
    known = list(catalogue.algorithms().values() if algorithms is None else algorithms)
    seconds = _run_seconds(len(known))
    most = int(REAL_TIME_S / (seconds + SETUP_S) / REPETITIONS)
    cases: dict[str, ChosenCase] = {}
    for number, dealing in enumerate(_ROUNDS):
        for algorithm in known:
            if number < ROUNDS_ALWAYS or len(cases) < most:
                case = dealing.deal(algorithm, known, seconds)
                cases.setdefault(case.name, case)
    return (*cases.values(), *_troubled(known, seconds))


def _troubled(known: Sequence[Algorithm], seconds: int) -> Iterator[ChosenCase]:
    algorithms = {algorithm.name: algorithm for algorithm in known}
    for trouble in troubles.TROUBLES:
        if trouble.algorithm in algorithms:
            flows = (algorithms[trouble.algorithm],)
            yield ChosenCase(flows, TROUBLED_PATH, False, seconds, trouble)


def _run_seconds(algorithms: int) -> int:
    """Return the length of runs with which the first rounds fit into the time."""
    per_run_s = REAL_TIME_S / (ROUNDS_ALWAYS * REPETITIONS * max(1, algorithms))
    shortest, longest = DURATIONS_S
    return max(shortest, min(longest, int(per_run_s - SETUP_S)))


def real_time_s(cases: Sequence[Case], repetitions: float = REPETITIONS) -> float:
    """Return about how long some scenarios take on the real kernel."""
    return repetitions * sum(case.seconds + SETUP_S for case in cases)


_QUICK: Final = (("reno", False), ("cubic", True), ("reno + cubic", False))
"""Flows, and whether with loss; of each the first scenario."""


def quick(cases: Sequence[ChosenCase]) -> list[ChosenCase]:
    """Return the short set."""
    first = {(case.flows, case.loss): case for case in reversed(cases)}
    return [first[kind] for kind in _QUICK if kind in first]


def named(cases: Sequence[Case], text: str | None) -> list[Case]:
    """Return the scenarios whose name has a text in it, in any case."""
    return [case for case in cases if (text or "").lower() in case.name.lower()]


@dataclass(frozen=True)
class _Round:
    """A scenario for each algorithm: alone, with another one or with itself, with loss or without.

    `place` chooses among the fitting paths: the largest, or by lot the first or the second.
    """

    partner: str | None
    loss: bool
    place: int | None = None

    def deal(self, algorithm: Algorithm, known: Sequence[Algorithm], seconds: int) -> ChosenCase:
        flows = (algorithm, *self._partners(algorithm, known))
        fitting = [
            path
            for path in PATHS
            if all(_fits(flow, path, self.loss, seconds, len(flows)) for flow in flows)
        ] or [PATHS[0]]
        if self.place is not None:
            fitting.sort(key=lambda path: _lot(path, flows, self.loss))
        place = -1 if self.place is None else self.place % len(fitting)
        return ChosenCase(flows, fitting[place], self.loss, seconds)

    def _partners(self, algorithm: Algorithm, known: Sequence[Algorithm]) -> tuple[Algorithm, ...]:
        if self.partner is None:
            return ()
        return (next((other for other in known if other.name == self.partner), algorithm),)


_ITSELF: Final = ""

_ROUNDS: Final = (
    _Round(None, loss=False),
    _Round(None, loss=True, place=0),
    _Round("cubic", loss=False, place=0),
    _Round(_ITSELF, loss=True, place=0),
    _Round(None, loss=False, place=0),
    _Round("cubic", loss=True, place=0),
    _Round(_ITSELF, loss=False, place=1),
    _Round(None, loss=True, place=1),
)


def _lot(path: Path, flows: Sequence[Algorithm], loss: bool) -> bytes:
    """Draw from names alone, so that a new algorithm or path moves no other scenario."""
    names = " ".join(algorithm.name for algorithm in flows)
    return hashlib.sha256(f"{names} {path} {loss}".encode()).digest()


def _fits(algorithm: Algorithm, path: Path, loss: bool, seconds: int, flows: int) -> bool:
    """Return True if a run has enough cycles of one of some flows."""
    share = path.shared_by(flows)
    cycle_s = (
        cycles.between_losses_s(algorithm, share, path.loss)
        if loss
        else cycles.between_overflows_s(algorithm, share)
    )
    return CYCLES_MIN * cycle_s <= seconds
