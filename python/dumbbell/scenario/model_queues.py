"""Queues: drop-tail or one of the active disciplines, with the defaults of Linux and the RFCs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    Field,
    SerializerFunctionWrapHandler,
    field_validator,
    model_serializer,
    model_validator,
)

from dumbbell.base.errors import InputError, near, unknown
from dumbbell.base.keys import numbered
from dumbbell.base.units import (
    QUEUE_EXAMPLES,
    Count,
    Duration,
    Limit,
    Number,
    Queue,
    Share,
    Time,
    Volume,
    format_time,
    parse_limit,
)
from dumbbell.scenario.tables import Abbreviable, Name, Table

_UPDATE_MIN_NS: Final = 10_000


class Fifo(Abbreviable):
    """First in, first out; what arrives at a full queue is dropped. Its limit alone will do."""

    abbreviation = {"type": "string", "format": "queue"}  # noqa: RUF012 - it is a ClassVar

    discipline: Literal["fifo", "drop-tail"] = "fifo"

    limit: Limit = Field(examples=["175p", "0.2bdp", "unlimited"])
    """Limit of the queue."""

    @field_validator("discipline")
    @classmethod
    def _one_name(cls, _: str) -> str:
        return "fifo"

    @model_serializer(mode="wrap")
    def _compact(self, handler: SerializerFunctionWrapHandler) -> Any:
        return handler(self)["limit"]


CLASSES_MAX: Final = 255

UNLIMITED: Final = Fifo(discipline="fifo", limit=None)
"""A queue without a limit."""


class Step(Table):
    """Drop-tail that marks ECN-capable packets when much is waiting (DCTCP, RFC 8257)."""

    discipline: Literal["step"]

    limit: Limit = Field(examples=["1000p", "1mb"])
    """Limit of the queue."""

    threshold: Queue = Field(examples=["65p", "100kb"])
    """Packets that find this much or more waiting are marked."""


class Red(Table):
    """Random early detection (Floyd and Jacobson 1993); `ared` adapts its probability."""

    discipline: Literal["red", "ared"]

    limit: Limit = Field(examples=["1000p"])
    """Limit of the queue."""

    min_threshold: Queue = Field("5p", validate_default=True, examples=["5p", "0.05bdp", "1ms"])
    """Average queue from which packets are dropped or marked."""

    max_threshold: Queue | None = Field(None, examples=["15p"])
    """Average queue at which the probability is `max_probability`; by default three times
    `min_threshold`."""

    max_probability: Share = Field(0.1, examples=[0.1, "2%"])
    """Probability at `max_threshold`."""

    weight: Share = Field(0.002, examples=[0.002])
    """Weight of a new packet in the average."""

    gentle: bool = True
    """True if the probability rises to 1 at twice `max_threshold`, rather than at once."""

    adaptive: bool = False
    """True if `max_probability` adapts (Floyd, Gummadi and Shenker 2001); true for `ared`."""

    ecn: bool = False
    """True if ECN-capable packets are marked instead of dropped."""

    @model_validator(mode="before")
    @classmethod
    def _ared(cls, value: Any) -> Any:
        if not isinstance(value, Mapping) or value.get("discipline") != "ared":
            return value
        if value.get("adaptive", True) is not True:
            raise InputError("ared is adaptive", key="adaptive", valid='true, or discipline "red"')
        return {**value, "discipline": "red", "adaptive": True}

    @model_validator(mode="after")
    def _possible(self) -> Self:
        for key in ("max_probability", "weight"):
            if getattr(self, key) == 0:
                raise InputError("must be more than 0", key=key, value=0, valid="0 < share <= 1")
        return self


class _Delay(Table):
    """A discipline that holds the time in the queue to a target."""

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        target: int | None = getattr(self, "target", None)
        interval: int | None = getattr(self, "interval", None)
        if target is not None and interval is not None and target > interval:
            raise InputError(
                f"longer than the interval of {format_time(interval)}",
                key="target",
                value=format_time(target),
                valid=f"at most {format_time(interval)}",
            )
        return self


class CoDel(_Delay):
    """Controlled delay (RFC 8289): drops when packets wait too long for too long."""

    discipline: Literal["codel"]

    limit: Limit = Field("1000p", validate_default=True, examples=["1000p"])
    """Limit of the queue."""

    target: Duration = Field("5ms", validate_default=True, examples=["5ms"])
    """Acceptable waiting time."""

    interval: Duration = Field("100ms", validate_default=True, examples=["100ms"])
    """Time for which a longer wait is tolerated; about the largest usual round-trip time."""

    ecn: bool = False
    """True if ECN-capable packets are marked instead of dropped."""


class FqCoDel(_Delay):
    """A queue for each flow, served in turn, each with CoDel (RFC 8290)."""

    discipline: Literal["fq-codel"]

    limit: Limit = Field("10240p", validate_default=True, examples=["10240p"])
    """Limit of all queues together."""

    target: Duration = Field("5ms", validate_default=True, examples=["5ms"])
    """Acceptable waiting time."""

    interval: Duration = Field("100ms", validate_default=True, examples=["100ms"])
    """Time for which a longer wait is tolerated."""

    queues: Count = Field(1024, examples=[1024])
    """Number of queues that flows are hashed to."""

    quantum: Volume = Field(1514, examples=[1514, 300])
    """Bytes that a queue may send in its turn."""

    ecn: bool = True
    """True if ECN-capable packets are marked instead of dropped."""


class Pie(Table):
    """Proportional integral controller enhanced (RFC 8033): holds the delay by a drop rate."""

    discipline: Literal["pie"]

    limit: Limit = Field("1000p", validate_default=True, examples=["1000p"])
    """Limit of the queue."""

    target: Duration = Field("15ms", validate_default=True, examples=["15ms"])
    """Waiting time that is aimed at."""

    update: Duration = Field("15ms", validate_default=True, examples=["15ms"])
    """Time between updates of the drop probability (T_UPDATE), at least 10 us."""

    alpha: Number = Field(0.125, examples=[0.125])
    """Weight of the delay's distance from the target, per second."""

    beta: Number = Field(1.25, examples=[1.25])
    """Weight of the delay's trend, per second."""

    burst: Time = Field("150ms", validate_default=True, examples=["150ms"])
    """Bursts up to this long are let through after idleness (MAX_BURST)."""

    ecn: bool = False
    """True if ECN-capable packets are marked instead of dropped while the probability is low."""

    @field_validator("alpha", "beta")
    @classmethod
    def _weights(cls, weight: float) -> float:
        if weight == 0:
            raise InputError("must be more than 0")
        return weight

    @field_validator("update")
    @classmethod
    def _update_limit(cls, update: int) -> int:
        if update < _UPDATE_MIN_NS:
            raise InputError("too short: each update is computed", valid="at least 10us")
        return update


