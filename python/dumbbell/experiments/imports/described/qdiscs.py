"""Queue disciplines of tc, a function each, as keys of a `network` table.

Names and meanings of their options are those of the manual pages tc-netem(8), tc-tbf(8) and so on.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from dumbbell.base.units import format_rate, format_time
from dumbbell.experiments.imports.described import netem
from dumbbell.experiments.imports.described.cake import cake
from dumbbell.experiments.imports.described.draft import Draft
from dumbbell.experiments.imports.described.tc_words import Words

_NS_PER_S: Final = 10**9
_PFIFO_FAST_PACKETS: Final = 1000
"""The usual length of a device's queue (txqueuelen)."""
_PIE_SCALE: Final = 16
"""What tc-pie(8) calls 2 is 0.125 in RFC 8033, section 4.2."""
_WEIGHT_LOG_MAX: Final = 31


def tbf(words: Words, draft: Draft) -> None:
    """Take the rate, the bucket and the queue of a token bucket."""
    given: dict[str, int] = {}
    while words:
        match word := words.next():
            case "rate" | "peakrate":
                given[word] = words.rate_bps()
            case "burst" | "buffer" | "maxburst":
                given["burst"] = words.size_bytes()
            case "limit":
                given["limit"] = words.size_bytes()
            case "latency" | "lat":
                given["latency"] = words.time_ns()
            case "mtu" | "minburst":
                words.size_bytes()
            case "overhead" | "linklayer" | "mpu":
                draft.note(f"`{word} {words.next()}` has no equal", words.line)
            case _:
                raise words.unknown(word, "tbf")
    if "rate" not in given or "burst" not in given:
        raise words.error("tbf without its rate or burst", "rate RATE burst SIZE")
    bucket: dict[str, str] = {"rate": format_rate(given["rate"]), "burst": f"{given['burst']}b"}
    if "peakrate" in given:
        bucket["peak"] = format_rate(given["peakrate"])
    draft.put("rate", bucket, words.line)
    limit = given.get("limit")
    if limit is None and "latency" in given:
        # What waits for so long, and what the bucket lets go at once.
        limit = given["rate"] * given["latency"] // (8 * _NS_PER_S) + given["burst"]
    if limit is not None:
        draft.own_queue = f"{limit}b"


def htb(words: Words, draft: Draft) -> None:
    """Take the rate of a class of the hierarchical token bucket; the discipline itself has none."""
    while words:
        match word := words.next():
            case "rate":
                draft.put("rate", format_rate(words.rate_bps()), words.line)
            case "ceil":
                words.rate_bps()
            case "burst" | "cburst" | "quantum" | "mtu":
                words.size_bytes()
            case (
                "default" | "r2q" | "prio" | "direct_packets_stat" | "direct_qlen" | "leaf" | "ver"
            ):
                words.next()
            case "overhead" | "linklayer" | "mpu":
                draft.note(f"`{word} {words.next()}` has no equal", words.line)
            case _:
                raise words.unknown(word, "htb")


def fq_codel(words: Words, draft: Draft) -> None:
    """Take fair queueing with CoDel."""
    options: dict[str, Callable[[], Any]] = {
        "limit": lambda: f"{words.count()}p",
        "target": lambda: format_time(words.time_ns()),
        "interval": lambda: format_time(words.time_ns()),
        "flows": words.count,
        "quantum": lambda: f"{words.size_bytes()}b",
    }
    without_equal = ("memory_limit", "ce_threshold", "ce_threshold_selector", "drop_batch")
    queue = _queue(words, draft, "fq-codel", options, without_equal)
    draft.put("queue", _renamed(queue, {"flows": "queues"}), words.line)


def codel(words: Words, draft: Draft) -> None:
    """Take controlled delay."""
    options: dict[str, Callable[[], Any]] = {
        "limit": lambda: f"{words.count()}p",
        "target": lambda: format_time(words.time_ns()),
        "interval": lambda: format_time(words.time_ns()),
    }
    queue = _queue(words, draft, "codel", options, ("ce_threshold",))
    draft.put("queue", {"ecn": False, **queue}, words.line)


