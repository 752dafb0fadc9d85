"""The list of checks, by subject."""

from __future__ import annotations

import functools

from fidelity.check import Check
from fidelity.checks import (
    delay_based,
    feedback,
    laws,
    links,
    loss_based,
    messages,
    model_based,
    networks,
    parallel,
    queues,
    receivers,
    sharing,
    starts,
    windows,
    workloads,
)

SUBJECTS = (
    windows,
    laws,
    loss_based,
    delay_based,
    model_based,
    sharing,
    parallel,
    queues,
    feedback,
    links,
    messages,
    workloads,
    starts,
    receivers,
    networks,
)


@functools.cache
def all_checks() -> tuple[Check, ...]:
    """Return every check in the order of the table."""
    return tuple(check for subject in SUBJECTS for check in subject.checks())
