"""Places where the runs of a command are executed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dumbbell.base.errors import InputError
from dumbbell.execution.pools import Pool


@contextmanager
def workers(jobs: int | None, dask: str | None) -> Iterator[int | Pool | None]:
    """Give a block so many runs at a time on this machine, or the workers of a Dask cluster."""
    if dask is None:
        yield jobs
        return
    if jobs is not None:
        raise InputError(
            "sets the number of runs at the same time here",
            source="--jobs",
            value=jobs,
            valid="without --dask",
        )
    from dumbbell.execution import cluster  # noqa: PLC0415 - an extra

    with cluster.connected(dask) as pool:
        yield pool
