"""Variables of their state that algorithms export, if recorded (`record.algorithm_state`)."""

from __future__ import annotations

import numpy as np

from dumbbell.quantities.registry import of_flows
from dumbbell.quantities.series import exported
from dumbbell.quantities.view import FlowsView, known
from dumbbell.scenario import facts


@of_flows("exported state", takes="variable of an algorithm", arguments=exported, signed=True)
def state(view: FlowsView, variable: str) -> float | None:
    """Mean of a variable that the flows' algorithm exports (`state:alpha`); the connections' mean.

    Connections whose algorithm does not export it do not count.
    """
    if not view.run.scenario.record.algorithm_state:
        return None
    means = known([_mean(view, number, variable) for number in view.connections])
    return float(np.mean(means)) if means else None


def _mean(view: FlowsView, connection: int, variable: str) -> float | None:
    tcp = view.run.scenario.flows[connection].transport.tcp
    if tcp is None:
        return None
    exported_column = facts.state_column(view.run.scenario, tcp.algorithm, variable)
    if exported_column is None:
        return None
    column, per_unit = exported_column
    samples = view.run.samples("internals", (column,)).get(connection)
    alive = view.alive(connection)
    if samples is None or alive is None:
        return None
    values = samples.samples(column, alive.start_ns, alive.end_ns)
    return float(values.mean()) / per_unit if values.size else None
