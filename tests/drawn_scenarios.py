"""Scenario files drawn at random: every key of a scenario, alone and with others."""

from __future__ import annotations

import copy
import functools
import json
from collections.abc import Sequence
from typing import Any, Final

from hypothesis import strategies as st

from drawn_networks import networks
from drawn_scale import Scale, Table, parts, scales, some
from drawn_traffic import arrivals, flows, own_paths, stacks
from dumbbell.algorithms import catalogue


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
def tops(scale: Scale) -> st.SearchStrategy[Table]:
    """Draw the keys that a scenario may have besides its network and its flows.

    It always sets the interval of samples: by default that is too short where links are slow.
    """
    return some(
        {"record": records(scale)},
        {"title": st.just("drawn"), "seed": st.integers(0, 2**64 - 1), "stack": stacks},
    )


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
        named = {"class": "other"} if has_classes and draw(st.booleans()) else {}
        return {**table, **named, **draw(path)}

    count = draw(flow_counts)
    entries = [{**placed_in(draw(flows(scale))), "label": label} for label in "abc"[:count]]
    arriving = [placed_in(draw(arrivals(scale))) for _ in range(draw(arrival_counts))]
    data: Table = {"duration": f"{scale.duration_ns}ns", "network": network, "flow": entries}
    if "algorithm" in entries[0] and draw(st.booleans()):
        data["algorithm"] = entries[0].pop("algorithm")
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
