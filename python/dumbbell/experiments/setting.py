"""The path on which algorithms are compared, and the scenario of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final

from dumbbell.algorithms import catalogue
from dumbbell.base.errors import InputError, placed
from dumbbell.base.units import (
    QUEUE_EXAMPLES,
    format_time,
    parse_probability,
    parse_queue,
    parse_rate,
    parse_time,
)
from dumbbell.experiments.mixes import Mix, group
from dumbbell.scenario.model import Scenario

SETTLING: Final = "20%"
"""The share of each run that averages leave out."""

_INTERVAL_NS_MAX: Final = 200 * 10**6
_SAMPLES: Final = 500
_START_RTTS: Final = 10
_ROUND_TRIPS_MIN: Final = 2
"""Round trips of the shortest run: flows start in its first tenth, and ACKs take another."""


OWN_START: Final = "own"
"""The value of the switch slow_start that leaves slow start to the algorithm."""

RESUMES: Final = "careful-resume"
"""The one that needs what an earlier connection measured."""


@dataclass(frozen=True)
class Setting:
    """The path, and how long and how often it is used; quantities as in a scenario file."""

    rate: str
    rtt: str
    buffer: str = "1bdp"
    loss: str = "0"
    duration: str = "60s"
    stack: str = "linux-6"
    slow_start: str = OWN_START

    def check(self) -> None:
        """Raise InputError, keyed by the attribute, for what is wrong alone or with the others."""
        readers: Mapping[str, Callable[[str], object]] = {
            "rate": parse_rate,
            "rtt": parse_time,
            "buffer": _buffer,
            "loss": parse_probability,
            "duration": parse_time,
            "stack": catalogue.stack_profile,
            "slow_start": _slow_start,
        }
        for key, read in readers.items():
            with placed(key=key):
                read(getattr(self, key))
        with of_setting():
            # Any algorithm will do, as it is the path that is checked.
            Scenario.parse(scenario_table(self, Mix((("reno", 1),))))

    def check_duration(self) -> None:
        """Raise InputError for runs that end before anything can be measured."""
        least_ns = _ROUND_TRIPS_MIN * parse_time(self.rtt)
        if parse_time(self.duration) < least_ns:
            raise InputError(
                f"shorter than {_ROUND_TRIPS_MIN} round trips of {self.rtt}: nothing is measured",
                key="duration",
                value=self.duration,
                valid=f"{format_time(least_ns)} or more",
            )


def _slow_start(text: str) -> object:
    """Refuse what needs more than its name."""
    if text == RESUMES:
        raise InputError(
            "needs the window and the RTT of an earlier connection",
            value=text,
            valid="a scenario file with the switches resume_window_segs and resume_rtt_ns",
        )
    return text


def _buffer(text: str) -> object:
    """Read the size of a queue; the name of a discipline is none."""
    if isinstance(text, str) and not any(character.isdigit() for character in text):
        valid = f"{QUEUE_EXAMPLES}; a discipline goes into a scenario file"
        raise InputError("not the size of a queue", value=text, valid=valid)
    return parse_queue(text)


_KEYS: Final[Mapping[str, str]] = {
    "network.rate": "rate",
    "network.rtt": "rtt",
    "network.queue": "buffer",
    "network.loss": "loss",
    "stack.switches.slow_start": "slow_start",
    "stack": "stack",
    "flow": "flows",
    "duration": "duration",
    "record": "duration",
}
"""Key of the scenario of a setting -> what it comes from."""


@contextmanager
def of_setting() -> Iterator[None]:
    """Name the key of the setting where the scenario that is made of it is wrong."""
    try:
        yield
    except InputError as error:
        whole = (error.key or "").partition("scenario.")[2] or error.key or ""
        for key, ours in _KEYS.items():
            if f"{whole}.".startswith(f"{key}."):
                # The user wrote no file, so its name and lines would mean nothing.
                raise replace(error, source=None, key=ours, line=None, others=()) from None
        raise replace(error, source=None, key=whole or None, line=None) from None


def option(key: str) -> str:
    """Return the option of the command that sets a key."""
    return f"--{key.replace('_', '-')}"


def _stack(setting: Setting) -> str | dict[str, Any]:
    """Return the stack of a setting: the name of its profile, unless a switch differs."""
    if setting.slow_start == OWN_START:
        return setting.stack
    return {"profile": setting.stack, "switches": {"slow_start": setting.slow_start}}


def of_stack(value: str | Mapping[str, Any]) -> tuple[str, str]:
    """Return stack and slow start of the setting that a scenario's `stack` is of."""
    if isinstance(value, str):
        return value, OWN_START
    return value["profile"], value["switches"]["slow_start"]


def scenario_table(setting: Setting, mix: Mix) -> dict[str, Any]:
    """Return the scenario of a mix on a path, as its file would say it."""
    duration_ns = parse_time(setting.duration)
    interval_ns = max(1, min(_INTERVAL_NS_MAX, duration_ns // _SAMPLES))
    latest_ns = min(_START_RTTS * parse_time(setting.rtt), duration_ns // 10)
    return {
        "duration": setting.duration,
        "stack": _stack(setting),
        "network": {
            "rate": setting.rate,
            "rtt": setting.rtt,
            "queue": setting.buffer,
            "loss": [{"place": "receiver", "probability": setting.loss}],
        },
        "flow": [
            {
                "algorithm": algorithm,
                "count": count,
                "start": {"from": "0s", "to": f"{latest_ns}ns"},
                "label": algorithm,
                **({"group": group(part)} if len(mix.parts) > 1 else {}),
            }
            for part, (algorithm, count) in enumerate(mix.parts, start=1)
        ],
        "record": {"interval": f"{interval_ns}ns", "events": ["congestion"]},
    }
