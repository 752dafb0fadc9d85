"""Impairments of networks besides random loss, as scenarios have them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True)
class Trouble:
    """A trouble, and whom it befalls.

    Attributes
    ----------
    name
        As names of scenarios end.
    algorithm
        Of the flow: what changed most where an engine was found wrong.
    network
        Keys of the scenario's network.
    """

    name: str
    algorithm: str
    network: Mapping[str, Any]


def _outages(rate: str, *times_ms: tuple[int, int]) -> dict[str, Any]:
    steps = [{"at": "0s", "rate": rate}]
    for begin_ms, end_ms in times_ms:
        steps += [{"at": f"{begin_ms}ms", "rate": "0bit"}, {"at": f"{end_ms}ms", "rate": rate}]
    return {"rate": steps}


RATE_MBIT: Final = 20
"""Of the path of all of them."""

TROUBLES: Final = (
    Trouble("reordering", "cubic", {"reorder": {"probability": 0.01, "delay": "5ms"}}),
    Trouble("duplicates", "reno", {"duplicate": 0.01}),
    Trouble(
        "loss in bursts",
        "cubic",
        {
            "loss": [
                {
                    "place": "receiver",
                    "gilbert_elliott": {"to_bad": 0.002, "to_good": 0.2, "loss_bad": 0.7},
                }
            ]
        },
    ),
    Trouble("outages", "reno", _outages(f"{RATE_MBIT}mbit", (2000, 2500), (4500, 6000))),
    Trouble(
        "changes of the path",
        "cubic",
        {
            "delay": [
                {"at": "0s", "delay": "5ms"},
                {"at": "3s", "delay": "45ms"},
                {"at": "6s", "delay": "5ms"},
            ]
        },
    ),
)
"""One for each mechanism of a sender that losses at random do not call for: the degree of
reordering, D-SACK, bursts, timeouts and their undo, round trips that change."""
