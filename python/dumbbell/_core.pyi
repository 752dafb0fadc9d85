"""The compiled engine (crates/python); private, use `dumbbell.engine`."""

class ScenarioError(ValueError):
    """The engine refuses a resolved scenario; args are (key, message)."""

class Cancelled(Exception):  # noqa: N818 - a state, not a failure
    """The run was stopped through its token."""

class CancelToken:
    """A flag that stops a running simulation from another thread."""

    def __init__(self) -> None: ...
    def cancel(self) -> None: ...

class RunOutput:
    """What a simulation leaves behind."""

    @property
    def summary(self) -> str: ...
    @property
    def tables(self) -> dict[str, list[tuple[str, str, bytes]]]: ...

ENGINE_VERSION: str

def simulate(scenario_json: str, cancel: CancelToken | None = None) -> RunOutput: ...
def algorithms() -> str: ...
def stack_profiles() -> str: ...
def schema() -> str: ...
