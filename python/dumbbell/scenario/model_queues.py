"""The queue of a link: a text or a table of one of the disciplines."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field

from dumbbell.base.errors import InputError, near, unknown
from dumbbell.base.units import QUEUE_EXAMPLES, parse_limit
from dumbbell.scenario.disciplines import MODELS, AnyQueue


def _as_table(value: Any) -> Any:
    """Read a text as a drop-tail queue; a table without `discipline` is one, too."""
    if isinstance(value, BaseModel):
        return value
    if not isinstance(value, Mapping):
        _check_no_discipline(value)
        return {"discipline": "fifo", "limit": parse_limit(value)}
    name = value.get("discipline", "fifo")
    if not isinstance(name, str) or name not in MODELS:
        raise unknown("queue discipline", str(name), MODELS).at(key="discipline")
    return {"discipline": "fifo", **value}


def _check_no_discipline(value: Any) -> None:
    """Refuse a word in place of a queue's size, and show where a discipline belongs."""
    if not isinstance(value, str) or not re.fullmatch(r"[A-Za-z_-]+[0-9]?", value.strip()):
        return
    if value.strip().lower() == "unlimited":
        return
    written = value.strip().lower().replace("_", "-")
    name = near(written, MODELS)
    problem = "a discipline" if written in MODELS else "a word"
    example = f'{{ discipline = "{name or "fq-codel"}" }}'
    raise InputError(
        f"{problem}, not the size of a queue", value=value, valid=f"{QUEUE_EXAMPLES}, {example}"
    )


QueueSpec = Annotated[AnyQueue, Field(discriminator="discipline"), BeforeValidator(_as_table)]
"""A queue: the limit of a drop-tail queue, or a table."""
