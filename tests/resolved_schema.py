"""The form that the engine reads, written down once more: resolved scenarios must have it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jsonschema  # type: ignore[import-untyped]

Json = dict[str, Any]


def table(*, optional: Mapping[str, Json] | None = None, **properties: Any) -> Json:
    """Describe a table that has exactly these keys, and may have those that are optional."""
    return {
        "type": "object",
        "properties": {**properties, **(optional or {})},
        "required": list(properties),
        "additionalProperties": False,
    }


def or_null(schema: Json) -> Json:
    return {"oneOf": [{"type": "null"}, schema]}


def one_of(*schemas: Json) -> Json:
    return {"oneOf": list(schemas)}


def array(items: Json, least: int = 0) -> Json:
    return {"type": "array", "items": items, "minItems": least}


def kind(name: str, **properties: Any) -> Json:
    return table(kind={"const": name}, **properties)


TEXT: Json = {"type": "string"}
FLAG: Json = {"type": "boolean"}
WHOLE: Json = {"type": "integer", "minimum": 0, "maximum": 2**64 - 1}
POSITIVE: Json = {**WHOLE, "minimum": 1}
U16: Json = {**WHOLE, "maximum": 2**16 - 1}
U32: Json = {**POSITIVE, "maximum": 2**32 - 1}
NUMBER: Json = {"type": "number", "minimum": 0}
SHARE: Json = {**NUMBER, "maximum": 1}
CHANCE: Json = {**NUMBER, "exclusiveMaximum": 1}


def steps(value: Json) -> Json:
    entry = {"type": "array", "prefixItems": [WHOLE, value], "minItems": 2, "maxItems": 2}
    first = {"type": "array", "prefixItems": [{"const": 0}, value]}
    return {**array(entry, 1), "prefixItems": [first]}


SIZE = one_of(table(packets=POSITIVE), table(bytes=POSITIVE))
CODEL = {"target_ns": POSITIVE, "interval_ns": POSITIVE, "ecn": FLAG}
ON_OFF = table(on_ns=POSITIVE, off_ns=POSITIVE, random=FLAG)

DISCIPLINE = one_of(
    kind("fifo"),
    kind("step", threshold=SIZE),
    kind(
        "red",
        min_packets=NUMBER,
        max_packets=NUMBER,
        max_probability=SHARE,
        weight=SHARE,
        gentle=FLAG,
        adaptive=FLAG,
        ecn=FLAG,
    ),
    kind("codel", **CODEL),
    kind("fq-codel", **CODEL, queues=POSITIVE, quantum_bytes=POSITIVE),
    kind(
        "pie",
        target_ns=POSITIVE,
        update_ns=POSITIVE,
        alpha=NUMBER,
        beta=NUMBER,
        burst_ns=WHOLE,
        ecn=FLAG,
    ),
    kind("fq", quantum_bytes=POSITIVE, initial_quantum_bytes=POSITIVE, flow_limit_packets=POSITIVE),
    kind("two-class", threshold=or_null(SIZE), quantum_bytes=POSITIVE),
)

RATE = one_of(
    table(constant=POSITIVE),
    table(steps=steps(WHOLE)),
    table(trace=table(times_ns=array(WHOLE, 1), period_ns=POSITIVE, bytes={"const": 1504})),
    table(token_bucket=table(rate_bps=POSITIVE, burst_bytes=POSITIVE, peak_bps=or_null(POSITIVE))),
)

LOSS = one_of(
    kind("bernoulli", probability=steps(CHANCE)),
    kind("gilbert-elliott", to_bad=SHARE, to_good=SHARE, loss_good=SHARE, loss_bad=SHARE),
    kind("scripted", drops=array(table(flow=WHOLE, number=WHOLE, times=POSITIVE), 1)),
)

LINK = table(
    name=TEXT,
    rate=or_null(RATE),
    delay=steps(WHOLE),
    overhead_bytes=U16,
    queue=table(limit=or_null(SIZE), discipline=DISCIPLINE),
    policer=or_null(table(rate_bps=POSITIVE, burst_bytes=POSITIVE)),
    loss=array(LOSS),
    duplicate=CHANCE,
    reorder=or_null(table(probability=CHANCE, delay_ns=POSITIVE)),
    jitter_ns=WHOLE,
    batch_ns=WHOLE,
    sampled=FLAG,
)

ROUTE = table(hops=array(table(link=WHOLE, delay_ns=WHOLE)), delay_ns=WHOLE)

DEMAND = one_of(
    {"const": "endless"},
    table(transfer=POSITIVE),
    table(requests=table(bytes=POSITIVE, pause_ns=WHOLE)),
    table(on_off=ON_OFF),
)

TCP_BPF = table(
    cwnd_clamp_segs=or_null(U32),
    initial_window_segs=or_null(U32),
    send_buffer_bytes=or_null(U32),
    receive_buffer_bytes=or_null(U32),
    base_rtt_us=or_null(U32),
)

TRANSPORT = one_of(
    table(
        tcp=table(
            algorithm=TEXT,
            preset=or_null(TEXT),
            parameters={"type": "object", "additionalProperties": WHOLE},
            stack=table(profile=TEXT, switches={"type": "object"}),
            demand=DEMAND,
            tcp_bpf=or_null(TCP_BPF),
        )
    ),
    table(udp=table(rate_bps=POSITIVE, on_off=or_null(ON_OFF))),
)

FLOW = table(
    label=TEXT,
    start_ns=WHOLE,
    stop_ns=or_null(POSITIVE),
    packet_bytes=U16,
    header_bytes=U16,
    forward=ROUTE,
    reverse=ROUTE,
    sampled=FLAG,
    transport=TRANSPORT,
)

SCENARIO = table(
    seed=WHOLE,
    duration_ns=POSITIVE,
    links=array(LINK),
    flows=array(FLOW, 1),
    record=table(
        interval_ns=or_null(POSITIVE), events=array(TEXT), algorithm_state=FLAG, capture=FLAG
    ),
    optional={"sources": {"type": "object", "additionalProperties": TEXT, "minProperties": 1}},
)

_VALIDATOR = jsonschema.Draft202012Validator(SCENARIO)


def assert_contract(data: Mapping[str, Any]) -> None:
    """Check the form, and that every reference leads somewhere."""
    _VALIDATOR.validate(data)
    names = [link["name"] for link in data["links"]]
    assert len(set(names)) == len(names)
    labels = [flow["label"] for flow in data["flows"]]
    assert len(set(labels)) == len(labels)
    for flow in data["flows"]:
        for route in (flow["forward"], flow["reverse"]):
            assert len(route["hops"]) <= 255
            assert all(hop["link"] < len(names) for hop in route["hops"])
        assert flow["start_ns"] < data["duration_ns"]
        assert flow["stop_ns"] is None or flow["stop_ns"] > flow["start_ns"]
    for link in data["links"]:
        for loss in link["loss"]:
            assert all(drop["flow"] < len(labels) for drop in loss.get("drops", ()))
