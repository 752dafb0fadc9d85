"""From the flows of a file to single flows: their names, their times, what they send."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dumbbell.algorithms import catalogue
from dumbbell.base.errors import InputError, placed
from dumbbell.base.keys import numbered
from dumbbell.base.units import format_rate, format_time
from dumbbell.scenario import draws, facts
from dumbbell.scenario.arrivals import arrivals
from dumbbell.scenario.model_flows import (
    ACCECN_BYTES,
    ALL_FLOWS_MAX,
    FLOWS_MAX,
    HEADER_BYTES,
    TIMESTAMPS_BYTES,
    UDP_HEADER_BYTES,
    AnyTraffic,
    Arrivals,
    Flow,
)
from dumbbell.scenario.model_hosts import OVERHEAD_BYTES
from dumbbell.scenario.model_rates import app_rate_steps
from dumbbell.scenario.model_stack import Stack
from dumbbell.scenario.model_workloads import AnyWorkload, AppLimited, Incast, OnOff, Rpc
from dumbbell.scenario.routes import Topology
from dumbbell.scenario.sizing import nominal_rate_bps

if TYPE_CHECKING:
    from dumbbell.scenario.model import Scenario


@dataclass(frozen=True, slots=True)
class Source:
    """One connection or stream of datagrams, and the table of the file that it comes from."""

    key: str
    traffic: AnyTraffic
    label: str
    start_ns: int
    stop_ns: int | None
    bytes: int | None

    @property
    def host(self) -> Hashable:
        """The identity of its sending host: a given name, else the flow that it carries."""
        return self.traffic.host or (facts.whole(self.label),)

    @property
    def is_tcp(self) -> bool:
        """True if it waits for acknowledgements."""
        return isinstance(self.traffic, Arrivals) or self.traffic.transport == "tcp"

    @property
    def is_sampled(self) -> bool:
        """True if samples are taken of it."""
        return isinstance(self.traffic, Flow) and self.traffic.sampled


def sources(scenario: Scenario, seed: int, topology: Topology) -> list[Source]:
    """Return all flows of a scenario with a seed, those that arrive last."""
    all_sources = list(_flows(scenario, seed))
    named: Counter[str] = Counter()
    for index, (key, spec) in enumerate(numbered("arrivals", scenario.arrivals)):
        with placed(key=key):
            for start_ns, size in _arriving(scenario, seed, topology, spec, index):
                name = spec.label or f"{algorithm_name(spec)} arrival"
                named[name] += 1
                all_sources.append(Source(key, spec, f"{name} {named[name]}", start_ns, None, size))
        if len(all_sources) > ALL_FLOWS_MAX:
            raise _too_many(key, len(all_sources), ALL_FLOWS_MAX)
    if not all_sources:
        raise InputError("no flow arrives before the end", key="arrivals", valid="a higher rate")
    return all_sources


def _too_many(key: str, flows: int, most: int) -> InputError:
    return InputError(
        "too many flows in one scenario", key=key, value=flows, valid=f"at most {most}"
    )


def _flows(scenario: Scenario, seed: int) -> Iterator[Source]:
    total = sum(flow.count * flow.parallel for flow in scenario.flow)
    if total > FLOWS_MAX:
        raise _too_many("flow", total, FLOWS_MAX)
    numbers: Counter[str] = Counter()
    starts = iter(starts_ns(scenario, seed))
    for key, flow in numbered("flow", scenario.flow):
        name = algorithm_name(flow)
        with placed(key=key):
            _check_start(flow.start.latest, scenario.duration)
        for number in range(1, flow.count + 1):
            numbers[name] += 1
            label = _label(flow.label, number, flow.count) or f"{name} {numbers[name]}"
            stop_ns = _stop(flow.stop, scenario.duration)
            for name_of, size in _connections(flow, label):
                yield Source(key, flow, name_of, next(starts), stop_ns, size)


def _connections(flow: Flow, label: str) -> Iterator[tuple[str, int | None]]:
    """Yield name and bytes of each connection of a flow; the first one takes the rest."""
    if flow.parallel == 1:
        yield label, flow.bytes
        return
    # The sum must be the flow's bytes exactly, so the first connection takes what does not divide.
    share, rest = divmod(flow.bytes or 0, flow.parallel)
    for number in range(1, flow.parallel + 1):
        size = share + (rest if number == 1 else 0)
        yield (
            facts.connection_label(label, number, flow.parallel),
            None if flow.bytes is None else size,
        )


def _check_start(latest_ns: int, duration_ns: int) -> None:
    if latest_ns >= duration_ns:
        raise InputError(
            f"not before the end of the run at {format_time(duration_ns)}",
            key="start",
            value=format_time(latest_ns),
            valid=f"less than {format_time(duration_ns)}",
        )


def algorithm_name(traffic: AnyTraffic) -> str:
    """Return what a flow is called by default: its algorithm, or udp."""
    return traffic.chosen.algorithm.name if traffic.algorithm else "udp"


def _label(label: str | None, number: int, count: int) -> str | None:
    return f"{label} {number}" if label and count > 1 else label


def starts_ns(scenario: Scenario, seed: int) -> list[int]:
    """Return when the flows start that do not arrive at random, in the order of connections.

    Starts are drawn uniformly over whole nanoseconds.
    """
    starts: list[int] = []
    flows = (flow for flow in scenario.flow for _ in range(flow.count))
    for position, flow in enumerate(flows):
        span = flow.start.latest - flow.start.earliest + 1
        # By position, so that another flow at the end does not move the others.
        start_ns = flow.start.earliest + draws.integer(span, "start", seed, position)
        starts += [start_ns] * flow.parallel
    return starts


def _stop(stop_ns: int | None, duration_ns: int) -> int | None:
    """Return the stop, or None where the run ends first."""
    return stop_ns if stop_ns is not None and stop_ns < duration_ns else None


def _arriving(
    scenario: Scenario, seed: int, topology: Topology, spec: Arrivals, index: int
) -> Iterator[tuple[int, int]]:
    """Return start and bytes of each connection; `index` sets its random numbers apart."""
    _check_start(spec.start, scenario.duration)
    return arrivals(
        spec,
        seed,
        index,
        scenario.duration,
        slowest_bps=_slowest_bps(topology, spec),
        header_bytes=_tcp_header_bytes(scenario.stack, spec),
        overhead_bytes=OVERHEAD_BYTES[scenario.network.overhead],
    )


def _slowest_bps(topology: Topology, spec: Arrivals) -> int | None:
    """Return the rate of the slowest link that data passes."""
    rates = [
        nominal_rate_bps(topology.wires[hop.wire].rate) for hop in topology.path(spec).data.hops
    ]
    return min((rate for rate in rates if rate is not None), default=None)


def own_sources(scenario: Scenario) -> dict[str, str]:
    """Return the sources of the algorithms that are not built in, by name."""
    sources_by_name: dict[str, str] = {}
    tables: list[tuple[str, Sequence[AnyTraffic]]] = [
        ("flow", scenario.flow),
        ("arrivals", scenario.arrivals),
    ]
    for key, traffics in tables:
        for place, traffic in numbered(key, traffics):
            algorithm = traffic.chosen.algorithm if traffic.algorithm else None
            if algorithm is None or not algorithm.is_own:
                continue
            if sources_by_name.setdefault(algorithm.name, algorithm.code) != algorithm.code:
                raise InputError(
                    f"another file is called {algorithm.name} in this scenario",
                    key=f"{place}.algorithm",
                    value=traffic.algorithm,
                    valid="files with different names",
                )
    return sources_by_name


class FlowResolver:
    """Puts flows in base units, but for their routes; those of one table share the common part."""

    def __init__(self, scenario: Scenario) -> None:
        self._stack = scenario.stack
        self._alike: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {}
        self._queries: dict[str, int] = {}

    def resolve(self, source: Source) -> dict[str, Any]:
        """Return a flow in base units, but for its routes."""
        if source.key not in self._alike:
            self._alike[source.key] = _alike(self._stack, source)
        alike, transport = self._alike[source.key]
        if source.is_tcp:
            workload = source.traffic.workload if isinstance(source.traffic, Flow) else None
            demand = _demand(workload, source.bytes)
            if isinstance(workload, Incast):
                # The flows of one table answer the same queries.
                number = self._queries.setdefault(source.key, len(self._queries))
                demand = {"requests": {**demand["requests"], "query": number}}
            transport = {"tcp": {**transport, "demand": demand}}
        return {
            "label": source.label,
            "start_ns": source.start_ns,
            "stop_ns": source.stop_ns,
            **alike,
            "transport": transport,
        }


def _alike(stack: Stack, source: Source) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the common part of the flows of a table, and that of their transport."""
    traffic = source.traffic
    header_bytes = _tcp_header_bytes(stack, traffic) if source.is_tcp else UDP_HEADER_BYTES
    if traffic.packet <= header_bytes:
        raise InputError(
            f"its headers, with the AccECN option, take {header_bytes} bytes",
            key=f"{source.key}.packet",
            value=traffic.packet,
            valid=f'at least {header_bytes + 1}, or accecn_option = "changes"',
        )
    alike = {
        **({} if traffic.group is None else {"group": traffic.group}),
        "packet_bytes": traffic.packet,
        "header_bytes": header_bytes,
        "sampled": source.is_sampled,
    }
    return alike, _tcp(stack, source) if source.is_tcp else _udp(traffic)


