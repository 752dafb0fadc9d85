"""A scenario that runs in the simulator and on the real kernel."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from dumbbell.algorithms.catalogue import Algorithm
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve import ResolvedScenario

STACK: Final = "linux-6"
"""The stack profile that models the kernel of the testbed."""

_PACKET_BITS: Final = 12_000

HostSwitches = Callable[[str], Mapping[str, Any]]
"""Function from a stack's switches to those of the testbed's hosts in a scenario, given as JSON."""


class Case(ABC):
    """A scenario for both engines.

    Attributes
    ----------
    algorithms
        Those of its flows.
    seconds
        Length of the run.
    """

    algorithms: tuple[Algorithm, ...]
    seconds: int

    @property
    @abstractmethod
    def name(self) -> str:
        """Algorithms and path, in words; unique."""

    @property
    @abstractmethod
    def loses_alike(self) -> bool:
        """True if both engines lose the same packets at random where their seeds are equal."""

    @abstractmethod
    def network(self, hold_ns: int) -> dict[str, Any]:
        """Return the table of the network."""

    @abstractmethod
    def flow(self, number: int) -> dict[str, Any]:
        """Return the keys of a flow's table (numbered from 0) besides its algorithm."""

    def switches(self, number: int) -> dict[str, Any]:
        """Return what a flow asks of its stack."""
        return _switches(self.algorithms[number])

    @property
    def flows(self) -> str:
        """Its algorithms in words."""
        return " + ".join(algorithm.name for algorithm in self.algorithms)

    def table(self, hold_ns: int = 0) -> dict[str, Any]:
        """Return the scenario as its file would say it.

        Senders delay packets by up to `hold_ns` more; see `hosts`.
        """
        return {
            "title": self.name,
            "duration": f"{self.seconds}s",
            "stack": STACK,
            "network": self.network(hold_ns),
            "flow": list(self._flows()),
            "record": {"interval": "20ms", "events": ["congestion", "timeout"]},
        }

    def _flows(self) -> Iterator[dict[str, Any]]:
        for number, algorithm in enumerate(self.algorithms):
            switches = self.switches(number)
            yield {
                "algorithm": algorithm.name,
                "label": f"flow {number + 1}",
                **({"switches": switches} if switches else {}),
                **self.flow(number),
            }

    def resolve(
        self, repetition: int, hold_ns: int = 0, switches: HostSwitches | None = None
    ) -> ResolvedScenario:
        """Return what an engine runs; a repetition has the same seed in both.

        Its stacks have the `switches` of the testbed's hosts.
        """
        table = {**self.table(hold_ns), "seed": repetition}
        if switches is not None:
            host_switches = switches(self._resolved(table).json)
            table["stack"] = {"profile": STACK, "switches": dict(host_switches)}
        return self._resolved(table)

    def _resolved(self, table: Mapping[str, Any]) -> ResolvedScenario:
        own_algorithms = {
            algorithm.name: algorithm for algorithm in self.algorithms if algorithm.is_own
        }
        return Scenario.parse(table, self.name, own_algorithms).resolve()


def edge_jitter(rate_mbit: float, hold_ns: int) -> str:
    """Return a packet's time at the bottleneck, so that flows do not march in step, and a hold.

    Less than that leaves slow links in step (Floyd and Jacobson 1992): each engine is then caught
    in another cycle.
    """
    return f"{round(1000 * _PACKET_BITS / rate_mbit) + hold_ns}ns"


def between(times_s: Sequence[float]) -> dict[str, str]:
    """Return the table of a time drawn between two."""
    return dict(zip(("from", "to"), (f"{time_s:g}s" for time_s in times_s), strict=True))


def _switches(algorithm: Algorithm) -> dict[str, Any]:
    """Return what an algorithm needs of its stack."""
    # The kernel cannot keep to a rate of many Mbit/s with a timer for each packet, so paced
    # hosts leave segmentation to their devices, as all do outside of laboratories.
    return {"tso": True} if "pacing" in algorithm.flags else {}