class Fq(Table):
    """A queue for each flow, served in turn (Linux's fq; pacing is the senders' business)."""

    discipline: Literal["fq"]

    limit: Limit = Field("10000p", validate_default=True, examples=["10000p"])
    """Limit of all queues together."""

    flow_limit: Queue = Field("100p", validate_default=True, examples=["100p"])
    """Limit of one flow."""

    quantum: Volume = Field(3028, examples=[3028])
    """Bytes that a flow may send in its turn."""

    initial_quantum: Volume = Field(15140, examples=[15140])
    """Bytes that a flow may send in its first turn."""


class Class(Table):
    """One of the classes of a queue."""

    name: Name = Field(examples=["nv"])
    """Name of the class in flows; with `by = "ecn"` it is `ecn` or `other`."""

    weight: Count = Field(1, examples=[2])
    """Its share of the turns, relative to the others."""


OTHER: Final = "other"
"""The class of whatever belongs to none."""

ECN_CLASSES: Final = ("ecn", OTHER)


class Classes(Table):
    """Classes of packets that take turns, or of which the first that waits goes first."""

    discipline: Literal["classes"]

    limit: Limit = Field(examples=["1mb"])
    """Limit of each class."""

    by: Literal["ecn", "class"] = Field("ecn", examples=["class"])
    """Criterion of a packet's class: `ecn`, ECN capability (the switch of Brakmo), or `class`, the
    `class` of its flow."""

    serve: Literal["round-robin", "priority"] = Field("round-robin", examples=["priority"])
    """Order of service: the classes take turns by their weights, or a class precedes those that are
    named after it."""

    class_: tuple[Class, ...] = Field(
        (), alias="class", examples=[[{"name": "nv", "weight": 2}, {"name": "other"}]]
    )
    """The classes, in order of precedence. `other` is that of flows whose class has no name here.
    With `by = "ecn"` there are `ecn` and `other`, which need not be named."""

    threshold: Queue | None = Field(None, examples=["65p"])
    """ECN-capable packets that find this much or more waiting in their class are marked; by default
    none are."""

    quantum: Volume = Field(1514, examples=[1514])
    """Bytes that a class of weight 1 may send in its turn."""

    @property
    def classes(self) -> tuple[Class, ...]:
        """The classes, whether they are named or not."""
        return self.class_ or tuple(Class(name=name) for name in ECN_CLASSES)

    @model_validator(mode="after")
    def _possible(self) -> Self:
        names = [each.name for each in self.class_]
        if self.by == "class" and not names:
            raise InputError(
                "is missing", key="class", valid='for example [{ name = "nv" }, { name = "other" }]'
            )
        if len(names) > CLASSES_MAX:
            raise InputError("too many classes", key="class", valid=f"at most {CLASSES_MAX}")
        for before, (key, name) in enumerate(numbered("class", names)):
            if name in names[:before]:
                raise InputError("named twice", key=f"{key}.name", value=name, valid="another name")
            if self.by == "ecn" and name not in ECN_CLASSES:
                raise unknown("ECN class", name, ECN_CLASSES).at(key=f"{key}.name")
        if self.by == "ecn" and names and len(names) < len(ECN_CLASSES):
            missing = next(name for name in ECN_CLASSES if name not in names)
            raise InputError(
                f"{missing} is missing", key="class", valid="ecn and other, or none of them"
            )
        if self.serve == "priority":
            for key, each in numbered("class", self.class_):
                if each.weight != 1:
                    raise InputError(
                        "by priority classes have no weights",
                        key=f"{key}.weight",
                        value=each.weight,
                        valid='no weight, or serve = "round-robin"',
                    )
        return self


