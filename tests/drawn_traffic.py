"""Traffic of scenarios drawn at random: stacks, algorithms, flows, arrivals and their paths."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from hypothesis import strategies as st

from drawn_scale import EXAMPLES, Options, S, Scale, Table, changing, multiples, parts, some
from dumbbell.algorithms import catalogue
from dumbbell.scenario.model_sizes import PUBLISHED

SIZES_FILE: Final = Path(__file__).with_name("drawn_sizes.cdf")

_EXTRA_SWITCHES: Final[Mapping[str, Sequence[Any]]] = {
    "handshake": [True],
    "pacing": ["fq"],
    "ecn": ["classic", "dctcp"],
    "tso": [True],
    "receive_window_bytes": [60_000],
    "timestamps": [False],
    "timer_tick_ns": [1_000_000, 10_000_000],
    "pacing_late_ns": [50_000],
    "gro_segs": [17],
    "slow_start_after_idle": [False],
    "quick_acks": [0, 1],
    "delayed_ack_ns": [1_000_000, 200_000_000],
    "rto_max_ns": [2_000_000_000],
    "byte_counting_segs": [1],
}
"""Values that no profile has."""

SLOW_STARTS: Final[Sequence[Table]] = [
    *({"slow_start": name} for name in ("standard", "hystart", "hystart++", "search")),
    {"slow_start": "limited", "limited_slow_start_segs": 20},
    {"slow_start": "careful-resume", "resume_window_segs": 60, "resume_rtt_ns": 20_000_000},
]
"""Slow starts that a stack gives to algorithms without a separate one."""


def _switches() -> Mapping[str, st.SearchStrategy[Any]]:
    """Return every switch with the values that profiles have, and others."""
    known = catalogue.stacks()
    values: dict[str, list[Any]] = {name: [] for name in known.switches}
    for profile in known.profiles.values():
        for name, value in profile.switches.items():
            if (given := catalogue.switch_in_files(value)) not in values[name]:
                values[name].append(given)
    for name, extra in _EXTRA_SWITCHES.items():
        values[name] += extra
    return {name: st.sampled_from(all_of_it) for name, all_of_it in values.items()}


COUNTED: Final[Table] = {"accecn": True}
"""Marks that acknowledgements count, with what they may say besides."""

_counted: Final = st.fixed_dictionaries(
    {"ecn": st.just("classic"), "accecn": st.just(True)},
    optional={
        "accecn_option": st.sampled_from(["always", "changes", "never"]),
        "handshake": st.just(True),
        "gro_segs": st.just(17),
        "timestamps": st.just(False),
    },
)

switches: Final = st.one_of(
    some({}, _switches()),
    _counted,
    st.just({"sack": False, "dsack": False, "loss_detection": "new-reno"}),
)

profiles: Final = st.sampled_from(sorted(catalogue.stacks().profiles))
stacks: Final = st.one_of(
    profiles, st.fixed_dictionaries({"profile": profiles, "switches": switches})
)


_half: Final = st.booleans()
_third: Final = st.sampled_from([False, False, True])
_tenth: Final = st.sampled_from([False] * 9 + [True])
_counts: Final[st.SearchStrategy[Table]] = st.sampled_from([{}, COUNTED])
_peers: Final = st.sampled_from(["classic", "off"])
_slow_starts: Final = st.sampled_from(SLOW_STARTS)
_algorithm_names: Final = st.one_of(
    st.sampled_from(["reno", "cubic"]), st.sampled_from(sorted(catalogue.algorithms()))
)


@functools.cache
def _presets(name: str) -> st.SearchStrategy[str]:
    names = catalogue.algorithms()[name].preset_names
    return st.sampled_from(["", "", *(f"@{preset}" for preset in names)])


@functools.cache
def _parameters(name: str) -> st.SearchStrategy[Table]:
    """Draw a value of one parameter."""
    return st.sampled_from(catalogue.algorithms()[name].parameters).flatmap(
        lambda one: st.sampled_from(
            [{one.name: value} for value in (one.initial, one.low, one.high)]
        )
    )


@functools.cache
def _is_controlling(name: str) -> bool:
    return "cong_control" in catalogue.algorithms()[name].hooks


@st.composite
def algorithms(draw: st.DrawFn) -> Table:
    """Draw an algorithm, half of the time one of the two best known, with a preset or not."""
    name = draw(_algorithm_names)
    algorithm = catalogue.algorithms()[name]
    table: Table = {"algorithm": f"{name}{draw(_presets(name))}"}
    if algorithm.needs_ecn and draw(_half):
        table["switches"] = {"ecn": "l4s", **draw(_counts)}
    elif not algorithm.needs_ecn and draw(_tenth):
        table["switches"] = {"ecn": "classic", "ecn_peer": draw(_peers)}
    elif not _is_controlling(name) and draw(_third):
        table["switches"] = draw(_slow_starts)
    if bool(algorithm.parameters) and draw(_third):
        table["parameters"] = draw(_parameters(name))
    return table


_bpf_packets = st.sampled_from(["10p", "1p", "400p"])
_bpf_buffers = st.sampled_from(["9kb", "1mb"])
tcp_bpf: Final = st.one_of(
    st.fixed_dictionaries({"cwnd_clamp": _bpf_packets}),
    some(
        {"initial_window": _bpf_packets},
        {
            "send_buffer": _bpf_buffers,
            "receive_buffer": _bpf_buffers,
            "base_rtt": st.sampled_from(["80us", "40ms"]),
        },
    ),
)


@functools.cache
def workloads(scale: Scale) -> st.SearchStrategy[Table]:
    """Draw what an application sends."""
    return st.one_of(
        st.just({"kind": "bulk"}),
        some(
            {"kind": st.just("rpc"), "bytes": st.sampled_from(["10kb", 1, "1mb"])},
            {"pause": parts(scale, 1e-3, 0.1)},
        ),
        _rhythms(scale, "rpc"),
        on_off(scale),
        st.fixed_dictionaries(
            {
                "kind": st.just("app-limited"),
                "rate": app_rates(scale),
            }
        ),
    )


@functools.cache
def app_rates(scale: Scale) -> st.SearchStrategy[Any]:
    """Draw rates at which data comes about."""
    constant = multiples(scale, 0.1, 1)
    changes: list[st.SearchStrategy[Any]] = [changing(scale, "rate", constant, st.just("0bit"))]
    if scale.has_files:
        changes.append(st.just({"file": str(EXAMPLES / "media.txt")}))
    return st.one_of(constant, *changes)


def _rhythms(scale: Scale, kind: str) -> st.SearchStrategy[Table]:
    """Draw requests that think at random, or come at a period."""
    common: Options = {"kind": st.just(kind), "bytes": st.sampled_from(["10kb", 1, "32kb"])}
    return st.one_of(
        st.fixed_dictionaries(
            {**common, "pause": parts(scale, 1e-3, 0.1), "random": st.booleans()}
        ),
        st.fixed_dictionaries({**common, "period": parts(scale, 1e-2, 0.1)}),
    )


@functools.cache
def incasts(scale: Scale) -> st.SearchStrategy[Table]:
    """Draw flows that answer queries together, but for their path."""
    plain: Options = {"kind": st.just("incast"), "bytes": st.just("10kb")}
    workload = st.one_of(st.fixed_dictionaries(plain), _rhythms(scale, "incast"))
    required: Options = {"workload": workload, "count": st.sampled_from([2, 20])}
    times: Options = {"start": parts(scale, 0.1), "stop": parts(scale, 0.8)}
    others = some(required, {**times, **TRAFFIC, **OF_TCP})
    return st.builds(lambda one, other: {**one, **other}, algorithms(), others)


@functools.cache
def on_off(scale: Scale) -> st.SearchStrategy[Table]:
    """Draw phases, also such as are shorter than a packet's time."""
    phases = parts(scale, 0.1, 0.01, 1e-5)
    return some({"kind": st.just("on-off"), "on": phases, "off": phases}, {"random": st.booleans()})


