"""Networks of scenarios drawn at random: links, queues, losses and topologies."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, Final

from hypothesis import strategies as st
from pydantic import ValidationError
from pydantic.fields import FieldInfo

from drawn_scale import EXAMPLES, TRACES, Options, S, Scale, Table, changing, multiples, parts, some
from dumbbell.base.errors import InputError
from dumbbell.base.units import PACKET_BITS, parse_time
from dumbbell.scenario.disciplines import MODELS
from dumbbell.scenario.disciplines.base import Discipline, format_of
from dumbbell.scenario.disciplines.classes import Classes
from dumbbell.scenario.disciplines.red import Red
from dumbbell.scenario.model_links import Impairments


@functools.cache
def rates(scale: Scale) -> st.SearchStrategy[Any]:
    """Draw the rate of a link that is to be the bottleneck."""
    constant = multiples(scale, 1, 1, 0.5, 0.99)
    bucket = st.fixed_dictionaries(
        {"rate": constant, "burst": st.sampled_from(["9000b", "70kb"])},
        optional={"peak": multiples(scale, 1, 2, 50)},
    )
    files = [EXAMPLES / "radio.trace", TRACES / "path.csv"] if scale.has_files else []
    traces = [st.just({"trace": str(file)}) for file in files]
    silences = multiples(scale, 0.2, 2) | st.just("0bit")
    others = [changing(scale, "rate", constant, silences), bucket, *traces]
    return st.one_of(constant, constant, constant, *others)


def delays(scale: Scale, *shares: float) -> st.SearchStrategy[Any]:
    """Draw a delay of these parts of the run, constant or changing."""
    constant = st.sampled_from(["0s", "1ns", *(scale.time(share) for share in shares)])
    changes = changing(scale, "delay", constant, constant)
    routed = st.builds(
        lambda steps, route: [steps[0], {**steps[1], "route": route}],
        changes,
        st.sampled_from([1, 7]),
    )
    return st.one_of(constant, constant, changes, routed, *traces(scale, "delay.txt"))


def traces(scale: Scale, name: str) -> list[st.SearchStrategy[Table]]:
    """Draw how long each value of a trace holds, where a scenario may name files."""
    if not scale.has_files:
        return []
    interval = parts(scale, 0.01, 0.1, 2)
    whole = st.just({"trace": str(TRACES / "path.csv")})
    return [
        whole,
        st.fixed_dictionaries({"trace": st.just(str(TRACES / name)), "interval": interval}),
    ]


@functools.cache
def queues(scale: Scale, *, bdp: bool = True) -> st.SearchStrategy[Any]:
    """Draw a queue; where there is no round-trip time, its limit is no multiple of a BDP."""
    products = ["0.2bdp", "2bdp", "150%bdp"] if bdp else []
    texts = ["20p", "100p", "3p", "1p", "1000p", "30kb", scale.time(0.05), *products]
    sizes = st.sampled_from(texts)
    limits = sizes | st.just("unlimited")
    tables = [_discipline(name, scale, sizes, limits) for name in MODELS]
    return st.one_of(sizes, sizes, sizes, *tables, _classes_of_flows(limits))


OF_MANY_WORDS: Final = ("isolate", "ack_filter", "framing")
"""Keys that are always there, as each of their words is to be drawn."""


def _discipline(
    name: str, scale: Scale, sizes: st.SearchStrategy[str], limits: st.SearchStrategy[str]
) -> st.SearchStrategy[Table]:
    """Draw the table of a discipline, from its model."""
    model = MODELS[name]
    required: dict[str, st.SearchStrategy[Any]] = {"discipline": st.just(name)}
    optional: dict[str, st.SearchStrategy[Any]] = {}
    # A queue by average has no unlimited thresholds.
    values = {"limit": sizes if model is Red else limits}
    values |= {key: _parameter(scale, described) for key, described in model.parameters().items()}
    if name == "ared":
        values = {"limit": sizes}
    if model is Classes:
        values |= {"by": st.just("ecn"), "serve": st.sampled_from(["round-robin", "priority"])}
        del values["class_"]
    for key, strategy in values.items():
        is_always = model.model_fields[key].is_required() or key in OF_MANY_WORDS
        (required if is_always else optional)[key] = strategy
    return some(required, optional).filter(functools.partial(_is_valid, model))


def _parameter(scale: Scale, described: FieldInfo) -> st.SearchStrategy[Any]:
    """Draw a parameter: of times some that suit the run's length, of others the examples."""
    if described.annotation is bool:
        return st.booleans()
    examples = list(described.examples or [])
    if format_of(described) == "time":
        usual = parse_time(examples[0])
        examples += [f"{share * usual * scale.duration_ns // (4 * S)}ns" for share in (1, 4)]
    return st.sampled_from(examples)


def _is_valid(model: type[Discipline], table: Table) -> bool:
    """Return True unless one parameter rules out another."""
    try:
        model.model_validate(table)
    except (InputError, ValidationError):
        return False
    return True


