"""Parts of a run over which quantities are taken, as a test describes them.

The end of a window is a time of the run (``50s``), a share of the test's main window (``80%``), or
a time relative to an event. An event is the start or the stop of a flow, a group or a load (``start
of udp``, ``stop of 2 + 5s``), or the change of a link's rate or delay (``step 1``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, WithJsonSchema, model_validator

from dumbbell.base.errors import InputError
from dumbbell.base.units import Duration, format_time, parse_share, parse_time
from dumbbell.base.validation import FIELD_DOCSTRINGS

BUILT_IN: Final = ("main", "run", "late", "final")
"""Windows that every test has: the main one, the whole run, the main one's last half and fifth."""

_EVENT: Final = re.compile(
    r"(?P<event>start of|stop of|step)\s+(?P<name>.+?)(?:\s+(?P<sign>[+-])\s*(?P<time>\S+))?"
)
_STEP: Final = re.compile(r"(?P<number>[1-9]\d{0,5})(?:\s+of\s+(?P<link>.+))?")
_FORMS: Final = '"50s", "80%", "start of udp", "stop of 2 + 5s", "step 1"'


@dataclass(frozen=True)
class At:
    """A time of the run, in ns."""

    time_ns: int


@dataclass(frozen=True)
class Part:
    """A share of the main window's length, from its beginning."""

    share: float


@dataclass(frozen=True)
class Event:
    """When a flow, a group or a load starts or stops, and some ns later (or earlier)."""

    what: Literal["start", "stop"]
    name: str
    later_ns: int = 0


@dataclass(frozen=True)
class Step:
    """The n-th change of the rate or delay of a link (None: of any), and some ns later."""

    number: int
    link: str | None = None
    later_ns: int = 0


Instant = At | Part | Event | Step


def parse_instant(text: object) -> Instant:
    """Read the end of a window; another form is an InputError."""
    if not isinstance(text, str):
        raise InputError("not a time in a run", value=text, valid=_FORMS)
    event = _EVENT.fullmatch(text.strip())
    if event is not None:
        return _event(event, text)
    if text.strip().endswith("%"):
        return Part(float(parse_share(text)))
    try:
        return At(parse_time(text))
    except InputError:
        raise InputError("not a time in a run", value=text, valid=_FORMS) from None


def _event(parts: re.Match[str], text: str) -> Instant:
    later_ns = parse_time(parts["time"]) if parts["time"] else 0
    if parts["sign"] == "-":
        later_ns = -later_ns
    name = parts["name"].strip()
    if parts["event"] == "step":
        step = _STEP.fullmatch(name)
        if step is None:
            raise InputError("not a step", value=text, valid='for example "step 1 of forward"')
        return Step(int(step["number"]), step["link"], later_ns)
    return Event("start" if parts["event"] == "start of" else "stop", name, later_ns)


def parse_settling(text: object) -> int | float:
    """Read a settling time: ns, or as a float a share of the window."""
    if isinstance(text, str) and text.strip().endswith("%"):
        share = float(parse_share(text))
        if not 0 <= share < 1:
            raise InputError("not a part of a window", value=text, valid='less than "100%"')
        return share
    if not isinstance(text, str):
        raise InputError("not a settling time", value=text, valid='for example "5s" or "20%"')
    return parse_time(text)


_Instant = Annotated[
    Any, PlainValidator(parse_instant), WithJsonSchema({"type": "string", "format": "instant"})
]
_Settling = Annotated[
    Any, PlainValidator(parse_settling), WithJsonSchema({"type": "string", "format": "settling"})
]


class Window(BaseModel):
    """A part of a run."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        use_attribute_docstrings=FIELD_DOCSTRINGS,
        populate_by_name=True,
    )

    begin: _Instant | None = Field(
        None, alias="from", examples=["50s", "start of udp", "80%", "step 1"]
    )
    """Beginning of the window: a time of the run, a share of the main window, an event or a step.
    Events are `start of` or `stop of` a flow (its number, from 1, or its label), a group or a load.
    A `step` of a rate or delay has a number. Each may have `+ 5s` or `- 5s`. By default, the window
    begins when the last sampled TCP flow has started."""

    end: _Instant | None = Field(None, alias="to", examples=["100s", "stop of udp"])
    """End of the window, in the same form; by default the end of the run."""

    length: Duration | None = Field(None, gt=0, examples=["600s"])
    """Its largest length, including the part that `settle` omits."""

    settle: _Settling = Field(0, examples=["5s", "20%"])
    """Part that is omitted at its beginning: a time, or a share of the window."""

    @model_validator(mode="after")
    def _begins_before_it_ends(self) -> Self:
        begin, end = self.begin, self.end
        if isinstance(begin, At) and isinstance(end, At) and begin.time_ns >= end.time_ns:
            raise InputError(
                "ends before it begins",
                key="to",
                value=format_time(end.time_ns),
                valid=f"more than {format_time(begin.time_ns)}",
            )
        return self


class NamedWindow(Window):
    """A part of a run that quantities name: ``goodput_mbit_per_s@during``."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_-]*$", max_length=60, examples=["during"])
    """Its name."""

    @model_validator(mode="after")
    def _not_built_in(self) -> Self:
        if self.name in BUILT_IN:
            raise InputError(
                "every test has a window of this name",
                key="name",
                value=self.name,
                valid="another name",
            )
        return self


def differing(windows: tuple[NamedWindow, ...]) -> tuple[NamedWindow, ...]:
    """Return windows whose names differ; a second one of a name is an InputError."""
    names = [window.name for window in windows]
    for before, name in enumerate(names):
        if name in names[:before]:
            raise InputError("a second window of this name", key=f"{before + 1}.name", value=name)
    return windows
