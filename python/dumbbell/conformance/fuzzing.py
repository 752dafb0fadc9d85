"""Checks by random calls; see crates/algorithm/src/fuzz.c."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from dumbbell.algorithms import apart
from dumbbell.conformance.verdicts import Row, failed, not_checked, passed

PART: Final = "random calls"

PATIENCE_S: Final = 400.0
"""Time for three compilations and three parts, in seconds; normally they end sooner."""

_CHECKS: Final[Mapping[str, tuple[str, str]]] = {
    "rules": (
        "C's rules (sanitizers)",
        "values are not always plausible: guard divisions, shifts and indices",
    ),
    "limits": (
        "windows",
        "grow with cc_grow, fall to CC_CWND_MIN at least, and write only cc_conn's first block",
    ),
    "repeat": (
        "the same twice",
        "all memory of a connection is its state; set it in init, and have no static variables",
    ),
}
"""Part of the fuzzer -> its check, and the remedy."""

ENDLESS: Final = "let each loop have an end that can be seen: the kernel's verifier demands it"
"""The remedy for a hook that does not end."""

_CRASH: Final = "is stopped by: "
"""Words of fuzz.c before the name of a signal."""

NAMES: Final = tuple(check for check, _ in _CHECKS.values())
"""Names of the checks."""


def rows(name: str, code: str) -> Iterator[Row]:
    """Yield a row for each part of the fuzzer."""
    reports = json.loads(apart.ask("fuzz_algorithm", name, code, patience_s=PATIENCE_S))
    # The fuzzer goes no further than to a hook that does not end.
    is_endless = len(reports) < len(NAMES)
    for report in reports:
        yield _row(report, ENDLESS if is_endless and report is reports[-1] else "")
    for check in NAMES[len(reports) :]:
        yield not_checked(PART, check, "it would not end, either")


def _row(report: Mapping[str, Any], special: str) -> Row:
    """Return the row of a part; `special` is another remedy than that of the part."""
    check, remedy = _CHECKS[report["part"]]
    message, _, details = report["message"].partition("\n")
    if report["passed"] is None:
        return not_checked(PART, check, message, "gcc or clang with libasan and libubsan")
    if report["passed"]:
        return passed(PART, check, message)
    if _CRASH in message:  # of any part: the plain build has no sanitizer that finds it first
        _, remedy = _CHECKS["rules"]
    return failed(PART, check, message or "it ends without a word", special or remedy, details)