def pie(words: Words, draft: Draft) -> None:
    """Take the proportional integral controller."""
    options: dict[str, Callable[[], Any]] = {
        "limit": lambda: f"{words.count()}p",
        "target": lambda: format_time(words.time_ns()),
        "tupdate": lambda: format_time(words.time_ns()),
        "alpha": lambda: words.count() / _PIE_SCALE,
        "beta": lambda: words.count() / _PIE_SCALE,
    }
    queue = _queue(words, draft, "pie", options, ("bytemode", "dq_rate_estimator"))
    draft.put("queue", _renamed(queue, {"tupdate": "update"}), words.line)


def fq_pie(words: Words, draft: Draft) -> None:
    """Take fair queueing with PIE."""
    options: dict[str, Callable[[], Any]] = {
        "limit": lambda: f"{words.count()}p",
        "flows": words.count,
        "target": lambda: format_time(words.time_ns()),
        "tupdate": lambda: format_time(words.time_ns()),
        "alpha": lambda: words.count() / _PIE_SCALE,
        "beta": lambda: words.count() / _PIE_SCALE,
        "quantum": lambda: f"{words.size_bytes()}b",
        "ecn_prob": words.share,
    }
    without_equal = (
        "memory_limit", "bytemode", "nobytemode", "dq_rate_estimator", "no_dq_rate_estimator",
    )  # fmt: skip
    queue = _queue(words, draft, "fq-pie", options, without_equal)
    names = {"flows": "queues", "tupdate": "update", "ecn_prob": "ecn_probability"}
    draft.put("queue", _renamed(queue, names), words.line)


def dualpi2(words: Words, draft: Draft) -> None:
    """Take the dual queue of L4S."""
    switches = {
        "drop_on_overload": ("drop_overload", True),
        "overflow": ("drop_overload", False),
        "drop_enqueue": ("drop_early", True),
        "drop_dequeue": ("drop_early", False),
    }
    options: dict[str, Callable[[], Any]] = {
        "limit": lambda: f"{words.count()}p",
        "target": lambda: format_time(words.time_ns()),
        "tupdate": lambda: format_time(words.time_ns()),
        "alpha": words.fraction,
        "beta": words.fraction,
        "step_thresh": lambda: format_time(words.time_ns()),
        "min_qlen_step": words.count,
        "coupling_factor": words.count,
        "classic_protection": words.share,
        **{name: partial(bool, value) for name, (_, value) in switches.items()},
    }
    without_equal = ("memlimit", "any_ect", "l4s_ect", "split_gso", "no_split_gso")
    queue = _queue(words, draft, "dualpi2", options, without_equal)
    names = {
        "tupdate": "update", "step_thresh": "step", "min_qlen_step": "step_min",
        "coupling_factor": "coupling", **{name: key for name, (key, _) in switches.items()},
    }  # fmt: skip
    draft.put("queue", _renamed(queue, names), words.line)


