"""The kinds of traces that can be generated, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from dumbbell.base.errors import InputError
from dumbbell.base.units import format_time
from dumbbell.experiments.generated import leo, lte, wifi
from dumbbell.scenario.path_traces import written

_NS_PER_MS: Final = 10**6
_LONGEST_NS: Final = 3600 * 10**9


@dataclass(frozen=True)
class Kind:
    """A kind of trace.

    Attributes
    ----------
    text
        Returns a trace from a seed and a duration in ms.
    use
        The keys of `network` that name it, with `{}` in place of the file.
    """

    text: Callable[[int, int], str]
    use: tuple[str, ...]


def _lines(seed: int, duration_ms: int) -> str:
    return "".join(f"{at_ms}\n" for at_ms in lte.departures_ms(seed, duration_ms))


_RATE: Final = 'rate = {{ trace = "{}" }}'
_DELAY: Final = 'delay = {{ trace = "{}" }}'
_LOSS: Final = 'loss = [{{ place = "bottleneck", probability = {{ trace = "{}" }} }}]'

KINDS: Final = {
    "leo": Kind(lambda seed, ms: written(leo.epochs(seed, ms)), (_RATE, _DELAY, _LOSS)),
    "lte": Kind(_lines, (_RATE,)),
    "wifi": Kind(lambda seed, ms: written(wifi.epochs(seed, ms)), (_RATE, _DELAY)),
}


def generated(kind: str, seed: int, duration_ns: int) -> str:
    """Return the content of a trace: the same for the same seed on any machine.

    Raises
    ------
    InputError
        A duration that is no whole number of milliseconds, or too long.
    """
    if duration_ns % _NS_PER_MS or not _NS_PER_MS <= duration_ns <= _LONGEST_NS:
        raise InputError(
            "not the length of a trace", key="duration", value=format_time(duration_ns),
            valid="whole milliseconds, from 1ms to 3600s",
        )  # fmt: skip
    return KINDS[kind].text(seed, duration_ns // _NS_PER_MS)
