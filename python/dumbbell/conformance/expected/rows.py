"""Checks of an algorithm against its script of expected states, natively and in the kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from dumbbell import _core
from dumbbell.algorithms.catalogue import Algorithm
from dumbbell.base import documents
from dumbbell.base.errors import InputError
from dumbbell.conformance.expected import playing, reading
from dumbbell.conformance.expected.calls import Calls
from dumbbell.conformance.expected.script import SUFFIX, Expect, Script
from dumbbell.conformance.verdicts import Row, failed, not_checked, passed, refused
from dumbbell.engines import machine

PART: Final = "expected states"
SCRIPT: Final = "script"
NATIVE: Final = "states"
KERNEL: Final = "in the kernel"

SHIPPED: Final = Path(__file__).parents[1] / "scripts"
"""Folder of the scripts of the algorithms that are built in."""

_GUIDE: Final = "docs/guides/expected-states.md"

KernelCalls = Callable[[Calls], Sequence[Mapping[str, Any]]]


def beside(algorithm: Algorithm) -> Path:
    """Return where the script of an algorithm is looked for: next to its file."""
    if algorithm.path is not None:
        return Path(algorithm.path).with_suffix(SUFFIX)
    return SHIPPED / f"{algorithm.name}{SUFFIX}"


def load(algorithm: Algorithm, path: Path) -> Script:
    """Read a script, each case of which expects something."""
    valid = f"a script of expected states; see {_GUIDE}"
    text = documents.read_text(path, reading.BYTES_MAX, named=_shown(path), valid=valid)
    read = reading.read(text, _shown(path), algorithm)
    for case in read.cases:
        if not any(isinstance(step.action, Expect) for step in case.steps):
            problem, valid = f"the case {case.title!r} expects nothing", "expect NAME VALUE"
            raise InputError(problem, source=read.shown, line=case.line, valid=valid)
    return read


def _shown(path: Path) -> str:
    if path.parent == SHIPPED:
        return path.name
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def rows(
    algorithm: Algorithm,
    path: Path | None = None,
    look: Callable[[], machine.Machine] = machine.look,
    in_kernel: KernelCalls = Calls.in_kernel,
) -> Iterator[Row]:
    """Yield a row for the states, and one for the same calls in the kernel.

    `path` is the script; without it, the one next to the algorithm's file, which may be missing.
    """
    file = path or beside(algorithm)
    if path is None and not documents.is_file(file):
        remedy = f"write one ({_GUIDE}), and this check plays it"
        yield not_checked(PART, SCRIPT, f"there is no {_shown(file)}", remedy)
        return
    try:
        played = playing.play(load(algorithm, file), algorithm)
    except InputError as error:
        yield refused(PART, SCRIPT, error, f"see {_GUIDE}")
        return
    yield _native(played)
    yield _kernel(played, look, in_kernel)


def _native(played: playing.Played) -> Row:
    cases, shown = len(played.script.cases), played.script.shown
    if not played.misses:
        counted = f"{played.expectations} expectations of {cases} cases"
        return passed(PART, NATIVE, f"{counted} met ({shown})")
    first = played.misses[0]
    message = (
        f"{len(played.misses)} of {cases} cases not met, first {shown}:{first.line}: {first.words}"
    )
    remedy = "is the file wrong, or the script? Derive the value from the law by hand"
    details = "\n\n".join(playing.excerpt(played, miss) for miss in played.misses)
    return failed(PART, NATIVE, message, remedy, details)


def _kernel(
    played: playing.Played, look: Callable[[], machine.Machine], in_kernel: KernelCalls
) -> Row:
    if not _core.TESTBED:
        return not_checked(PART, KERNEL, "this build has no testbed")
    host = look()
    if not host.ready:
        return not_checked(PART, KERNEL, machine.verdict(host))
    try:
        for calls in merged(played.calls):
            difference = _difference(played, calls, in_kernel(calls))
            if difference is not None:
                return difference
    except _core.TestbedError as error:
        return not_checked(PART, KERNEL, str(error))
    count = sum(len(calls.made) for calls in played.calls)
    return passed(PART, KERNEL, f"{count:,} calls as BPF end in the same bytes")


def merged(cases: Sequence[Calls]) -> Sequence[Calls]:
    """Return the calls of cases with the same parameters together: the kernel loads each once."""
    by_values: dict[tuple[int, ...], Calls] = {}
    for calls in cases:
        key = tuple(calls.values)
        into = by_values.setdefault(key, Calls(calls.algorithm, calls.values))
        into.made += calls.made
        into.outcomes += calls.outcomes
        into.places += calls.places
    return list(by_values.values())


def _difference(
    played: playing.Played, calls: Calls, kernel: Sequence[Mapping[str, Any]]
) -> Row | None:
    for place, native, other in zip(calls.places, calls.outcomes, kernel, strict=True):
        if native != other:
            line, hook = place
            message = f"{played.script.shown}:{line}: {hook} ends in other bytes in the kernel"
            remedy = "does it read what was never set, or rely on what C leaves open?"
            details = "\n".join(playing.difference(native, other))
            return failed(PART, KERNEL, message, remedy, details)
    return None
