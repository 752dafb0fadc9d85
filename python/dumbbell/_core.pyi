"""The compiled engine (crates/python); private, use `dumbbell.engine`."""

from typing import Protocol, final

import numpy as np
from numpy.typing import NDArray

class _Readable(Protocol):
    """A file, or what reads like one."""

    def read(self, most: int, /) -> bytes: ...

class ScenarioError(ValueError):
    """The engine refuses a resolved scenario; args are (key, message)."""

class AlgorithmError(ValueError):
    """A user's algorithm cannot be used; args are (file or None, line or None, cause)."""

class ActionError(ValueError):
    """A number that no action has; args are (place, learner, which of its numbers, value)."""

class Stalled(Exception):  # noqa: N818 - what happened, not what to do
    """A hook of a user's algorithm never returns; args are (place, algorithm, hook)."""

class Cancelled(Exception):  # noqa: N818 - a state, not a failure
    """The run was stopped through its token."""

class GivenUp(Exception):  # noqa: N818 - a state, not a failure
    """Nothing can make the run valid; the message says why."""

class TestbedError(Exception):
    """The testbed cannot do it here; the message says what to do."""

@final
class CancelToken:
    """A flag that stops a running simulation from another thread."""

    def __new__(cls) -> CancelToken: ...
    @property
    def reached_ns(self) -> int: ...
    def cancel(self) -> None: ...

@final
class RunOutput:
    """What a simulation leaves behind."""

    @property
    def summary(self) -> str: ...
    @property
    def tables(self) -> dict[str, list[tuple[str, str, bytes]]]: ...
    @property
    def captures(self) -> list[bytes] | None: ...

@final
class Environments:
    """Paths that learners steer, step by step; arrays are read or filled."""

    def __new__(cls, terms_json: str, paths: int, stalled_s: float) -> Environments: ...
    def put(self, place: int, scenario_json: str) -> None: ...
    def reset(
        self,
        place: int,
        seed: int,
        observations: NDArray[np.float32],
        measured: NDArray[np.float64],
    ) -> None: ...
    def step(
        self,
        actions: NDArray[np.float64],
        skip: NDArray[np.uint8],
        observations: NDArray[np.float32],
        measured: NDArray[np.float64],
        progress: NDArray[np.uint8],
        threads: int,
    ) -> None: ...
    def finish(self, place: int) -> RunOutput | None: ...
    @staticmethod
    def fields() -> str: ...

__all__ = [
    "TESTBED",
    "ActionError",
    "AlgorithmError",
    "CancelToken",
    "Cancelled",
    "Environments",
    "GivenUp",
    "RunOutput",
    "ScenarioError",
    "Stalled",
    "TestbedError",
    "algorithms",
    "behaviour",
    "call_algorithm",
    "check_algorithm_name",
    "check_stack",
    "contract",
    "examine_algorithm",
    "fuzz_algorithm",
    "is_capture",
    "load_algorithm",
    "read_capture",
    "schema",
    "simulate",
    "source_hash",
    "stack_profiles",
    "testbed_calls",
    "testbed_compile",
    "testbed_facts",
    "testbed_host_switches",
    "testbed_parity",
    "testbed_run",
]

TESTBED: bool

def simulate(scenario_json: str, cancel: CancelToken | None = None) -> RunOutput: ...
def algorithms() -> str: ...
def behaviour() -> str: ...
def check_algorithm_name(name: str, shown: str) -> None: ...
def source_hash(code: str) -> str: ...
def load_algorithm(name: str, code: str, shown: str, cancel: CancelToken | None = None) -> str: ...
def examine_algorithm(
    name: str, code: str, shown: str, cancel: CancelToken | None = None
) -> str: ...
def fuzz_algorithm(name: str, code: str, cancel: CancelToken | None = None) -> str: ...
def call_algorithm(
    name: str,
    code: str | None,
    values: list[int],
    call_json: str,
    cancel: CancelToken | None = None,
) -> tuple[str, list[int]]: ...
def check_stack(stack_json: str) -> None: ...
def stack_profiles() -> str: ...
def contract() -> str: ...
def is_capture(start: bytes) -> bool: ...
def read_capture(
    file: _Readable,
    step_ns: int,
    least_share: float,
    cancel: CancelToken | None = None,
) -> str: ...
def schema() -> str: ...
def testbed_run(
    scenario_json: str,
    options_json: str,
    cancel: CancelToken | None = None,  # noqa: PT028 - not a test
) -> RunOutput: ...
def testbed_parity(
    scenario_json: str,
    cancel: CancelToken | None = None,  # noqa: PT028 - not a test
) -> str: ...
def testbed_compile(
    name: str,
    code: str | None = None,  # noqa: PT028 - not a test
    cancel: CancelToken | None = None,  # noqa: PT028 - not a test
) -> None: ...
def testbed_calls(
    name: str,
    code: str | None,
    values: list[int],
    calls_json: str,
    cancel: CancelToken | None = None,  # noqa: PT028 - not a test
) -> str: ...
def testbed_host_switches(scenario_json: str) -> str: ...
def testbed_facts() -> str: ...
