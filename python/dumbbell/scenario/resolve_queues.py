"""From a queue of the file to its limit and discipline in base units."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from dumbbell.base.errors import InputError, placed
from dumbbell.base.units import QueueSize
from dumbbell.scenario.model_queues import (
    OTHER,
    AnyQueue,
    Classes,
    CoDel,
    Fifo,
    Fq,
    FqCoDel,
    Pie,
    Red,
    Step,
)
from dumbbell.scenario.sizing import Sizing, exact_packets, queue_limit, whole_packets

Resolved = TypeVar("Resolved")


FlowClasses = Sequence[str | None]
"""The class of each flow of a scenario; None: it names none."""


def resolve_queue(queue: AnyQueue, sizing: Sizing, classes: FlowClasses = ()) -> dict[str, Any]:
    """Return a queue in base units; the key of an InputError is that inside the queue's table."""
    if isinstance(queue, Fifo):
        # A text may have stood here, so errors are about the queue itself.
        limit = None if queue.limit is None else queue_limit(queue.limit, sizing)
        return {"limit": limit, "discipline": {"kind": "fifo"}}
    limit = _at("limit", queue.limit, sizing, queue_limit)
    return {"limit": limit, "discipline": _discipline(queue, sizing, classes)}


def _discipline(queue: AnyQueue, sizing: Sizing, classes: FlowClasses) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    match queue:
        case Step():
            fields = {"threshold": _at("threshold", queue.threshold, sizing, queue_limit)}
        case Red():
            fields = _red(queue, sizing)
        case CoDel():
            fields = _codel(queue)
        case FqCoDel():
            shares = {"queues": queue.queues, "quantum_bytes": queue.quantum}
            fields = {**_codel(queue), **shares}
        case Pie():
            fields = _pie(queue)
        case Fq():
            fields = {
                "quantum_bytes": queue.quantum,
                "initial_quantum_bytes": queue.initial_quantum,
                "flow_limit_packets": _at("flow_limit", queue.flow_limit, sizing, whole_packets),
            }
        case Classes():
            fields = _classes(queue, sizing, classes)
    return {"kind": queue.discipline, **fields}


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


def _classes(queue: Classes, sizing: Sizing, flows: FlowClasses) -> dict[str, Any]:
    numbers = {each.name: number for number, each in enumerate(queue.classes)}
    if queue.by == "ecn":
        by: dict[str, Any] = {"ecn": {"capable": numbers["ecn"], "other": numbers[OTHER]}}
    else:
        by = {"flows": [_class(flow, numbers) for flow in flows]}
    if queue.serve == "priority":
        serve: dict[str, Any] = {"priority": {"classes": len(numbers)}}
    else:
        weights = [each.weight for each in queue.classes]
        serve = {"round_robin": {"quantum_bytes": queue.quantum, "weights": weights}}
    threshold = _at("threshold", queue.threshold, sizing, queue_limit)
    return {"by": by, "serve": serve, "threshold": threshold}


def _class(name: str | None, numbers: Mapping[str, int]) -> int:
    """Return the number of a flow's class."""
    number = numbers.get(OTHER if name is None else name, numbers.get(OTHER))
    if number is None:
        whose = "a flow that names no class" if name is None else f"the class {name} of a flow"
        raise InputError(
            f"does not say where {whose} belongs",
            key="class",
            value=list(numbers),
            valid=f'a class of this name, or {{ name = "{OTHER}" }}',
        )
    return number


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
    with placed(key=key):
        return None if size is None else read(size, sizing)
