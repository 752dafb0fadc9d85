"""Golden vectors: short runs call by call, which `make test` holds our files to.

A file has a header, and for each run a line that describes it and a line for each call that our
file has a hook for::

    cong_avoid 2 | now=1123456 una=4 > cwnd=12

It was called with 2 segments. Before it the clock and the acknowledged sequence number had changed
since the line before. Linux's module made the window 12. Sequence numbers count segments. A hook
that returns a window ends in ``> returned=6``. Where our file differs, as differences.toml
declares, ``! returned=7`` follows: what it does instead. Fields that a line does not name are as
they were. The next line begins from Linux's outcome.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from linux_modules import package, runs
from linux_modules.places import ALGORITHMS
from linux_modules.scenarios import Scenario, short

FIELDS: Final = {
    "cwnd": "cwnd_segs",
    "cnt": "cwnd_cnt",
    "ssthresh": "ssthresh_segs",
    "clamp": "cwnd_clamp_segs",
    "rate": "pacing_rate_bytes_per_s",
    "app_limited": "app_limited_segs",
    "prior_cwnd": "prior_cwnd_segs",
    "now": "now_us",
    "delivered": "delivered_segs",
    "delivered_ce": "delivered_ce_segs",
    "lost": "lost_segs",
    "resent": "resent_segs",
    "in_flight": "in_flight_segs",
    "srtt": "srtt_us",
    "min_rtt": "min_rtt_us",
    "una": "snd_una",
    "nxt": "snd_nxt",
    "random": "random",
    "state": "state",
    "limited": "cwnd_limited",
    "pacing_wait": "pacing_wait_us",
    "stamp": "stamp_ms",
    "echo": "echo_ms",
    "last_sent": "last_sent_ms",
}
"""Names here, and of ``struct cc_conn``; a file that does not name one cannot depend on it."""

OUTCOMES: Final = ("cwnd", "cnt", "ssthresh", "clamp", "rate", "app_limited")
"""Values that a call may change."""

START: Final = {
    "cwnd": 10,
    "ssthresh": 0x7FFFFFFF,
    "clamp": 0xFFFFFFFF,
    "srtt": 0xFFFFFFFF,
    "min_rtt": 0xFFFFFFFF,
    "limited": 1,
}
"""Initial values of a run that are not 0: the default of Rust's ``Conn``."""

MSS: Final = 1448

_FIELD: Final = re.compile(r"conn->(\w+)")
_INCLUDED: Final = re.compile(r'^#include "(\w+\.h)"', re.M)


CHOSEN: Final = {
    "bbr": (5, 62, 187, 239),
    "bic": (78, 178, 216),
    "cdg": (43, 98, 140),
    "cubic": (5, 161, 164),
    "dctcp": (74, 196),
    "highspeed": (87, 164, 278),
    "htcp": (168, 230),
    "hybla": (61, 100, 132, 237),
    "illinois": (87, 240, 287),
    "lp": (45, 142, 164, 239),
    "nv": (117, 164),
    "reno": (43, 61, 164),
    "scalable": (43, 61, 164),
    "vegas": (48, 117),
    "veno": (43, 164, 178),
    "westwood": (2, 43, 256),
    "yeah": (45, 87, 178),
}
"""The short runs of each algorithm, by seed: of 300 those that together notice the most changes of
an operator or a number in its file."""


def text(algorithm: str, program: Path, version: str) -> str:
    """Return the vectors of an algorithm."""
    code = _code(algorithm)
    named = set(_FIELD.findall(code))
    if f"H({algorithm}, cong_control)" not in code:
        named.discard("pacing_rate_bytes_per_s")
    known = [short for short, name in FIELDS.items() if name in named]
    lines = [
        f"# {algorithm}, as Linux's module has it ({package.PACKAGE} {version}).",
        "# Written by `make linux-modules`; tests/linux_modules/vectors.py says how to read it.",
    ]
    for seed in CHOSEN[algorithm]:
        scenario = short(seed, exact_marks=algorithm == "dctcp")
        calls = (call for call in runs.lines(program, scenario, "traced") if call.get("is_ours"))
        lines += ["", _titled(scenario), *_lines(calls, known, "sample->in_flight_bytes" in code)]
    return "\n".join(lines) + "\n"


def _titled(scenario: Scenario) -> str:
    plain = Scenario(seed=0, duration_us=0, rtt_us=0, service_ns=0, queue_packets=0)
    settings = zip(scenario.arguments, plain.arguments, strict=True)
    return " ".join(["run", *(setting for setting, usual in settings if setting != usual)])


def _code(algorithm: str) -> str:
    """Return an algorithm's file and the headers that it includes."""
    files = [f"{algorithm}.c"]
    texts = []
    for file in files:
        texts.append((ALGORITHMS / file).read_text())
        files += [header for header in _INCLUDED.findall(texts[-1]) if header not in files]
    return "\n".join(texts)


def _lines(
    calls: Iterable[Mapping[str, Any]], known: Sequence[str], asks_flight: bool
) -> Iterator[str]:
    """Yield a line for each call, with those fields that an algorithm knows."""
    at = {name: START.get(name, 0) for name in known}
    for call in calls:
        seen = _seen(call, at)
        changed = {name: seen[name] for name in known if seen[name] != at[name]}
        at |= changed
        linux, ours = (_outcome(call, side, known) for side in ("linux", "ours"))
        at |= {name: value for name, value in linux.items() if name in at}
        arguments = call["arguments"]
        if call["hook"] == "pkts_acked" and not asks_flight:
            arguments = arguments[:2]
        words = [call["hook"], *map(str, arguments), *_part("|", changed), *_part(">", linux)]
        yield " ".join(words if ours == linux else [*words, "!", *_part("", ours)])


def _seen(call: Mapping[str, Any], before: Mapping[str, int]) -> dict[str, int]:
    """Return a connection as a call sees it, sequence numbers in segments."""
    seen = {**call["seen"], **call["before"]}
    for name in ("una", "nxt"):
        seen[name] //= MSS
    if call["hook"] != "cwnd_event":
        seen["last_sent"] = before.get("last_sent", 0)
    return seen


def _outcome(call: Mapping[str, Any], side: str, known: Sequence[str]) -> dict[str, int]:
    """Return what a call changed, and what it returned."""
    after, before = call[side], call["before"]
    changed = [name for name in OUTCOMES if name in known and after[name] != before[name]]
    if call["hook"] in ("ssthresh", "undo_cwnd"):
        changed.append("returned")
    return {name: after[name] for name in changed}


def _part(mark: str, values: Mapping[str, int]) -> list[str]:
    return [
        *([mark] if mark and values else []),
        *(f"{key}={value}" for key, value in values.items()),
    ]