TRAFFIC: Final[Options] = {
    "packet": st.sampled_from([9000, 576, 100, 53]),
    "group": st.just("g"),
    "host": st.sampled_from("xy"),
}
"""Keys that flows and arrivals share."""

OF_TCP: Final[Options] = {"stack": stacks, "switches": switches, "tcp_bpf": tcp_bpf}
"""Keys that only those of TCP share."""

PATHS: Final[Mapping[str, Sequence[Table]]] = {
    "dumbbell": [{}, {"direction": "reverse"}, {"direction": "forward"}],
    "parking-lot": [
        {},
        {"hops": [2, 2], "direction": "forward"},
        {"hops": [1, 2], "direction": "reverse"},
    ],
    "graph": [
        {"from": "a", "to": "b"},
        {"from": "a", "to": "c"},
        {"from": "a", "to": "c", "via": ["b"]},
    ],
}


@functools.cache
def timing(scale: Scale) -> Options:
    """When flows start and stop, how many there are, and whether they are sampled."""
    start = st.one_of(
        parts(scale, 1e-3, 0.3),
        st.just({"from": scale.time(0.1), "to": scale.time(0.4)}),
        st.just("0s"),
    )
    return {
        "start": start,
        "stop": parts(scale, 0.8, 0.41),
        "count": st.sampled_from([2, 3, 20]),
        "sampled": st.booleans(),
    }


