"""CAKE of tc as keys of a `network` table: its options are words, as tc-cake(8) lists them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, get_args

from dumbbell.base.units import format_rate, format_time
from dumbbell.experiments.imports.described.draft import Draft
from dumbbell.experiments.imports.described.tc_words import Words
from dumbbell.scenario.disciplines.cake import Cake

_RTTS: Final = {
    "datacentre": "100us", "lan": "1ms", "metro": "10ms", "regional": "30ms", "internet": "100ms",
    "oceanic": "300ms", "satellite": "1s", "interplanetary": "3600s",
}  # fmt: skip

_ATM: Final = {
    "pppoa-vcmux": 10, "pppoa-llc": 14, "pppoe-vcmux": 32, "pppoe-llcsnap": 40,
    "bridged-vcmux": 24, "bridged-llcsnap": 32, "ipoa-vcmux": 8, "ipoa-llcsnap": 16,
    "conservative": 48,
}  # fmt: skip

_SO_IN_ANY_CASE: Final = ("besteffort", "nat", "nonat", "nowash", "split-gso", "egress")

_KEYS: Final[Mapping[str, Mapping[str, Any]]] = {
    **{word: {} for word in _SO_IN_ANY_CASE},
    **{word: {"rtt": rtt} for word, rtt in _RTTS.items()},
    **{word: {"isolate": word} for word in get_args(Cake.model_fields["isolate"].annotation)},
    **{name: {"overhead": size, "framing": "atm"} for name, size in _ATM.items()},
    "no-ack-filter": {"ack_filter": "off"},
    "ack-filter": {"ack_filter": "conservative"},
    "ack-filter-aggressive": {"ack_filter": "aggressive"},
    "pppoe-ptm": {"overhead": 30, "framing": "ptm"},
    "bridged-ptm": {"overhead": 22, "framing": "ptm"},
    "docsis": {"overhead": 18, "mpu": 64, "framing": "none"},
    "ethernet": {"overhead": 38, "mpu": 84, "framing": "none"},
    "atm": {"framing": "atm"},
    "noatm": {"framing": "none"},
    "ptm": {"framing": "ptm"},
    "unlimited": {"rate": None},
    # What the device counts; a listing of it adds `overhead 0`.
    "raw": {"overhead": None},
}
"""Keys of a queue that a word sets."""

_WITHOUT_EQUAL: Final = {
    "autorate-ingress", "diffserv3", "diffserv4", "diffserv8", "precedence", "wash", "ingress",
    "no-split-gso",
}  # fmt: skip

_VLAN_BYTES: Final = 4


def cake(words: Words, draft: Draft) -> None:
    """Take fair queueing of hosts and flows, with a shaper if there is a bandwidth."""
    options: dict[str, tuple[str, Callable[[], Any]]] = {
        "bandwidth": ("rate", lambda: _bandwidth(words)),
        "rtt": ("rtt", lambda: format_time(words.time_ns())),
        "memlimit": ("limit", lambda: f"{words.size_bytes()}b"),
        "overhead": ("overhead", words.count),
        "mpu": ("mpu", words.count),
    }
    queue: dict[str, Any] = {}
    while words:
        word = words.next()
        if word in options:
            key, read = options[word]
            value = read()
            is_raw = key == "overhead" and value == 0 and queue.get(key, 0) is None
            queue[key] = None if is_raw else value
        elif word in _KEYS:
            queue.update(_KEYS[word])
        elif word == "ether-vlan":
            queue["overhead"] = (queue.get("overhead") or 0) + _VLAN_BYTES
        elif word in _WITHOUT_EQUAL:
            draft.note(f"`{word}` of cake has no equal", words.line)
        elif word == "fwmark":
            draft.note(f"`fwmark {words.next()}` of cake has no equal", words.line)
        else:
            raise words.unknown(word, "cake")
    _put(queue, words.line, draft)


def _bandwidth(words: Words) -> str | None:
    return None if words.has("unlimited") else format_rate(words.rate_bps())


def _put(parameters: dict[str, Any], line: int, draft: Draft) -> None:
    """Put the queue, and the rate to which it shapes as that of the link, which no line names."""
    queue = {key: value for key, value in parameters.items() if value is not None}
    framing: dict[str, Any] = {
        key: queue.pop(key) for key in ("overhead", "mpu", "framing") if key in queue
    }
    rate = queue.pop("rate", None)
    if rate is not None:
        draft.put("rate", rate, line)
        queue |= {"rate": rate, **framing} if framing else {}
    elif framing:
        draft.note("framing without a bandwidth has no effect", line)
    draft.put("queue", {"discipline": "cake", **queue}, line)
