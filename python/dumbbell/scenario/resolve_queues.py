"""From a queue of the file to its limit and discipline in base units."""

from __future__ import annotations

from typing import Any

from dumbbell.scenario.disciplines import AnyQueue
from dumbbell.scenario.disciplines.base import Passing, size_at
from dumbbell.scenario.disciplines.drop_tail import Fifo
from dumbbell.scenario.sizing import Sizing, queue_limit


def resolve_queue(queue: AnyQueue, sizing: Sizing, passing: Passing) -> dict[str, Any]:
    """Return a queue in base units; the key of an InputError is that inside the queue's table."""
    if isinstance(queue, Fifo):
        # A text may have stood here, so errors are about the queue itself.
        limit = None if queue.limit is None else queue_limit(queue.limit, sizing)
        return {"limit": limit, "discipline": {"kind": "fifo"}}
    limit = size_at("limit", queue.limit, sizing, queue_limit)
    discipline = {"kind": queue.discipline, **queue.fields(sizing, passing)}
    return {"limit": limit, "discipline": discipline}