@functools.cache
def datagrams(scale: Scale) -> st.SearchStrategy[Table]:
    """Draw a flow of datagrams, but for its path."""
    required: Options = {"transport": st.just("udp"), "rate": multiples(scale, 0.3, 1, 1.5)}
    workload = st.one_of(on_off(scale), st.just({"kind": "bulk"}))
    constant = some(required, {"workload": workload, **timing(scale), **TRAFFIC})
    media = some(
        {"transport": st.just("udp"), "rate": app_rates(scale)}, {**timing(scale), **TRAFFIC}
    )
    return st.one_of(constant, constant, media)


@functools.cache
def reading(scale: Scale) -> st.SearchStrategy[Table]:
    """Draw an application that lags, with a stack that has a buffer for what it has not read."""
    rate = multiples(scale, 0.1, 0.5, 2)
    blocks = st.sampled_from(["128kib", "100b", "9000b"])
    sizes = {"receive_buffer_bytes": 60_000, "receive_buffer_max_bytes": 300_000}
    lagging = {"read_rate": rate, "stack": st.just("linux-6"), "switches": st.just(sizes)}
    return some(lagging, {"read_bytes": blocks})


def _mended(flow: Table) -> Table:
    """Leave out what cannot be: a program that sizes the buffer of an application that lags."""
    return {key: flow[key] for key in flow if key != "tcp_bpf" or "read_rate" not in flow}


@functools.cache
def connections(scale: Scale) -> st.SearchStrategy[Table]:
    """Draw a flow of TCP, but for its path and for what only some workloads have."""
    data: Options = {
        "workload": workloads(scale),
        "bytes": st.sampled_from(["1mb", 1, "14480b"]),
        "parallel": st.sampled_from([2, 4]),
    }
    nothing: st.SearchStrategy[Table] = st.just({})
    only = [st.fixed_dictionaries({key: values}) for key, values in data.items()]
    only.append(reading(scale))
    others = {"transport": st.just("tcp"), **timing(scale), **TRAFFIC, **OF_TCP}
    return st.builds(
        lambda *tables: _mended({key: table[key] for table in tables for key in table}),
        algorithms(),
        some({}, others),
        st.one_of(nothing, nothing, nothing, *only),
    )


@functools.cache
def flows(scale: Scale) -> st.SearchStrategy[Table]:
    """Draw a flow, but for its path and its label."""
    tcp = connections(scale)
    return st.one_of(tcp, tcp, tcp, incasts(scale), datagrams(scale))


@functools.cache
def arrivals(scale: Scale) -> st.SearchStrategy[Table]:
    """Draw flows that arrive, but for their path."""
    sizes: list[st.SearchStrategy[Any]] = [
        st.sampled_from(["1kb", {"distribution": "fixed", "mean": "20kb"}]),
        st.fixed_dictionaries({"distribution": st.sampled_from(PUBLISHED)}),
        st.fixed_dictionaries({"distribution": st.just("exponential"), "mean": st.just("10kb")}),
        st.fixed_dictionaries(
            {
                "distribution": st.sampled_from(["pareto", "lognormal"]),
                "mean": st.just("10kb"),
                "shape": st.sampled_from([1.1, 2]),
            }
        ),
    ]
    if scale.has_files:
        sizes += [st.just({"distribution": "empirical", "file": str(SIZES_FILE)})] * 2
    number = st.sampled_from([5, 1, 40]).map(lambda flows: flows * S / scale.duration_ns)
    common: Options = {**TRAFFIC, **OF_TCP, "label": st.just("short")}
    start = {"start": parts(scale, 0.1)}
    times: Options = {**start, "stop": parts(scale, 0.8)}
    size = st.one_of(sizes)
    ways = [
        some({"rate": number, "size": size}, {**times, **common}),
        some({"load": st.just(scale.load), "size": size}, {**times, **common}),
    ]
    if scale.has_files:
        listed: Options = {"file": st.just(str(EXAMPLES / "replay.txt"))}
        ways.append(some(listed, {**start, **common}))
    return st.builds(lambda one, other: {**one, **other}, algorithms(), st.one_of(ways))


@functools.cache
def own_paths(scale: Scale, topology: str) -> st.SearchStrategy[Table]:
    """Draw where a flow enters and leaves the network, and now and then its own length."""
    places = st.sampled_from(PATHS[topology])
    if topology == "graph":
        return places
    far = st.builds(lambda place, rtt: {**place, "rtt": rtt}, places, parts(scale, 0.05, 0.3))
    return st.one_of(places, places, places, far)
