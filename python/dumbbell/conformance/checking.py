"""All that is checked of an algorithm: ``dumbbell check``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dumbbell import _core
from dumbbell.algorithms import apart, catalogue
from dumbbell.algorithms.catalogue import Algorithm
from dumbbell.base import documents
from dumbbell.base.errors import InputError
from dumbbell.base.errors import refused as refusal
from dumbbell.conformance import behaviour, fuzzing, interface, kernel
from dumbbell.conformance.expected import rows as expected
from dumbbell.conformance.verdicts import Row, Verdict, failed, not_checked, passed, refused

_LOADS: Final = "can be checked"
PARTS: Final = (interface.PART, expected.PART, fuzzing.PART, behaviour.PART, kernel.PART)


@dataclass(frozen=True)
class Subject:
    """The algorithm under check.

    Attributes
    ----------
    algorithm
        Its description.
    shown
        The name of its file in messages.
    script
        Its script of expected states; None: the one next to its file, if there is one.
    """

    algorithm: Algorithm
    shown: str
    script: Path | None


def check(
    choice: str,
    on_part: Callable[[str], None] = lambda _: None,
    script: Path | None = None,
    only: str | None = None,
) -> Iterator[Row]:
    """Yield what is found of an algorithm that is built in, or of a C file.

    `script` has its expected states; without it, that is the file next to the C file. `only` is
    one of `PARTS`, which leaves out the others. A C file that does not exist, or a name that nobody
    has, is an InputError, and so is a script that does not exist.
    """
    if script is not None and not documents.is_file(script):
        raise InputError("no such file", value=str(script), valid="a script of expected states")
    on_part(interface.PART)
    try:
        subject = _subject(choice, script)
    except InputError as error:
        if error.source is None:
            raise
        yield refused(interface.PART, "compiles", error)
        for part in PARTS if only is None else (only,):
            yield not_checked(part, "everything else", "it does not compile")
        return
    yield passed(interface.PART, "compiles", "without a warning")
    unsafe = False
    for part, rows in _rows(subject):
        if only not in (None, part):
            continue
        on_part(part)
        if unsafe and part == kernel.PART:
            yield not_checked(part, "everything", "the algorithm is not safe to be run")
            continue
        for row in _guarded(part, rows):
            yield row
            unsafe |= row.verdict is Verdict.FAILED and row.check in (behaviour.ENDS, _LOADS)


def _subject(choice: str, script: Path | None) -> Subject:
    algorithm, _ = catalogue.split_preset(choice)
    shown = choice if algorithm.is_own else f"algorithms/{algorithm.name}.c"
    return Subject(algorithm, shown, script)


def _rows(subject: Subject) -> Iterator[tuple[str, Iterator[Row]]]:
    algorithm = subject.algorithm
    yield interface.PART, interface.rows(algorithm, algorithm.code, subject.shown)
    yield expected.PART, expected.rows(algorithm, subject.script)
    yield fuzzing.PART, fuzzing.rows(algorithm.name, algorithm.code)
    yield behaviour.PART, behaviour.rows(algorithm)
    yield kernel.PART, kernel.rows(algorithm)


def _guarded(part: str, rows: Iterator[Row]) -> Iterator[Row]:
    """Yield rows; what the machine cannot do ends a part, and what the file does fails it."""
    try:
        yield from rows
    except _core.AlgorithmError as error:
        file, line, cause = error.args
        if file is None:
            yield not_checked(part, "the rest", cause)
        else:
            yield failed(part, _LOADS, str(refusal(file, line, cause)))
    except (apart.Died, apart.TooLong) as error:
        remedy = "does something run as soon as it is loaded, such as a constructor?"
        yield failed(part, _LOADS, f"the process that checks it {error}", remedy)