def _classes_of_flows(limits: st.SearchStrategy[str]) -> st.SearchStrategy[Table]:
    """Draw classes by the classes of flows."""
    named = [[{"name": "nv", "weight": 3}, {"name": "other"}], [{"name": "other"}]]
    required = {
        "discipline": st.just("classes"),
        "limit": limits,
        "by": st.just("class"),
        "class": st.sampled_from(named),
    }
    return some(required, {"serve": st.just("round-robin")})


@functools.cache
def losses(scale: Scale) -> st.SearchStrategy[Table]:
    """Draw one loss, in bursts or not; that of a chosen segment is of the flow ``a``."""
    shares = st.sampled_from([0.01, "1%", 0, 1e-4, 0.3])
    bursts = some(
        {"to_bad": st.sampled_from([0.001, 0, 0.1]), "to_good": st.sampled_from([0.1, 1])},
        {"loss_good": st.sampled_from([0, 0.01]), "loss_bad": st.sampled_from([1, "50%", 0])},
    )
    timed = some(
        {
            "mean_good": st.sampled_from(["1s", "100ms"]),
            "mean_bad": st.sampled_from(["10ms", "1us", "300ms"]),
        },
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
        *(st.fixed_dictionaries({"probability": trace}) for trace in traces(scale, "loss.txt")),
        st.fixed_dictionaries(
            {"probability": shares, "correlation": st.sampled_from([0.25, 0.9, 0])}
        ),
        st.fixed_dictionaries({"gilbert_elliott": bursts}),
        st.fixed_dictionaries({"bursts": timed}),
        st.fixed_dictionaries({"bit_errors": st.sampled_from([1e-7, 1e-9, 0, 1e-5])}),
        st.fixed_dictionaries({"drops": drops.map(lambda drop: [drop])}),
    )


@functools.cache
def impairments(scale: Scale) -> Options:
    """Impairments of packets on any link."""
    shares = st.sampled_from([0.01, 0, "30%"])
    explicit: Options = {
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
        "jitter": parts(scale, 1e-5, 1e-3) | _varying(scale),
        "holds": st.sampled_from(["1000p", "40p", "1p"]),
        "batch": parts(scale, 1e-5, 1e-3),
    }
    fields = Impairments.model_fields.items()
    return {
        **{key: _parameter(scale, described) for key, described in fields if key not in explicit},
        **explicit,
    }


def _varying(scale: Scale) -> st.SearchStrategy[Table]:
    """Draw a jitter by a distribution."""
    names = st.sampled_from(["uniform", "normal", "pareto", "pareto-normal"])
    tables = [st.just({"table": str(TRACES / "some.dist")})] if scale.has_files else []
    return some(
        {"mean": parts(scale, 1e-5, 1e-3) | st.just("0s"), "deviation": parts(scale, 1e-5, 1e-3)},
        {"distribution": st.one_of(names, *tables), "overtaken": st.booleans()},
    )


@functools.cache
def hosts(scale: Scale) -> Options:
    """Connections of hosts to any network."""
    return {
        "edge_rate": st.one_of(multiples(scale, 10, 1, 0.5), st.just("unlimited")),
        "edge_queue": queues(scale, bdp=False),
        "edge_jitter": st.sampled_from(["0s", scale.time(1e-4), scale.time(0.01)]),
        "host_delay": parts(scale, 1e-5, 1e-3, 0.01),
        "clock_ppm": st.sampled_from([0, 20, 1000]),
        "receive_rate": st.sampled_from(
            [max(1, int(scale.rate_bps * share / PACKET_BITS)) for share in (0.5, 1, 2)]
        ),
        "receive_ring": st.sampled_from(["256p", "1p"]),
        "overhead": st.sampled_from(["none", "ip", "ethernet"]),
    }


OFTEN: Final = ("loss", "loss", "host_delay", "edge_rate")
"""Keys that meet shortcuts of the engine."""


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


SWITCHES: Final[tuple[Table, Options]] = (
    {"memory": st.sampled_from(["30kb", "150kb", "12mb"])},
    {"alpha": st.sampled_from([1, 0.5, 8])},
)
"""The memory of a switch; with the smallest a queue alone holds 10 kB."""


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
            "switch": some(*SWITCHES),
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
    memory, alpha = SWITCHES
    nodes = st.sampled_from(["a", "b", "c"])
    switch = some({"node": nodes, **memory}, alpha)
    switches = st.lists(switch, max_size=2, unique_by=lambda drawn: drawn["node"])
    return some(
        {"topology": st.just("graph"), "link": links, "rtt": parts(scale, 0.01)},
        {"switch": switches, **hosts(scale)},
    )


@functools.cache
def networks(scale: Scale) -> st.SearchStrategy[Table]:
    """Draw a network, half of the time a dumbbell."""
    plain = dumbbells(scale)
    return st.one_of(plain, plain, parking_lots(scale), graphs(scale)).map(_mended)


def _mended(network: Table) -> Table:
    """Leave out what cannot be: queues and clocks of hosts whose links and cards have no rate."""
    absent: set[str] = set()
    if network.get("edge_rate", "unlimited") == "unlimited":
        absent |= {"edge_queue", "clock_ppm"}
    if "receive_rate" not in network:
        absent.add("receive_ring")
    return {key: network[key] for key in network if key not in absent}
