"""Scenario files drawn at random: every key of a scenario, alone and with others.

Rates span nine orders of magnitude. All times are parts of the run's length, and that is so many
packets' time, so each of these scenarios takes well below a second.
"""

from __future__ import annotations

import copy
import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from hypothesis import strategies as st

from dumbbell.algorithms import catalogue

Table = dict[str, Any]
Options = Mapping[str, st.SearchStrategy[Any]]

EXAMPLES: Final = Path(__file__).parents[1] / "examples"
SIZES_FILE: Final = Path(__file__).with_name("drawn_sizes.cdf")

PACKETS_MAX: Final = 20_000
"""Of 1500 bytes, which the bottleneck carries within the run."""

_S: Final = 10**9


@dataclass(frozen=True)
class Scale:
    """How fast the bottleneck is and how long the run lasts.

    `has_files` says that the scenario may name the traces, transfers and sizes of `EXAMPLES`, which
    are those of a radio link.
    """

    rate_bps: int
    duration_ns: int
    has_files: bool = False

    def rate(self, share: float) -> str:
        """Return a rate that is a part or a multiple of the bottleneck's."""
        return f"{max(1, int(self.rate_bps * share))}bit"

    @property
    def load(self) -> float:
        """What some dozens of transfers of a kilobyte are of all that the bottleneck carries."""
        return min(0.3, 40 * 8_000 * _S / (self.rate_bps * self.duration_ns))

    def time(self, share: float) -> str:
        """Return a part of the run's length."""
        return f"{max(1, int(self.duration_ns * share))}ns"


RADIO: Final = Scale(3_500_000, 20 * _S, has_files=True)

_RATES_BPS: Final = (10**7, 10**8, 1_500_000, 10**9, 64_000, 10**10, 10**11, 999_999_937, 1_000)

