"""Check of an algorithm against cc.h: its description, and its compiled code."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from dumbbell.algorithms import apart
from dumbbell.algorithms.catalogue import Algorithm, Parameter
from dumbbell.conformance.verdicts import Row, failed, not_checked, passed

PART: Final = "interface"

PATIENCE_S: Final = 120.0
"""Time for three compilations, in seconds; normally they end sooner."""

_ASIDE: Final = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.DOTALL)
"""Comments and texts."""

_FLOATING: Final = re.compile(
    r"\b(?:float|double|_Float\w+)\b|(?<![\w.])(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?[fFlL]?"
    r"|(?<![\w.])\d+[eE][+-]?\d+"
)

_LIBRARY: Final = re.compile(
    r"\b(?:malloc|calloc|realloc|free|f?printf|puts|putchar|fopen|exit|abort|s?rand|time|getenv"
    r"|sqrt|cbrt|pow|exp|log)\s*\("
)
"""Calls of the C library that authors of algorithms are most tempted by."""

_HEADER: Final = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<[^>\n]*>", re.MULTILINE)


def rows(algorithm: Algorithm, code: str, shown: str) -> Iterator[Row]:
    """Yield a row for each thing that its description and its code must be."""
    examination = json.loads(
        apart.ask("examine_algorithm", algorithm.name, code, shown, patience_s=PATIENCE_S)
    )
    yield passed(
        PART, "state", f"{examination['state_bytes']} of {examination['state_bytes_max']} bytes"
    )
    yield _parameters(algorithm)
    yield _presets(algorithm)
    yield _integers(code, shown, examination)
    yield _outside(code, shown, examination)


def _parameters(algorithm: Algorithm) -> Row:
    wrong = [
        f"{parameter.name}: {what}"
        for parameter in algorithm.parameters
        for what in _faults(parameter)
    ]
    if wrong:
        return failed(
            PART,
            "parameters",
            "; ".join(wrong),
            "P(name, unit, initial, range, what, source): texts that say something, and an initial "
            "value within the range",
        )
    return passed(PART, "parameters", f"{len(algorithm.parameters)}, documented and within range")


def _faults(parameter: Parameter) -> Iterator[str]:
    for what in ("unit", "what", "source"):
        if not getattr(parameter, what).strip():
            yield f"no {what}"
    if not _is_valid(parameter, parameter.initial):
        yield f"its initial value {parameter.initial} is not within {parameter.limits}"


def _is_valid(parameter: Parameter, value: int) -> bool:
    return value in range(parameter.low, parameter.high + 1, parameter.step)


def _presets(algorithm: Algorithm) -> Row:
    wrong = [
        f"{preset.name} sets {name} to {value}, which is not within "
        f"{algorithm.parameter(name).limits}"
        for preset in algorithm.presets
        for name, value in preset.values.items()
        if not _is_valid(algorithm.parameter(name), value)
    ]
    names = algorithm.preset_names
    wrong += [f"{name} exists twice" for name in sorted({n for n in names if names.count(n) > 1})]
    wrong += ["a preset has no name" for name in names if not name.strip()]
    if wrong:
        return failed(PART, "presets", "; ".join(wrong), "values that the parameters allow")
    return passed(PART, "presets", ", ".join(names) or "none")


def unfit(code: str, shown: str) -> Iterator[str]:
    """Yield what in a source the kernel would not have, as far as its text shows it."""
    floating = _floating(code, shown)
    if floating is not None:
        yield f"{floating}: the kernel has integers only"
    for header in _HEADER.finditer(code):
        line = 1 + code[: header.start()].count("\n")
        yield f"{shown}:{line}: '{header[0].strip()}': the kernel has no C library"
    bare = _bare(code)
    calls = {call[0]: call.start() for call in reversed(list(_LIBRARY.finditer(bare)))}
    for call, start in sorted(calls.items(), key=lambda entry: entry[1]):
        line = 1 + bare[:start].count("\n")
        yield f"{shown}:{line}: '{call}': the kernel has no C library"


def _floating(code: str, shown: str) -> str | None:
    """Return where a source has a number or a type that is no integer, and what it is."""
    bare = _bare(code)
    written = _FLOATING.search(bare)
    if written is None:
        return None
    return f"{shown}:{1 + bare[: written.start()].count(chr(10))}: '{written[0]}'"


def _bare(code: str) -> str:
    """Return a source without its comments and texts; lines stay where they are."""
    return _ASIDE.sub(lambda aside: "\n" * aside[0].count("\n"), code)


def _integers(code: str, shown: str, examination: dict[str, Any]) -> Row:
    remedy = "the kernel has integers only: count in smaller units, such as 1/1024 (cc_scale)"
    written = _floating(code, shown)
    if written is not None:
        return failed(PART, "integers only", written, remedy)
    if examination["floats"]:
        return failed(PART, "integers only", f"the compiled code: {examination['floats']}", remedy)
    return passed(PART, "integers only", "source and compiled code")


def _outside(code: str, shown: str, examination: dict[str, Any]) -> Row:
    names = examination["outside"]
    if names is None:
        return not_checked(PART, "calls", "nm cannot be run", "apt install binutils")
    if not names:
        return passed(PART, "calls", "no functions from elsewhere")
    places = [_place(name, code, shown) for name in names]
    remedy = "the kernel has no C library: write it yourself, or use the helpers of cc.h"
    return failed(PART, "calls", f"functions from elsewhere: {', '.join(places)}", remedy)


def _place(name: str, code: str, shown: str) -> str:
    call = re.search(rf"\b{re.escape(name)}\s*\(", code)
    return f"{name} ({shown}:{1 + code[: call.start()].count(chr(10))})" if call else name
