"""Scenarios drawn at random, for what nobody thought of.

The chosen scenarios have been looked at so often that the simulator may fit them. So others are
drawn, by a seed that is another one each time: paths, queues, losses and flows of the kind that a
researcher compares algorithms on.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from dumbbell.algorithms import catalogue
from dumbbell.algorithms.catalogue import Algorithm
from dumbbell.scenario.disciplines import MODELS
from dumbbell.theory import formulas
from fidelity.agreement.case import Case, between, edge_jitter

SECONDS: Final = 12

RATES_MBIT: Final = (2.0, 250.0)
RTTS_MS: Final = (2.0, 200.0)
BUFFERS_BDP: Final = (0.15, 3.0)
LOSSES: Final = (1e-5, 5e-3)
"""Drawn evenly in logarithms."""

QUEUE_MIN_PACKETS: Final = 8
FLOWS_MAX: Final = 3
LOSSY: Final = 0.4
REQUESTS: Final = 0.15
"""Shares of scenarios with random loss, and of later flows that send requests."""

DISCIPLINES: Final = {model.names()[0]: model for model in MODELS.values() if model.title}
"""Those whose models have a title."""

COUNTED: Final = 0.5
"""Share of scenarios in which the ACKs of flows that need marks count them (Accurate ECN)."""

START_S: Final = 2.0
"""Later flows start within this time."""

HANDSHAKE: Final = 0.5
"""Share of scenarios of several flows in which a later flow's handshake waits in the queue."""

REQUEST_BYTES: Final = (10_000, 100_000, 1_000_000)

LAGGING: Final = 0.2
"""Share of bulk flows whose receiving application reads at a rate."""

READ_SHARES: Final = (0.3, 1.5)
"""That rate as a multiple of the flow's equal share of the link, drawn evenly in logarithms."""

READ_KIB: Final = (16, 128)
"""Most that an application reads at once."""


@dataclass(frozen=True)
class Reader:
    """A receiving application that lags.

    Attributes
    ----------
    rate_mbit
        What it reads on average at most.
    block_kib
        What it reads at once at most.
    """

    rate_mbit: float
    block_kib: int


@dataclass(frozen=True)
class DrawnCase(Case):
    """A scenario drawn at random.

    Attributes
    ----------
    rate_mbit, rtt_ms
        The bottleneck's rate and the two-way propagation time.
    discipline, packets
        The bottleneck's queue, and what it holds at most.
    loss
        Probability of a random loss; 0: none.
    requests
        Bytes of the requests of each flow; 0: it sends without end.
    counts
        True if the ACKs of flows that need marks count them (Accurate ECN).
    readers
        The receiving application of each flow; None: it reads at once.
    handshake
        True if the handshakes of later flows wait in the queue.
    """

    algorithms: tuple[Algorithm, ...]
    rate_mbit: float
    rtt_ms: float
    discipline: str
    packets: int
    loss: float
    requests: tuple[int, ...]
    counts: bool
    readers: tuple[Reader | None, ...]
    handshake: bool
    seconds: int = SECONDS

    @property
    def name(self) -> str:
        """Algorithms and path, in words; as good as unique."""
        flows = " + ".join(self._flow_name(number) for number in range(len(self.algorithms)))
        path = f"{self.rate_mbit:g} Mbit/s, {self.rtt_ms:g} ms"
        queue = f"{DISCIPLINES[self.discipline].title} of {self.packets} packets"
        loss = f", loss {self.loss:g}" if self.loss else ""
        counted = ", marks counted" if any(map(self._counts, self.algorithms)) else ""
        handshake = ", with handshakes" if self.handshake else ""
        return f"{flows}, {path}, {queue}{loss}{counted}{handshake}"

    def _flow_name(self, number: int) -> str:
        name, reader = self.algorithms[number].name, self.readers[number]
        if size := self.requests[number]:
            return f"{name} ({size // 1000} kB requests)"
        if reader is None:
            return name
        return f"{name} (reads {reader.block_kib} KiB at {reader.rate_mbit:g} Mbit/s)"

    def _counts(self, algorithm: Algorithm) -> bool:
        return self.counts and algorithm.needs_ecn

    def switches(self, number: int) -> dict[str, Any]:
        """Return what a flow asks of its stack."""
        # Hosts of the testbed count marks without the option.
        counted = {"accecn": True, "accecn_option": "never"}
        return {
            **super().switches(number),
            **(counted if self._counts(self.algorithms[number]) else {}),
            **({"handshake": True} if self.handshake and number else {}),
        }

    @property
    def loses_alike(self) -> bool:
        """True if both engines lose the same packets at random where their seeds are equal."""
        return self.loss > 0 or DISCIPLINES[self.discipline].drops_by_chance

    def network(self, hold_ns: int) -> dict[str, Any]:
        """Return the table of the network."""
        return {
            "rate": f"{self.rate_mbit:g}mbit",
            "rtt": f"{self.rtt_ms:g}ms",
            "queue": self._queue(),
            "edge_jitter": edge_jitter(self.rate_mbit, hold_ns),
            "loss": [{"place": "receiver", "probability": self.loss}] if self.loss else [],
        }

    def _queue(self) -> dict[str, Any]:
        queue = {"discipline": self.discipline, "limit": f"{self.packets}p"}
        if not any(algorithm.needs_ecn for algorithm in self.algorithms):
            return queue
        if self.discipline == "fifo":
            threshold = f"{max(2, self.packets // 3)}p"
            return {**queue, "discipline": "step", "threshold": threshold}
        switch = "ecn" in DISCIPLINES[self.discipline].parameters()
        return {**queue, "ecn": True} if switch else queue

    def flow(self, number: int) -> dict[str, Any]:
        """Return when a flow starts, what it sends and how its receiver reads."""
        keys: dict[str, Any] = {"start": between((0.0, START_S))} if number else {}
        reader = self.readers[number]
        if self.requests[number]:
            keys["workload"] = {"kind": "rpc", "bytes": self.requests[number]}
        elif reader is not None:
            keys["read_rate"] = f"{reader.rate_mbit:g}mbit"
            keys["read_bytes"] = f"{reader.block_kib}kib"
        return keys


