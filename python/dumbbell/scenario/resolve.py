"""From a checked scenario to the plain integers that an engine runs."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from dumbbell.algorithms import catalogue
from dumbbell.base.errors import InputError
from dumbbell.base.units import format_time
from dumbbell.contract.reading import read_scenario
from dumbbell.contract.scenario import Scenario as Contract
from dumbbell.scenario.hosts import clocked
from dumbbell.scenario.resolve_flows import own_sources, starts_ns
from dumbbell.scenario.resolve_network import resolve_network

if TYPE_CHECKING:
    from dumbbell.scenario.model import Scenario

_PIECE: Final = 1 << 20
"""Letters of a text that are hashed at a time."""

SAMPLES_MAX: Final = 20_000_000
"""Samples of flows and links in one run: about 2 GB of memory while it runs."""

HISTOGRAMS_MAX: Final = 200_000
"""Histograms of delays in one run, of some hundred buckets each."""


@dataclass(frozen=True)
class ResolvedScenario:
    """The input of an engine, and the key under which its result is stored.

    Attributes
    ----------
    json
        The scenario in base units, as canonical JSON: sorted keys, no spaces.
    identities
        The identities of its algorithms by their names, as canonical JSON.
    engine
        The identity of the engine that is to run it; see `engines.engine.Engine`.
    key
        SHA-256 of everything that determines the result: the scenario, and the identities of the
        engine, the schema and the algorithms.
    """

    json: str = field(repr=False)
    identities: str = field(repr=False)
    engine: str
    key: str

    @classmethod
    def of(cls, data: Mapping[str, Any], engine: str | None = None) -> ResolvedScenario:
        """Complete plain data by their key; unless an engine is named, the simulator runs them."""
        engine = catalogue.ENGINE_VERSION if engine is None else engine
        text = canonical_json(data)
        names = _algorithms(data["flows"])
        return cls.keyed(text, identities(names, data.get("sources", {})), engine)

    @classmethod
    def keyed(cls, text: str, identities: str, engine: str) -> ResolvedScenario:
        """Complete canonical JSON by its key."""
        pieces = (text[begin : begin + _PIECE].encode() for begin in range(0, len(text), _PIECE))
        return cls(text, identities, engine, key_of(pieces, identities, engine))

    @functools.cached_property
    def scenario(self) -> Contract:
        """The scenario as it is read from here on: typed, decoded at the first access."""
        return read_scenario(self.json)

    @functools.cached_property
    def duration_ns(self) -> int:
        """Length of the run in ns, which is read while it runs."""
        return self.scenario.duration_ns

    def forget(self) -> None:
        """Drop the decoded scenario until the next access: 100,000 flows take 160 MB."""
        self.__dict__.pop("scenario", None)

    def on(self, engine: str) -> ResolvedScenario:
        """Return the same scenario for the engine of this identity: its result is another one."""
        if engine == self.engine:
            return self
        return self.keyed(self.json, self.identities, engine)

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ResolvedScenario) and other.key == self.key


_CANONICAL: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)


def canonical_json(value: Any) -> str:
    """Render JSON in the one form that is hashed."""
    return _CANONICAL.encode(value)


def _array(values: Iterable[Any]) -> str:
    """Render an array value by value: as a whole it would take more room, and be deaf to Ctrl-C."""
    return "[" + ",".join(map(canonical_json, values)) + "]"


def _object(values: Mapping[str, str]) -> str:
    """Render an object whose values are canonical JSON already."""
    return "{" + ",".join(f'"{key}":{values[key]}' for key in sorted(values)) + "}"


def identities(names: Iterable[str], sources: Mapping[str, str]) -> str:
    """Return the identities of algorithms by name, as canonical JSON."""
    by_name = {name: catalogue.described(name, sources.get(name)).identity for name in names}
    return canonical_json(by_name)


def key_of(scenario: Iterable[bytes], identities: str, engine: str) -> str:
    """Return the key of a scenario whose canonical JSON comes in pieces.

    The text of many thousands of flows need not be there once more.
    """
    digest = hashlib.sha256(f'{{"algorithms":{identities},"engine":{_name(engine)}'.encode())
    digest.update(b',"scenario":')
    for piece in scenario:
        digest.update(piece)
    digest.update(f',"schema":{_name(catalogue.schema().version)}}}'.encode())
    return digest.hexdigest()


def _algorithms(flows: Iterable[Mapping[str, Any]]) -> set[str]:
    """Return the algorithms of flows in base units."""
    connections = (flow["transport"].get("tcp") for flow in flows)
    return {tcp["algorithm"] for tcp in connections if tcp is not None}


_name: Final = functools.cache(canonical_json)
"""Renders what thousands of runs have in common: engines and versions."""


def _around_start(flow: Mapping[str, Any]) -> tuple[str, str]:
    """Render a flow without its start: the JSON before the start, and the JSON after it."""
    before = canonical_json({key: flow[key] for key in flow if key < "start_ns"})
    after = canonical_json({key: flow[key] for key in flow if key > "start_ns"})
    return f'{before[:-1]},"start_ns":', f",{after[1:]}"


class Resolution:
    """A checked scenario in base units: put together once, for all seeds that it is run with.

    Another seed changes only the starts of flows and the arriving flows, so only these are drawn
    and rendered as JSON again.
    """

    def __init__(self, scenario: Scenario) -> None:
        self._seed = scenario.seed
        self._network = _Network(scenario, scenario.seed)
        self._sources, delays_ns = own_sources(scenario), scenario.record.delays
        self._record = {
            "interval_ns": scenario.record.interval,
            "events": sorted(set(scenario.record.events)),
            "algorithm_state": scenario.record.algorithm_state,
            # Left out where there is none, as sources are.
            **({} if delays_ns is None else {"delays_ns": delays_ns}),
            **({"modes": True} if scenario.record.modes else {}),
        }

    @functools.cached_property
    def _flow_texts(self) -> list[tuple[str, str]]:
        """Each flow as JSON: the text before its start, and the text after it."""
        return [_around_start(flow) for flow in self._network.flows]

    def drawn(self, scenario: Scenario, seed: int, *, capture: bool) -> ResolvedScenario:
        """Return what an engine runs with a seed; `scenario` is the one that this is made of."""
        network = self._network
        if seed != self._seed and scenario.arrivals:
            network = _Network(scenario, seed)
        texts = {
            "seed": str(seed),
            "duration_ns": str(scenario.duration),
            "record": canonical_json({**self._record, "capture": capture}),
            # Left out where there are none: that keeps the keys of runs that were stored without.
            **({"sources": canonical_json(self._sources)} if self._sources else {}),
        }
        # Starts and clocks alone are drawn again below, and the rest of the text is reused.
        if seed == self._seed or scenario.arrivals:
            texts |= network.texts
        else:
            texts["flows"] = self._flows_text(starts_ns(scenario, seed))
            texts["links"] = self._links_text(scenario, seed)
        identities_of_run = identities(network.algorithms, self._sources)
        return ResolvedScenario.keyed(_object(texts), identities_of_run, catalogue.ENGINE_VERSION)

    def _links_text(self, scenario: Scenario, seed: int) -> str:
        if scenario.network.edge_rate is None:
            return self._network.texts["links"]
        return _array(clocked(self._network.links, scenario.network, seed))

    def _flows_text(self, starts: Sequence[int]) -> str:
        flows = zip(self._flow_texts, starts, strict=True)
        return "[" + ",".join(f"{before}{start}{after}" for (before, after), start in flows) + "]"


class _Network:
    """Links and flows in base units; `seed` draws the flows.

    As JSON, what is drawn again for another seed: as plain data, 100,000 flows and their access
    links would take several times that. Everything else stays plain, to be changed for a seed.
    """

    def __init__(self, scenario: Scenario, seed: int) -> None:
        links, flows = resolve_network(scenario, seed)
        self.algorithms: set[str] = set()
        self._sampled_links = self._sampled_flows = 0
        links = self._counted_links(clocked(links, scenario.network, seed))
        flows = self._counted_flows(flows)
        if scenario.arrivals:
            self.texts = {"links": _array(links), "flows": _array(flows)}
        else:
            self.links, self.flows = list(links), list(flows)
        _check_samples(scenario, self._sampled_links + self._sampled_flows)
        _check_delays(scenario, self._sampled_links * (self._sampled_flows + 1))

    def _counted_links(self, links: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        for link in links:
            self._sampled_links += link["sampled"]
            yield link

    def _counted_flows(self, flows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        for flow in flows:
            self._sampled_flows += flow["sampled"]
            self.algorithms |= _algorithms([flow])
            yield flow

    @functools.cached_property
    def texts(self) -> Mapping[str, str]:
        """Both as JSON."""
        return {"links": _array(self.links), "flows": _array(self.flows)}


def _check_samples(scenario: Scenario, sampled: int) -> None:
    interval_ns = scenario.record.interval
    if interval_ns is not None and scenario.duration // interval_ns * sampled > SAMPLES_MAX:
        shortest_ns = scenario.duration * sampled // SAMPLES_MAX + 1
        raise InputError(
            f"more than {SAMPLES_MAX} samples in one run",
            key="record.interval",
            value=format_time(interval_ns),
            valid=f'at least {format_time(shortest_ns)}, or "none"',
        )


def _check_delays(scenario: Scenario, told_apart: int) -> None:
    """Raise InputError where there would be too many histograms."""
    length_ns = scenario.record.delays
    if length_ns is not None and -(-scenario.duration // length_ns) * told_apart > HISTOGRAMS_MAX:
        shortest_ns = scenario.duration * told_apart // HISTOGRAMS_MAX + 1
        raise InputError(
            f"more than {HISTOGRAMS_MAX} histograms of delays in one run",
            key="record.delays",
            value=format_time(length_ns),
            valid=f'at least {format_time(shortest_ns)}, fewer flows with samples, or "none"',
        )