scales: Final = st.sampled_from(
    [
        Scale(rate_bps, packets * 12_000 * _S // rate_bps)
        for packets in (300, 3_000, PACKETS_MAX)
        for rate_bps in _RATES_BPS
    ]
    + [RADIO] * 4
)
"""What people use comes first."""


def parts(scale: Scale, *shares: float) -> st.SearchStrategy[str]:
    """Draw a part of the run's length."""
    return st.sampled_from([scale.time(share) for share in shares])


def multiples(scale: Scale, *shares: float) -> st.SearchStrategy[str]:
    """Draw a multiple of the bottleneck's rate."""
    return st.sampled_from([scale.rate(share) for share in shares])


def some(
    required: Options, optional: Options, often: Sequence[str] = ()
) -> st.SearchStrategy[Table]:
    """Draw a table with the required keys and none, a few or all of the optional ones.

    Most shortcuts of the engine are taken only where nearly nothing is set.
    """
    if not optional:
        return st.fixed_dictionaries(required)
    names = st.sampled_from([*optional, *often])
    few = st.one_of(
        [st.lists(names, unique=True, max_size=most) for most in (0, 1, 2, 3, len(optional))]
    )

    return _table(required, optional, few)


@st.composite
def _table(
    draw: st.DrawFn, required: Options, optional: Options, names: st.SearchStrategy[list[str]]
) -> Table:
    found = draw(names)
    chosen = {**required, **{name: optional[name] for name in optional if name in found}}
    return {name: draw(values) for name, values in chosen.items()}


def changing(
    scale: Scale, key: str, first: st.SearchStrategy[Any], later: st.SearchStrategy[Any]
) -> st.SearchStrategy[list[Table]]:
    """Draw a value that is another from some time on."""
    return st.builds(
        lambda a, b, share: [{"at": "0s", key: a}, {"at": scale.time(share), key: b}],
        first,
        later,
        st.sampled_from([0.3, 0.01]),
    )


@functools.cache
def rates(scale: Scale) -> st.SearchStrategy[Any]:
    """Draw the rate of a link that is to be the bottleneck."""
    constant = multiples(scale, 1, 1, 0.5, 0.99)
    bucket = st.fixed_dictionaries(
        {"rate": constant, "burst": st.sampled_from(["9000b", "70kb"])},
        optional={"peak": multiples(scale, 1, 2, 50)},
    )
    traces = [st.just({"trace": str(EXAMPLES / "radio.trace")})] if scale.has_files else []
    silences = multiples(scale, 0.2, 2) | st.just("0bit")
    others = [changing(scale, "rate", constant, silences), bucket, *traces]
    return st.one_of(constant, constant, constant, *others)


def delays(scale: Scale, *shares: float) -> st.SearchStrategy[Any]:
    """Draw a delay of these parts of the run, constant or changing."""
    constant = st.sampled_from(["0s", "1ns", *(scale.time(share) for share in shares)])
    return st.one_of(constant, constant, changing(scale, "delay", constant, constant))


@functools.cache
def queues(scale: Scale, *, bdp: bool = True) -> st.SearchStrategy[Any]:
    """Draw a queue; where there is no round-trip time, its limit is no multiple of a BDP."""
    products = ["0.2bdp", "2bdp", "150%bdp"] if bdp else []
    texts = ["20p", "100p", "3p", "1p", "1000p", "30kb", scale.time(0.05), *products]
    sizes = st.sampled_from(texts)
    limits = sizes | st.just("unlimited")
    booleans = st.booleans()
    short, long = parts(scale, 1e-3, 1e-2), parts(scale, 0.02, 0.2)
    kinds: list[tuple[str, Options, Options]] = [
        ("fifo", {"limit": limits}, {}),
        ("drop-tail", {"limit": limits}, {}),
        ("step", {"limit": limits, "threshold": sizes}, {}),
        (
            "red",
            {"limit": sizes},
            {
                "min_threshold": st.sampled_from(["5p", "2p"]),
                "max_threshold": st.sampled_from(["15p", "40p"]),
                "max_probability": st.sampled_from([0.1, "50%", 1]),
                "weight": st.sampled_from([0.002, 1]),
                "gentle": booleans,
                "adaptive": booleans,
                "ecn": booleans,
            },
        ),
        ("ared", {"limit": sizes}, {}),
        ("codel", {}, {"limit": limits, "target": short, "interval": long, "ecn": booleans}),
        (
            "fq-codel",
            {},
            {
                "limit": limits,
                "target": short,
                "interval": long,
                "queues": st.sampled_from([1, 4, 1024]),
                "quantum": st.sampled_from([300, 1514, 9038]),
                "ecn": booleans,
            },
        ),
        (
            "pie",
            {},
            {
                "limit": limits,
                "target": short,
                "update": st.sampled_from([scale.time(0.01), "15ms", "10us"])
                if scale.duration_ns < _S
                else parts(scale, 0.01, 1e-3),
                "alpha": st.sampled_from([0.125, 10]),
                "beta": st.sampled_from([1.25, 100]),
                "burst": st.sampled_from(["0s", "150ms"]),
                "ecn": booleans,
            },
        ),
        (
            "fq",
            {},
            {
                "limit": limits,
                "flow_limit": st.sampled_from(["1p", "20p"]),
                "quantum": st.sampled_from([300, 3028]),
                "initial_quantum": st.sampled_from([300, 15140]),
            },
        ),
        (
            "classes",
            {"limit": limits},
            {
                "threshold": sizes,
                "quantum": st.sampled_from([100, 1514]),
                "by": st.just("ecn"),
                "serve": st.sampled_from(["round-robin", "priority"]),
            },
        ),
        (
            "classes",
            {
                "limit": limits,
                "by": st.just("class"),
                "class": st.sampled_from(
                    [[{"name": "nv", "weight": 3}, {"name": "other"}], [{"name": "other"}]]
                ),
            },
            {"serve": st.just("round-robin")},
        ),
    ]
    tables = [some({"discipline": st.just(name), **must}, may) for name, must, may in kinds]
    return st.one_of(sizes, sizes, sizes, *tables)


@functools.cache
def losses(scale: Scale) -> st.SearchStrategy[Table]:
    """Draw one loss, in bursts or not; that of a chosen segment is of the flow ``a``."""
    shares = st.sampled_from([0.01, "1%", 0, 1e-4, 0.3])
    bursts = some(
        {"to_bad": st.sampled_from([0.001, 0, 0.1]), "to_good": st.sampled_from([0.1, 1])},
        {"loss_good": st.sampled_from([0, 0.01]), "loss_bad": st.sampled_from([1, "50%", 0])},
    )
    drops = some(
        {"flow": st.just("a"), "number": st.sampled_from([3, 0, 100])},
        {"times": st.sampled_from([1, 2])},
    )
    return st.one_of(
        st.fixed_dictionaries({"probability": shares}),
        st.fixed_dictionaries({"probability": shares}),
        st.fixed_dictionaries({"probability": changing(scale, "probability", shares, shares)}),
        st.fixed_dictionaries({"gilbert_elliott": bursts}),
        st.fixed_dictionaries({"drops": drops.map(lambda drop: [drop])}),
    )


@functools.cache
def impairments(scale: Scale) -> Options:
    """What may happen to packets on any link."""
    shares = st.sampled_from([0.01, 0, "30%"])
    return {
        "policer": st.fixed_dictionaries(
            {
                "rate": multiples(scale, 0.5, 0.05, 2),
                "burst": st.sampled_from(["9100b", "70kb"]),
            }
        ),
        "duplicate": shares,
        "reorder": st.fixed_dictionaries(
            {"probability": shares, "delay": parts(scale, 1e-3, 0.05)}
        ),
        "jitter": parts(scale, 1e-5, 1e-3),
        "batch": parts(scale, 1e-5, 1e-3),
    }


@functools.cache
def hosts(scale: Scale) -> Options:
    """How hosts may be connected to any network."""
    return {
        "edge_rate": st.one_of(multiples(scale, 10, 1, 0.5), st.just("unlimited")),
        "edge_queue": queues(scale, bdp=False),
        "edge_jitter": st.sampled_from(["0s", scale.time(1e-4), scale.time(0.01)]),
        "host_delay": parts(scale, 1e-5, 1e-3, 0.01),
        "clock_ppm": st.sampled_from([0, 20, 1000]),
        "overhead": st.sampled_from(["none", "ip", "ethernet"]),
    }


OFTEN: Final = ("loss", "loss", "host_delay", "edge_rate")
"""Which meet shortcuts of the engine."""


def placed(
    scale: Scale, places: Sequence[str], hops: st.SearchStrategy[Table]
) -> st.SearchStrategy[list[Table]]:
    """Draw losses at different places."""
    lossy = st.builds(
        lambda place, loss, hop: {"place": place, **loss, **(hop if place in HOPS else {})},
        st.sampled_from(places),
        losses(scale),
        hops,
    )
    return st.lists(lossy, min_size=1, max_size=2, unique_by=lambda loss: loss["place"])


HOPS: Final = ("bottleneck", "reverse")
"""Places that each hop of a parking lot has."""


@functools.cache
def reverses(scale: Scale) -> st.SearchStrategy[Table]:
    """Draw the way back."""
    return some(
        {},
        {
            "rate": st.one_of(multiples(scale, 1, 0.02, 0.5), rates(scale)),
            "delay": delays(scale, 1e-3),
            "queue": queues(scale),
            **impairments(scale),
        },
    )


@functools.cache
def dumbbells(scale: Scale) -> st.SearchStrategy[Table]:
    """Draw a dumbbell: each way over its bottleneck takes at most a thousandth of the run."""
    return some(
        {
            "rate": rates(scale),
            "queue": queues(scale),
            "rtt": parts(scale, 0.01, 2.1e-3, 0.2),
        },
        {
            "topology": st.just("dumbbell"),
            "delay": delays(scale, 1e-3),
            "reverse": reverses(scale),
            "loss": placed(scale, ["receiver", "bottleneck", "sender", "reverse"], st.just({})),
            **hosts(scale),
            **impairments(scale),
        },
        OFTEN,
    )


@functools.cache
def parking_lots(scale: Scale) -> st.SearchStrategy[Table]:
    """Draw two bottlenecks in a row."""

    def of_hops(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        return st.one_of(values, st.lists(values, min_size=2, max_size=2))

    return some(
        {
            "topology": st.just("parking-lot"),
            "hops": st.just(2),
            "rate": of_hops(rates(scale)),
            "queue": of_hops(queues(scale)),
            "rtt": parts(scale, 0.01, 4.1e-3, 0.2),
        },
        {
            "delay": of_hops(delays(scale, 1e-3)),
            "reverse": reverses(scale),
            "loss": placed(
                scale,
                ["receiver", "bottleneck", "sender", "reverse"],
                st.sampled_from([{}, {"hop": 1}]),
            ),
            **hosts(scale),
            **impairments(scale),
        },
        OFTEN,
    )


@functools.cache
def graphs(scale: Scale) -> st.SearchStrategy[Table]:
    """Draw a way from a over b to c, and one from a to c that has no rate."""
    here: Options = {"loss": st.lists(losses(scale), max_size=1), **impairments(scale)}
    back = some(
        {},
        {
            "rate": multiples(scale, 1, 0.02),
            "delay": delays(scale, 1e-3),
            "queue": queues(scale),
            **here,
        },
    )

    def link(source: str, target: str) -> st.SearchStrategy[Table]:
        return some(
            {
                "from": st.just(source),
                "to": st.just(target),
                "rate": rates(scale),
                "delay": delays(scale, 2e-3),
            },
            {"queue": queues(scale), "reverse": back, **here},
        )

    delaying = st.just({"from": "a", "to": "c", "rate": "unlimited", "delay": scale.time(0.01)})
    links = st.tuples(link("a", "b"), link("b", "c"), delaying).map(list)
    return some(
        {"topology": st.just("graph"), "link": links, "rtt": parts(scale, 0.01)}, hosts(scale)
    )


_EXTRA_SWITCHES: Final[Mapping[str, Sequence[Any]]] = {
    "pacing": ["fq"],
    "slow_start": ["hystart++", "limited"],
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


switches: Final = st.one_of(
    some({}, _switches()),
    st.just({"sack": False, "dsack": False, "loss_detection": "new-reno"}),
)

profiles: Final = st.sampled_from(sorted(catalogue.stacks().profiles))
stacks: Final = st.one_of(
    profiles, st.fixed_dictionaries({"profile": profiles, "switches": switches})
)


@st.composite
def algorithms(draw: st.DrawFn) -> Table:
    """Draw an algorithm, half of the time one of the two best known, with a preset or not."""
    known = catalogue.algorithms()
    name = draw(st.one_of(st.sampled_from(["reno", "cubic"]), st.sampled_from(sorted(known))))
    algorithm = known[name]
    preset = draw(st.sampled_from(["", "", *(f"@{each}" for each in algorithm.preset_names)]))
    table: Table = {"algorithm": f"{name}{preset}"}
    if algorithm.parameters and draw(st.sampled_from([False, False, True])):
        parameter = draw(st.sampled_from(algorithm.parameters))
        value = draw(st.sampled_from([parameter.initial, parameter.low, parameter.high]))
        table["parameters"] = {parameter.name: value}
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
    constant = multiples(scale, 0.1, 1)
    return st.one_of(
        st.just({"kind": "bulk"}),
        some(
            {"kind": st.just("rpc"), "bytes": st.sampled_from(["10kb", 1, "1mb"])},
            {"pause": parts(scale, 1e-3, 0.1)},
        ),
        on_off(scale),
        st.fixed_dictionaries(
            {
                "kind": st.just("app-limited"),
                "rate": st.one_of(constant, changing(scale, "rate", constant, st.just("0bit"))),
            }
        ),
    )


@functools.cache
def on_off(scale: Scale) -> st.SearchStrategy[Table]:
    """Draw phases, also such as are shorter than a packet's time."""
    phases = parts(scale, 0.1, 0.01, 1e-5)
    return some({"kind": st.just("on-off"), "on": phases, "off": phases}, {"random": st.booleans()})


TRAFFIC: Final[Options] = {
    "packet": st.sampled_from([9000, 576, 100, 53]),
    "group": st.just("g"),
    "class": st.just("other"),
    "host": st.sampled_from("xy"),
}
"""What flows and arrivals have in common."""

OF_TCP: Final[Options] = {"stack": stacks, "switches": switches, "tcp_bpf": tcp_bpf}
"""What only those of TCP have in common."""

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
    return some(required, {"workload": workload, **timing(scale), **TRAFFIC})


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
    others = {"transport": st.just("tcp"), **timing(scale), **TRAFFIC, **OF_TCP}
    return st.builds(
        lambda *tables: {key: table[key] for table in tables for key in table},
        algorithms(),
        some({}, others),
        st.one_of(nothing, nothing, nothing, *only),
    )


@functools.cache
def flows(scale: Scale) -> st.SearchStrategy[Table]:
    """Draw a flow, but for its path and its label."""
    tcp = connections(scale)
    return st.one_of(tcp, tcp, tcp, datagrams(scale))


@functools.cache
def arrivals(scale: Scale) -> st.SearchStrategy[Table]:
    """Draw flows that arrive, but for their path."""
    sizes: list[st.SearchStrategy[Any]] = [
        st.sampled_from(["1kb", {"distribution": "fixed", "mean": "20kb"}]),
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
        sizes.append(st.just({"distribution": "empirical", "file": str(SIZES_FILE)}))
    number = st.sampled_from([5, 1, 40]).map(lambda flows: flows * _S / scale.duration_ns)
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
def records(scale: Scale) -> st.SearchStrategy[Table]:
    """Draw what a run leaves behind."""
    kinds = st.sampled_from(sorted(catalogue.schema().codes["kind"]))
    return some(
        {"interval": st.one_of(parts(scale, 0.01, 0.1), st.just("none"))},
        {
            "delays": st.one_of(parts(scale, 0.2), st.just("none")),
            "events": st.lists(kinds, unique=True),
            "algorithm_state": st.booleans(),
            "modes": st.booleans(),
        },
    )


@functools.cache
def networks(scale: Scale) -> st.SearchStrategy[Table]:
    """Draw a network, half of the time a dumbbell."""
    plain = dumbbells(scale)
    return st.one_of(plain, plain, parking_lots(scale), graphs(scale)).map(_mended)


def _mended(network: Table) -> Table:
    """Leave out what cannot be: queues and clocks of hosts whose links have no rate."""
    if network.get("edge_rate", "unlimited") != "unlimited":
        return network
    return {key: network[key] for key in network if key not in ("edge_queue", "clock_ppm")}


@functools.cache
def tops(scale: Scale) -> st.SearchStrategy[Table]:
    """Draw what a scenario may have beside its network and its flows.

    It always says how often to sample: by default that is too often where links are slow.
    """
    return some(
        {"record": records(scale)},
        {"title": st.just("drawn"), "seed": st.integers(0, 2**64 - 1), "stack": stacks},
    )


@functools.cache
def own_paths(scale: Scale, topology: str) -> st.SearchStrategy[Table]:
    """Draw where a flow enters and leaves the network, and now and then its own length."""
    places = st.sampled_from(PATHS[topology])
    if topology == "graph":
        return places
    far = st.builds(lambda place, rtt: {**place, "rtt": rtt}, places, parts(scale, 0.05, 0.3))
    return st.one_of(places, places, places, far)


flow_counts: Final = st.sampled_from([1, 1, 2, 3])
arrival_counts: Final = st.sampled_from([0, 0, 0, 1])


@st.composite
def files(draw: st.DrawFn) -> Table:
    """Draw the content of a scenario file; nearly all of them are valid."""
    scale = draw(scales)
    network = draw(networks(scale))
    path = own_paths(scale, network.get("topology", "dumbbell"))
    has_classes = '"by": "class"' in json.dumps(network)

    def placed_in(table: Table) -> Table:
        known = {key: table[key] for key in table if key != "class" or has_classes}
        return {**known, **draw(path)}

    count = draw(flow_counts)
    found = [{**placed_in(draw(flows(scale))), "label": label} for label in "abc"[:count]]
    arriving = [placed_in(draw(arrivals(scale))) for _ in range(draw(arrival_counts))]
    data: Table = {"duration": f"{scale.duration_ns}ns", "network": network, "flow": found}
    if arriving:
        data["arrivals"] = arriving
    return {**data, **draw(tops(scale))}


WRONG: Final[Sequence[Any]] = (
    "0bit",
    "1kbit",
    "0s",
    "9.9gbit",
    "400p",
    0,
    -1,
    2**63,
    "unlimited",
    "",
    [],
    {},
)


@st.composite
def spoiled(draw: st.DrawFn) -> Table:
    """Draw a file of which half of the time one value is another one, most likely a wrong one."""
    data = copy.deepcopy(draw(files()))
    if draw(st.booleans()):
        return data
    inside: Any = data
    while True:
        key = draw(
            st.sampled_from(sorted(inside) if isinstance(inside, dict) else range(len(inside)))
        )
        if not isinstance(inside[key], dict | list) or not inside[key]:
            inside[key] = draw(st.sampled_from(WRONG))
            return data
        inside = inside[key]
