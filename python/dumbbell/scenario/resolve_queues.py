"""From a queue of the file to its limit and discipline in base units."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from dumbbell.errors import InputError
from dumbbell.scenario.model_queues import (
    AnyQueue,
    CoDel,
    Fifo,
    Fq,
    FqCoDel,
    Pie,
    Red,
    Step,
    TwoClass,
)
from dumbbell.scenario.sizing import Sizing, exact_packets, queue_limit, whole_packets
from dumbbell.units import QueueSize

Resolved = TypeVar("Resolved")


def resolve_queue(queue: AnyQueue, sizing: Sizing) -> dict[str, Any]:
    """Return a queue in base units; the key of an InputError is that inside the queue's table."""
    if isinstance(queue, Fifo):
        # A text may have stood here, so errors are about the queue itself.
        limit = None if queue.limit is None else queue_limit(queue.limit, sizing)
        return {"limit": limit, "discipline": {"kind": "fifo"}}
    limit = _at("limit", queue.limit, sizing, queue_limit)
    return {"limit": limit, "discipline": _discipline(queue, sizing)}


def _discipline(queue: AnyQueue, sizing: Sizing) -> dict[str, Any]:
    found: dict[str, Any] = {}
    match queue:
        case Step():
            found = {"threshold": _at("threshold", queue.threshold, sizing, queue_limit)}
        case Red():
            found = _red(queue, sizing)
        case CoDel():
            found = _codel(queue)
        case FqCoDel():
            shares = {"queues": queue.queues, "quantum_bytes": queue.quantum}
            found = {**_codel(queue), **shares}
        case Pie():
            found = _pie(queue)
        case Fq():
            found = {
                "quantum_bytes": queue.quantum,
                "initial_quantum_bytes": queue.initial_quantum,
                "flow_limit_packets": _at("flow_limit", queue.flow_limit, sizing, whole_packets),
            }
        case TwoClass():
            threshold = _at("threshold", queue.threshold, sizing, queue_limit)
            found = {"threshold": threshold, "quantum_bytes": queue.quantum}
    return {"kind": queue.discipline, **found}


def _red(queue: Red, sizing: Sizing) -> dict[str, Any]:
    least = _at("min_threshold", queue.min_threshold, sizing, exact_packets)
    most = _at("max_threshold", queue.max_threshold, sizing, exact_packets)
    assert least is not None
    most = 3 * least if most is None else most
    if most <= least:
        raise InputError(
            f"not more than min_threshold = {queue.min_threshold}",
            key="max_threshold",
            value=str(queue.max_threshold),
            valid="more; by default three times as much",
        )
    return {
        "min_packets": float(least),
        "max_packets": float(most),
        "max_probability": queue.max_probability,
        "weight": queue.weight,
        "gentle": queue.gentle,
        "adaptive": queue.adaptive,
        "ecn": queue.ecn,
    }


def _codel(queue: CoDel | FqCoDel) -> dict[str, Any]:
    return {"target_ns": queue.target, "interval_ns": queue.interval, "ecn": queue.ecn}


def _pie(queue: Pie) -> dict[str, Any]:
    return {
        "target_ns": queue.target,
        "update_ns": queue.update,
        "alpha": queue.alpha,
        "beta": queue.beta,
        "burst_ns": queue.burst,
        "ecn": queue.ecn,
    }


def _at(
    key: str,
    size: QueueSize | None,
    sizing: Sizing,
    read: Callable[[QueueSize, Sizing], Resolved],
) -> Resolved | None:
    """Resolve the size under a key of a queue's table."""
    try:
        return None if size is None else read(size, sizing)
    except InputError as error:
        raise error.at(key=key) from None
