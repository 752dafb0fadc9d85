"""Files as iperf3 and Flent write them, for tests: whole ones, and such as no tool would write."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final


def stream(number: int, second: int, **changes: Any) -> dict[str, Any]:
    """Return an interval of a stream: 11 Mbit/s, and RTTs from 40 to 60 ms."""
    return {
        "socket": 4 + number,
        "start": second,
        "end": second + 1,
        "seconds": 1.0,
        "bytes": 1_375_000,
        "retransmits": int(second % 5 == 4),
        "snd_cwnd": 55_000 + 6_875 * (second % 5),
        "rtt": 40_000 + 5_000 * (second % 5),
        "omitted": False,
        "sender": True,
        **changes,
    }


def received(number: int, second: int, **changes: Any) -> dict[str, Any]:
    """Return an interval of a stream as its receiver sees it: 5.5 Mbit/s, and nothing else."""
    return {
        "socket": 4 + number,
        "start": second,
        "end": second + 1,
        "seconds": 1.0,
        "bytes": 687_500,
        "omitted": False,
        "sender": False,
        **changes,
    }


def iperf3(**changes: Any) -> dict[str, Any]:
    """Return what iperf3 writes of two streams that have a path of 22.8 Mbit/s for ten seconds."""
    return {
        "start": {
            "version": "iperf 3.18",
            "tcp_mss_default": 1448,
            "test_start": {"protocol": "TCP", "num_streams": 2, "omit": 0, "reverse": 0},
        },
        "intervals": [
            {"streams": [stream(number, second) for number in (0, 1)]} for second in range(10)
        ],
        "end": {
            "streams": [
                {"sender": {**stream(number, 0), "end": 10, "bytes": 13_750_000, "min_rtt": 39_500}}
                for number in (0, 1)
            ],
            "sender_tcp_congestion": "cubic",
        },
        **changes,
    }


def written(folder: Path, content: Any, name: str = "measured.json") -> Path:
    file = folder / name
    file.write_text(json.dumps(content))
    return file


def flent(**results: Sequence[float | None]) -> dict[str, Any]:
    count = 20
    return {
        "version": 4,
        "metadata": {
            "NAME": "tcp_nup",
            "FLENT_VERSION": "2.1.1",
            "SERIES_META": {"TCP upload::1": {"CONG_CONTROL": "reno"}},
        },
        "x_values": [0.2 * place for place in range(count)],
        "results": {
            "TCP upload::1": [None, *[9.5] * (count - 1)],
            "TCP upload sum": [9.5] * count,
            "TCP upload::1::tcp_rtt": [40.0 + place for place in range(count)],
            "TCP upload::1::tcp_cwnd": [20.0] * count,
            "Ping (ms) ICMP": [41.0] * count,
            **results,
        },
    }


WRONG: Final[tuple[Any, ...]] = (
    *(float("nan"), float("inf"), -1.0, -5e-6, 1e308, -1e308, 1e-300, 0, 10**30, 2**63),
    *(None, True, "", "nan", "1e9", "x" * 5000, [], {}, [[[[]]]], {"a": {"a": {}}}),
)
"""Values to put where a number or a table is expected."""


def mutated(content: dict[str, Any], draw: random.Random) -> str:
    """Return a file with one to three places changed at random, as text.

    Values become wrong ones, entries vanish, come twice or change places, and the text may be cut.
    """
    content = copy.deepcopy(content)
    for _ in range(draw.randint(1, 3)):
        _change(content, draw)
    text = json.dumps(content)
    if draw.random() < 0.1:
        text = text[: draw.randrange(len(text))]
    return text * 2 if draw.random() < 0.05 else text


def _change(content: Any, draw: random.Random) -> None:
    """Change something below a table or an array."""
    here = content
    while True:
        keys = list(here) if isinstance(here, dict) else list(range(len(here)))
        if not keys:
            return
        key = draw.choice(keys)
        if not isinstance(here[key], dict | list) or draw.random() < 0.15:
            break
        here = here[key]
    match draw.randrange(6):
        case 0:
            del here[key]
        case 1 if isinstance(here, list):
            here.append(copy.deepcopy(here[key]))
        case 2 if isinstance(here, list):
            draw.shuffle(here)
        case _:
            here[key] = copy.deepcopy(draw.choice(WRONG))
