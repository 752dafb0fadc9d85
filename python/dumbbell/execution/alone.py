"""Running one scenario that belongs to no campaign."""

from __future__ import annotations

from dumbbell.engines import validity
from dumbbell.engines.cancelling import CancelToken, crew
from dumbbell.engines.choices import RETRIES
from dumbbell.engines.engine import Engine, Output
from dumbbell.execution import bounds
from dumbbell.execution.executor import in_order_of_completion
from dumbbell.scenario.resolve import ResolvedScenario


def output(
    resolved: ResolvedScenario, engine: Engine, retries: int = RETRIES, *, large: bool = False
) -> Output:
    """Run a scenario and return what the engine reports; Ctrl-C stops it.

    An invalid run of the testbed is repeated up to `retries` times. A run that is larger than
    anyone is likely to mean raises TooLarge, unless `large`.
    """
    if not large:
        bounds.check([resolved], engine, jobs=1)
    cancel = CancelToken()

    def last() -> Output:
        *_, output = validity.attempts(engine, resolved, cancel, retries)
        return output

    # In another thread, as this one has to hear Ctrl-C while the compiled core runs.
    with crew("run", 1) as pool, cancel.on_error():
        (output,) = in_order_of_completion([pool.submit(last)])
    return output