@dataclass(frozen=True)
class Draw:
    """Scenarios with the seed that drew them."""

    seed: int
    cases: tuple[Case, ...] = ()


def draw(count: int, seed: int, algorithms: Iterable[Algorithm] | None = None) -> list[DrawnCase]:
    """Draw scenarios, by default of all algorithms of the catalogue."""
    known = tuple(catalogue.algorithms().values() if algorithms is None else algorithms)
    random = Random(seed)
    return [_draw(random, known) for _ in range(count)]


def _draw(random: Random, known: tuple[Algorithm, ...]) -> DrawnCase:
    rate_mbit, rtt_ms = (round(_log_uniform(random, ends), 1) for ends in (RATES_MBIT, RTTS_MS))
    bdp = formulas.bdp_packets(rate_mbit, rtt_ms)
    flows = random.randint(1, FLOWS_MAX)
    requests = tuple(
        random.choice(REQUEST_BYTES) if number and random.random() < REQUESTS else 0
        for number in range(flows)
    )
    return DrawnCase(
        tuple(random.choice(known) for _ in range(flows)),
        rate_mbit,
        rtt_ms,
        random.choice(tuple(DISCIPLINES)),
        max(QUEUE_MIN_PACKETS, round(_log_uniform(random, BUFFERS_BDP) * bdp)),
        float(f"{_log_uniform(random, LOSSES):.1g}") if random.random() < LOSSY else 0.0,
        requests,
        random.random() < COUNTED,
        tuple(None if size else _draw_reader(random, rate_mbit / flows) for size in requests),
        flows > 1 and random.random() < HANDSHAKE,
    )


def _draw_reader(random: Random, share_mbit: float) -> Reader | None:
    """Draw whether and how an application lags whose flow has `share_mbit` of the link."""
    if random.random() >= LAGGING:
        return None
    rate_mbit = share_mbit * _log_uniform(random, READ_SHARES)
    return Reader(float(f"{rate_mbit:.3g}"), random.choice(READ_KIB))


def _log_uniform(random: Random, ends: tuple[float, float]) -> float:
    low, high = ends
    return low * math.exp(random.random() * math.log(high / low))
