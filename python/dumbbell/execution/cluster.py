"""Workers of a Dask cluster, as a pool.

Dask is an optional extra. Its scheduler repeats tasks whose worker dies; results come back as
bytes, so workers need the same Dumbbell and nothing else.
"""

from __future__ import annotations

import logging
import os
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from typing import TYPE_CHECKING, Any, Final

from dumbbell.base import extras
from dumbbell.base.errors import DumbbellError, InputError
from dumbbell.execution.pools import ExecutorPool
from dumbbell.execution.task import OtherBuild, build

if TYPE_CHECKING:
    from distributed import Client, LocalCluster

_LOCAL: Final = re.compile(r"local:(?P<workers>[1-9]\d{0,3})", re.ASCII)
_ADDRESS: Final = re.compile(r"(tcp|tls|ucx)://.+", re.ASCII)
VALID: Final = "tcp://HOST:PORT of a scheduler, or local:N for N processes of this machine"
_WAIT_S: Final = 10
"""Longest wait for the answer of a scheduler, and for its first worker, in seconds."""


@contextmanager
def connected(address: str) -> Iterator[ExecutorPool]:
    """Give a block the workers of a cluster.

    Raises InputError for an address that is none, or where no scheduler answers, and OtherBuild
    if a worker has not the same Dumbbell.
    """
    local = _LOCAL.fullmatch(address)
    if not (local or _ADDRESS.fullmatch(address)):
        raise InputError("not a Dask cluster", key="dask", value=address, valid=VALID)
    try:
        import distributed  # noqa: PLC0415 - an extra
    except ImportError:
        raise InputError(
            "needs the package distributed", key="dask", valid=extras.install("cluster")
        ) from None
    # What goes wrong is said by the pool; Dask's own lines would come between those of progress.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    if local:
        with _without_ctrl_c():
            cluster = distributed.LocalCluster(
                n_workers=int(local["workers"]),
                threads_per_worker=1,
                dashboard_address=None,
                silence_logs=logging.CRITICAL,
            )
        with cluster, distributed.Client(cluster) as client, _ended_at_once(cluster):
            yield _pool(client, address)
        return
    try:
        client = distributed.Client(address, timeout=_WAIT_S)
    except (OSError, ValueError) as error:
        raise InputError(
            f"no scheduler answers ({error})", key="dask", value=address, valid=VALID
        ) from None
    with client:
        yield _pool(client, address)


@contextmanager
def _without_ctrl_c() -> Iterator[None]:
    """Let threads and processes that the block starts be deaf to Ctrl-C: this thread decides."""
    # When it is started it lets the thread that needs it first hear Ctrl-C again.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _ended_at_once(cluster: LocalCluster) -> Iterator[None]:
    """End workers after an error or Ctrl-C, which else would finish their runs first."""
    try:
        yield
    except BaseException:
        for nanny in cluster.workers.values():
            # Else the nanny would start a new worker in place of the one that is killed.
            nanny.auto_restart = False
            os.kill(nanny.pid, signal.SIGKILL)
        raise


def _pool(client: Client, address: str) -> ExecutorPool:
    try:
        client.wait_for_workers(1, timeout=_WAIT_S)
    except TimeoutError:
        raise DumbbellError(f"{address} has no worker: start one with `dask worker`") from None
    _check(client)
    threads = sum(client.nthreads().values())
    # Dask gives pure tasks of equal arguments one result; each task here is to run.
    return ExecutorPool(client.get_executor(pure=False), threads)


def _check(client: Client) -> None:
    """Refuse workers that would make other results, each by its name."""
    mine = build()
    builds: dict[str, Any] = client.run(build, on_error="return")
    others = {worker: has for worker, has in builds.items() if has != mine}
    if others:
        reports = "; ".join(f"{worker} has {_words(has)}" for worker, has in sorted(others.items()))
        raise OtherBuild(f"{reports}; here it is {mine}: install the same Dumbbell there")


def _words(answer: object) -> str:
    """Say what a worker answered."""
    if isinstance(answer, str):
        return answer
    if isinstance(answer, ModuleNotFoundError):
        return "no Dumbbell"
    return f"no Dumbbell that answers ({answer})"
