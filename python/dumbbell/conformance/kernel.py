"""Check that an algorithm is the same in the real kernel."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from dumbbell import _core
from dumbbell.algorithms import apart
from dumbbell.algorithms.catalogue import Algorithm
from dumbbell.base.errors import DumbbellError, TestbedError
from dumbbell.conformance.lone_flow import Path, resolved
from dumbbell.conformance.verdicts import Row, failed, not_checked, passed
from dumbbell.engines import machine
from dumbbell.engines.cancelling import CancelToken, crew
from dumbbell.engines.engine import core_errors
from dumbbell.execution.executor import in_order_of_completion

PART: Final = "kernel"

PATH: Final = Path(200, 10, 0.5, 2e-4)
"""Many acknowledgements a second, and losses often enough for every hook."""

SECONDS: Final = 3

PATIENCE_S: Final = 100.0
"""Time for compiling, in seconds."""

COMPILES: Final = "compiles for BPF"
VERIFIER: Final = "passes the verifier"
PARITY: Final = "does the same (parity)"

Replay = Callable[[str], Sequence[dict[str, Any]]]
"""Runs a scenario on the testbed and returns what became of each algorithm's callbacks."""


def on_testbed(scenario_json: str) -> list[dict[str, Any]]:
    """Run a scenario on this machine's testbed and replay its callbacks natively."""
    cancel = CancelToken()
    with core_errors("testbed"), crew("parity", 1) as pool, cancel.on_error():
        # What is replayed may be of a user's own.
        future = pool.submit(apart.ask, "testbed_parity", scenario_json, cancel=cancel)
        (answer,) = in_order_of_completion([future])
    replayed: list[dict[str, Any]] = json.loads(answer)
    return replayed


def rows(
    algorithm: Algorithm,
    look: Callable[[], machine.Machine] = machine.look,
    replay: Replay | None = None,
) -> Iterator[Row]:
    """Yield a row for compiling, for the verifier and for parity."""
    try:
        code = algorithm.code if algorithm.is_own else None
        apart.ask("testbed_compile", algorithm.name, code, patience_s=PATIENCE_S)
    except _core.AlgorithmError as error:
        file, line, cause = error.args
        yield failed(PART, COMPILES, f"{file}{f':{line}' if line else ''}: {cause}", _RULES)
        for check in (VERIFIER, PARITY):
            yield not_checked(PART, check, "it does not compile")
        return
    except _core.TestbedError as error:
        for check in (COMPILES, VERIFIER, PARITY):
            yield not_checked(PART, check, str(error))
        return
    yield passed(PART, COMPILES, "without a warning")
    yield from _run(algorithm, look(), replay or on_testbed)


def _run(algorithm: Algorithm, host: machine.Machine, replay: Replay) -> Iterator[Row]:
    if not host.ready:
        for check in (VERIFIER, PARITY):
            yield not_checked(PART, check, machine.verdict(host))
        return
    try:
        results = replay(resolved(algorithm, PATH, SECONDS, loss=True).json)
    except TestbedError as error:
        for check in (VERIFIER, PARITY):
            yield not_checked(PART, check, str(error))
        return
    except (DumbbellError, _core.AlgorithmError) as error:
        yield failed(PART, VERIFIER, str(error), _RULES)
        yield not_checked(PART, PARITY, "the verifier rejects it")
        return
    yield passed(PART, VERIFIER, "all hooks")
    yield _parity(results)


_RULES: Final = (
    "loops with an end that can be seen, cc_index for indices of tables, CC_APART for long "
    "functions, at most four arguments"
)


def _parity(reports: Sequence[dict[str, Any]]) -> Row:
    callbacks = sum(sum(report["callbacks"].values()) for report in reports)
    differing = sum(report["differing"] for report in reports)
    first = "".join(mismatch for report in reports for mismatch in report["mismatches"][:1])
    if differing:
        remedy = "does it read what was never set, or rely on what C leaves open?"
        shown = f"{differing} of {callbacks} callbacks end in other bytes natively"
        return failed(PART, PARITY, shown, remedy, first)
    if not callbacks:
        return failed(PART, PARITY, "the kernel made no callback in a run of 3 s")
    return passed(PART, PARITY, f"{callbacks:,} callbacks in {SECONDS} s, byte for byte")