def _tcp_header_bytes(stack: Stack, traffic: AnyTraffic) -> int:
    stack = traffic.stack or stack
    profile = catalogue.stack_profile(stack.profile)
    switches = {**profile.switches, **stack.switches, **traffic.switches}
    counts = switches["accecn"] and switches["ecn_peer"] == "same"
    option = ACCECN_BYTES if counts and switches["accecn_option"] == "always" else 0
    return HEADER_BYTES - (0 if switches["timestamps"] else TIMESTAMPS_BYTES) + option


def _udp(flow: AnyTraffic) -> dict[str, Any]:
    assert isinstance(flow, Flow)
    assert flow.rate is not None, "datagrams have a rate"
    on_off = _on_off(flow.workload) if isinstance(flow.workload, OnOff) else None
    steps = app_rate_steps(flow.rate)
    highest_bps = max(rate_bps for _, rate_bps in steps)
    # Left out where there are none: that keeps the keys of runs that were stored without.
    changes = {"changes_bps": [list(step) for step in steps]} if len(steps) > 1 else {}
    return {"udp": {"rate_bps": highest_bps, **changes, "on_off": on_off}}


def _tcp(stack: Stack, source: Source) -> dict[str, Any]:
    """Return a connection but for what it has to send."""
    traffic = source.traffic
    chosen = traffic.chosen
    preset, parameters = chosen.resolved(traffic.parameters)
    return {
        "algorithm": chosen.algorithm.name,
        "preset": preset,
        "parameters": parameters,
        "stack": _stack(traffic.stack or stack, traffic, source.key),
        "tcp_bpf": traffic.tcp_bpf and traffic.tcp_bpf.resolve(),
        **_reading(stack, source),
    }


