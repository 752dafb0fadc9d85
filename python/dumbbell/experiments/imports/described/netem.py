"""netem of tc, as keys of a `network` table.

Names and meanings of its options are those of the manual page tc-netem(8).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

from dumbbell.base.units import format_rate, format_time
from dumbbell.experiments.imports.described.draft import Draft
from dumbbell.experiments.imports.described.tc_words import Words

_LIMIT: Final = 1000
"""Packets that netem holds if no limit is given."""

_LEAST: Final = {"uniform": 1.0, "normal": 4.0, "pareto": 2 / 3, "pareto-normal": 1.51}
"""By how many deviations a packet is earlier at most."""
_NAMES: Final = {"uniform": "uniform", "normal": "normal", "pareto": "pareto"} | {
    "paretonormal": "pareto-normal"
}


@dataclass
class _Line:
    """The values of a line: its delay in ns, its limit, and the packets that go at once."""

    delay_ns: int = 0
    deviation_ns: int = 0
    distribution: Any = "uniform"
    limit: int = _LIMIT
    fast: float = 0.0
    has_rate: bool = False

    @property
    def varying_ns(self) -> int:
        """The part of the delay that is not the same for all packets."""
        most = _LEAST.get(self.distribution) if isinstance(self.distribution, str) else None
        if not self.deviation_ns:
            return 0
        return self.delay_ns if most is None else min(self.delay_ns, int(most * self.deviation_ns))


def netem(words: Words, draft: Draft) -> None:
    """Take delay, limit, loss, duplicates, order and rate of netem."""
    line = _Line()
    while words:
        match word := words.next():
            case "delay":
                _take_delay(words, draft, line)
            case "distribution":
                line.distribution = _distribution(words)
            case "limit":
                line.limit = words.count()
            case "loss" | "drop":
                _put_loss(draft, _netem_loss(words, draft))
            case "corrupt":
                _put_loss(draft, {"place": "receiver", **_random_loss(words, draft)})
                draft.note(
                    "a corrupted packet is lost at the receiver, by its checksum", words.line
                )
            case "duplicate":
                draft.put("duplicate", _uncorrelated(words, draft, "duplicates"), words.line)
            case "reorder":
                line.fast = _uncorrelated(words, draft, "reordering")
            case "rate":
                line.has_rate = True
                _put_rate(words, draft)
            case "ecn" | "seed" | "slot" | "gap" as option:
                all_of_it = " ".join([option, *_values(option, words)])
                draft.note(f"`{all_of_it}` has no equal", words.line)
            case _:
                raise words.unknown(word, "netem")
    # Below a tbf it takes the place of that one's queue, and the limit of that one with it.
    draft.own_queue = f"{line.limit}p"
    if line.delay_ns:
        # The limit counts what is under delay, too.
        draft.put("holds", f"{line.limit}p", words.line)
        _put_delay(words, draft, line)


def _put_rate(words: Words, draft: Draft) -> None:
    draft.put("rate", format_rate(words.rate_bps()), words.line)
    for name in ("packetoverhead", "cellsize", "celloverhead"):
        if words.has(name) or words.has_number():
            draft.note(f"`{name} {words.next()}` has no equal", words.line)


def _take_delay(words: Words, draft: Draft, line: _Line) -> None:
    line.delay_ns = words.time_ns()
    if not words.has_number():
        return
    line.deviation_ns = words.time_ns()
    if words.has_number():
        draft.note(
            f"a correlation of delays ({words.next()}) is left out: netem takes the low digits of a"
            " correlated number, which are as good as independent",
            words.line,
        )


def _distribution(words: Words) -> Any:
    """Return a distribution by its name, or the table next to the file."""
    name = words.next("a distribution")
    if name in _NAMES:
        return _NAMES[name]
    table = words.file.parent / f"{name}.dist"
    if not table.is_file():
        raise words.error(
            f"the table {table.name} is not next to the file",
            f"{', '.join(_NAMES)}, or a copy of {table.name} of /usr/lib/tc here",
        )
    return {"table": str(table.absolute())}


def _put_delay(words: Words, draft: Draft, line: _Line) -> None:
    """Set what varies, what is late, and the smallest delay."""
    varying_ns = line.varying_ns
    if line.deviation_ns:
        varying = {
            "mean": format_time(varying_ns), "deviation": format_time(line.deviation_ns),
            "distribution": line.distribution, "overtaken": not line.has_rate,
        }  # fmt: skip
        draft.put("jitter", varying, words.line)
    steady_ns = line.delay_ns - varying_ns
    if line.fast:
        # The share that goes at once overtakes the others, which are late by the delay.
        late = {"probability": 1 - line.fast, "delay": format_time(steady_ns or line.delay_ns)}
        draft.put("reorder", late, words.line)
        if varying_ns:
            draft.note("packets that go at once have the jitter, too", words.line)
        steady_ns = 0
    draft.delay_ns += steady_ns


def _netem_loss(words: Words, draft: Draft) -> dict[str, Any]:
    if words.has("gemodel"):
        to_bad = _named(words, "p", math.nan)
        # tc-netem(8): p alone is Bernoulli's model, p and r the simple Gilbert, all four the whole
        # one.
        to_good = _named(words, "r", 1 - to_bad)
        loss_bad = _named(words, "1-h", 1.0)
        loss_good = _named(words, "1-k", 0.0)
        model = {"to_bad": to_bad, "to_good": to_good, "loss_good": loss_good, "loss_bad": loss_bad}
        return {"place": "bottleneck", "gilbert_elliott": model}
    if words.has("state"):
        to_bad = _named(words, "p13", math.nan)
        to_good = _named(words, "p31", 1 - to_bad)
        for name, plain in (("p32", 0.0), ("p23", 1.0), ("p14", 0.0)):
            share = _named(words, name, plain)
            if share != plain:
                draft.note(f"`{name} {share * 100:g}%` of the loss states has no equal", words.line)
        return {"place": "bottleneck", "gilbert_elliott": {"to_bad": to_bad, "to_good": to_good}}
    words.has("random")
    return {"place": "bottleneck", **_random_loss(words, draft)}


def _named(words: Words, name: str, otherwise: float) -> float:
    """Take a share, before which `tc qdisc show` prints its name; a first one has to be there."""
    is_there = words.has(name) or words.has_number() or math.isnan(otherwise)
    return words.share() if is_there else otherwise


def _values(option: str, words: Words) -> list[str]:
    """Take the values of an option; a slot has two times, and how much it releases at most."""
    taken = [words.next()] if option != "ecn" and words else []
    if option != "slot":
        return taken
    if taken == ["distribution"] and words:
        taken.append(words.next())
    while words.has_number():
        taken.append(words.next())
    for name in ("packets", "bytes"):
        if words.has(name):
            taken += [name, words.next()]
    return taken


def _random_loss(words: Words, draft: Draft) -> dict[str, Any]:
    loss: dict[str, Any] = {"probability": words.share()}
    if words.has_number():
        loss["correlation"] = words.share()
        draft.note("netem correlates random numbers, `correlation` here losses", words.line)
    return loss


def _put_loss(draft: Draft, loss: dict[str, Any]) -> None:
    draft.network.setdefault("loss", []).append(loss)


def _uncorrelated(words: Words, draft: Draft, what: str) -> float:
    """Take a share; a correlation behind it is noted."""
    share = words.share()
    if words.has_number():
        draft.note(f"a correlation of {what} ({words.next()}) has no equal", words.line)
    return share