AnyQueue = Fifo | Step | Red | CoDel | FqCoDel | Pie | Fq | Classes

DISCIPLINES: Final = (
    *("fifo", "drop-tail", "step", "red", "ared", "codel", "fq-codel", "pie", "fq", "classes"),
)
"""Names of the disciplines."""


def _as_table(value: Any) -> Any:
    """Read a text as a drop-tail queue; a table without `discipline` is one, too."""
    if isinstance(value, BaseModel):
        return value
    if not isinstance(value, Mapping):
        _check_no_discipline(value)
        return {"discipline": "fifo", "limit": parse_limit(value)}
    name = value.get("discipline", "fifo")
    if name not in DISCIPLINES:
        raise unknown("queue discipline", str(name), DISCIPLINES).at(key="discipline")
    return {"discipline": "fifo", **value}


def _check_no_discipline(value: Any) -> None:
    """Refuse a word in place of a queue's size, and show where a discipline belongs."""
    if not isinstance(value, str) or not re.fullmatch(r"[A-Za-z_-]+[0-9]?", value.strip()):
        return
    if value.strip().lower() == "unlimited":
        return
    name = near(value.replace("_", "-"), DISCIPLINES)
    problem = "a discipline" if name is not None else "a word"
    example = f'{{ discipline = "{name or "fq-codel"}" }}'
    raise InputError(
        f"{problem}, not the size of a queue", value=value, valid=f"{QUEUE_EXAMPLES}, {example}"
    )


QueueSpec = Annotated[AnyQueue, Field(discriminator="discipline"), BeforeValidator(_as_table)]
"""A queue: the limit of a drop-tail queue, or a table."""