def _renamed(queue: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    return {names.get(key, key): value for key, value in queue.items()}


def fq(words: Words, draft: Draft) -> None:
    """Take fair queueing."""
    options: dict[str, Callable[[], Any]] = {
        "limit": lambda: f"{words.count()}p",
        "flow_limit": lambda: f"{words.count()}p",
        "quantum": lambda: f"{words.size_bytes()}b",
        "initial_quantum": lambda: f"{words.size_bytes()}b",
    }
    without_equal = (
        "maxrate", "buckets", "orphan_mask", "refill_delay", "low_rate_threshold", "ce_threshold",
        "timer_slack", "horizon", "horizon_drop", "horizon_cap", "offload_horizon", "bands",
        "priomap", "weights",
    )  # fmt: skip
    draft.put("queue", _queue(words, draft, "fq", options, without_equal), words.line)


def red(words: Words, draft: Draft) -> None:
    """Take random early detection, whose weight tc computes from the burst that it allows."""
    given: dict[str, Any] = {"avpkt": 1000}
    flags = {"ecn", "adaptive", "harddrop", "nodrop"}
    numbers: dict[str, Callable[[], float]] = {
        **dict.fromkeys(("limit", "min", "max", "avpkt"), words.size_bytes),
        # The scale is that of the table by which the kernel computes the average.
        **dict.fromkeys(("burst", "ewma", "Scell_log"), words.count),
        "probability": words.fraction,
        "bandwidth": words.rate_bps,
    }
    while words:
        word = words.next()
        if word in flags:
            given[word] = True
        elif word in numbers:
            given[word] = numbers[word]()
        else:
            raise words.unknown(word, "red")
    if missing := [key for key in ("limit", "min") if key not in given]:
        raise words.error(f"red without {missing[0]}", "limit SIZE min SIZE avpkt SIZE burst N")
    for flag in ("harddrop", "nodrop"):
        if given.get(flag):
            draft.note(f"`{flag}` has no equal", words.line)
    most = given.get("max", 3 * given["min"])
    queue = {
        "discipline": "red",
        "limit": f"{given['limit']}b",
        "min_threshold": f"{given['min']}b",
        "max_threshold": f"{most}b",
        "max_probability": given.get("probability", 0.02),
        "gentle": False,
        "adaptive": given.get("adaptive", False),
        "ecn": given.get("ecn", False),
    }
    if "ewma" in given:
        weight: float | None = 2.0 ** -given["ewma"]
    else:
        burst = given.get("burst", (2 * given["min"] + most) // (3 * given["avpkt"]))
        weight = _red_weight(burst, given["min"] / given["avpkt"])
    if weight is None:
        raise words.error(f"a burst of {burst} is too short for min", "a burst above min / avpkt")
    queue["weight"] = weight
    draft.put("queue", queue, words.line)


def _red_weight(burst: int, min_packets: float) -> float | None:
    """Return the smallest power of 1/2 with which a burst passes an empty queue without loss.

    None if no weight allows it. Floyd and Jacobson 1993, section 6: the average stays below
    `min_packets` while so many packets arrive.
    """
    excess = burst + 1 - min_packets
    for log in range(1, _WEIGHT_LOG_MAX + 1):
        weight = 2.0**-log
        if 1 <= excess <= (1 - (1 - weight) ** burst) / weight:
            return weight
    return None


def pfifo(words: Words, draft: Draft) -> None:
    """Take a first-in, first-out queue limited in packets."""
    draft.put(
        "queue", f"{words.count() if words.has('limit') else _PFIFO_FAST_PACKETS}p", words.line
    )


def bfifo(words: Words, draft: Draft) -> None:
    """Take a first-in, first-out queue limited in bytes."""
    if not words.has("limit"):
        raise words.error("bfifo without its limit", "limit SIZE")
    draft.put("queue", f"{words.size_bytes()}b", words.line)


def pfifo_fast(words: Words, draft: Draft) -> None:
    """Take the kernel's default, whose bands do not matter to flows of one class."""
    draft.put("queue", f"{_PFIFO_FAST_PACKETS}p", words.line)
    draft.note("pfifo_fast has the device's txqueuelen, taken as 1000 packets", words.line)


def _queue(
    words: Words,
    draft: Draft,
    discipline: str,
    options: dict[str, Callable[[], Any]],
    without_equal: tuple[str, ...],
) -> dict[str, Any]:
    """Return the table of a discipline from options with a value each, and `ecn` or `noecn`."""
    queue: dict[str, Any] = {"discipline": discipline}
    while words:
        word = words.next()
        if word in options:
            queue[word] = options[word]()
        elif word in ("ecn", "noecn"):
            queue["ecn"] = word == "ecn"
        elif word in without_equal:
            all_of_it = word
            while words.has_number():
                all_of_it += f" {words.next()}"
            draft.note(f"`{all_of_it}` of {discipline} has no equal", words.line)
        elif word in ("nopacing", "pacing"):
            continue  # the senders' business
        else:
            raise words.unknown(word, discipline)
    return queue


KNOWN: Final[dict[str, Callable[[Words, Draft], None]]] = {
    "netem": netem.netem, "tbf": tbf, "htb": htb, "fq_codel": fq_codel, "codel": codel, "pie": pie,
    "fq": fq, "fq_pie": fq_pie, "dualpi2": dualpi2, "cake": cake, "red": red, "pfifo": pfifo,
    "bfifo": bfifo, "pfifo_fast": pfifo_fast,
}  # fmt: skip