def _reading(stack: Stack, source: Source) -> dict[str, Any]:
    """Return how the receiving application of a connection lags; nothing if it does not."""
    flow = source.traffic
    if not isinstance(flow, Flow) or flow.read_rate is None:
        return {}
    stack = flow.stack or stack
    profile = catalogue.stack_profile(stack.profile)
    switches = {**profile.switches, **stack.switches, **flow.switches}
    if switches["receive_buffer_max_bytes"] == 0:
        raise InputError(
            f"the stack {stack.profile} has no receive buffer for what waits to be read",
            key=f"{source.key}.read_rate",
            value=format_rate(flow.read_rate),
            valid="the switch receive_buffer_max_bytes, such as 6291456, or another stack",
        )
    return {"reading": {"rate_bps": flow.read_rate, "block_bytes": flow.read_block}}


def _stack(stack: Stack, traffic: AnyTraffic, key: str) -> dict[str, Any]:
    switches = {**stack.switches, **traffic.switches}
    if traffic.switches:
        with placed(key=key):
            catalogue.stacks().check_switches(stack.profile, switches)
    _check_marks(switches, traffic, key)
    slow_start = switches.get("slow_start", "own")
    # With this hook Linux leaves the window to the algorithm, so no slow start of ours would run.
    if slow_start != "own" and "cong_control" in traffic.chosen.algorithm.hooks:
        is_of_flow = "slow_start" in traffic.switches
        name = traffic.chosen.algorithm.name
        raise InputError(
            f"{name} sets its window itself and has its own start",
            key=f"{key}.switches.slow_start" if is_of_flow else "stack.switches.slow_start",
            value=slow_start,
            valid=f'slow_start = "own" among the switches of the flows of {name}',
        )
    return {"profile": stack.profile, "switches": catalogue.engine_switches(switches)}


def _check_marks(switches: Mapping[str, bool | int | str], traffic: AnyTraffic, key: str) -> None:
    """Raise InputError unless both ends can agree on what marks mean to the algorithm."""
    algorithm = traffic.chosen.algorithm
    ecn, peer = switches.get("ecn", "off"), switches.get("ecn_peer", "same")

    def refuse(switch: str, problem: str, valid: str) -> None:
        raise InputError(
            problem,
            key=f"{key if switch in traffic.switches else 'stack'}.switches.{switch}",
            value=switches[switch],
            valid=valid,
        )

    if ecn == "l4s" and not algorithm.needs_ecn:
        refuse(
            "ecn",
            f"{algorithm.name} answers a mark as a loss; L4S rules that out",
            'an algorithm that needs marks, such as prague, or "classic"',
        )
    if switches.get("accecn") and ecn == "off" and not algorithm.needs_ecn:
        refuse(
            "accecn",
            f"without ECN {algorithm.name} has no marks to count",
            'ecn = "classic", or an algorithm that needs marks, such as prague',
        )
    if peer != "same" and algorithm.needs_ecn:
        refuse("ecn_peer", f"{algorithm.name} needs to know of each mark", '"same"')
    if peer != "same" and ecn == "off":
        refuse("ecn_peer", "without ECN there is nothing to agree on", 'ecn = "classic", or "same"')


def _demand(workload: AnyWorkload | None, size: int | None) -> Any:
    match workload:
        case Rpc() | Incast():
            return {"requests": _requests(workload)}
        case OnOff():
            return {"on_off": _on_off(workload)}
        case AppLimited():
            return {"app_limited": {"rate_bps": [list(step) for step in workload.steps]}}
    return "endless" if size is None else {"transfer": size}


def _requests(workload: Rpc | Incast) -> dict[str, Any]:
    # Left out where they are not set: that keeps the keys of runs that were stored without.
    return {
        "bytes": workload.bytes,
        "pause_ns": workload.pause,
        **({"random": True} if workload.random else {}),
        **({} if workload.period is None else {"period_ns": workload.period}),
    }


def _on_off(workload: OnOff) -> dict[str, Any]:
    return {"on_ns": workload.on, "off_ns": workload.off, "random": workload.random}
