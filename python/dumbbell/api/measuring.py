"""Quantities, series and latencies of a run, as the library's functions give them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from dumbbell.api import arguments
from dumbbell.base import arguments as plain
from dumbbell.base.arguments import Names
from dumbbell.base.errors import placed
from dumbbell.base.validation import validate
from dumbbell.engines import result
from dumbbell.plan.windows import NamedWindow, Window
from dumbbell.quantities import latencies as of_requests
from dumbbell.quantities import series as histories
from dumbbell.quantities import short_names
from dumbbell.quantities.reference import Reference
from dumbbell.quantities.registry import quantities as registered
from dumbbell.quantities.registry import quantity
from dumbbell.quantities.taken import Taken
from dumbbell.quantities.view import RunView

WindowTables = Mapping[str, Mapping[str, Any]]

_SPANS: Final = 1_000_000
"""More than any run has samples."""


def take(run: result.Run, *quantities: Names, windows: WindowTables | None = None) -> Taken:
    """Take quantities of a run.

    Parameters
    ----------
    run
        The run.
    quantities
        References ``NAME[SUBJECT]@WINDOW``, each on its own or in lists. NAME is one of
        `list_quantities`, or short: ``goodput``, ``throughput``, ``rtt``, ``cwnd``, ``queue``.
    windows
        Windows by name, with the keys that they have in a study: ``from``, ``to``, ``settle`` ...;
        ``main`` is the window of a reference without ``@``.

    Returns
    -------
    Taken
        A dictionary: reference -> value in the unit of its name, or None if there is no value.
        `Taken.windows` has the part of the run that each value covers. `Taken.reasons` has the
        reason why a value is None. `Taken.to_frame` returns a table of all these.

    Raises
    ------
    InputError
        If `run` is not a run, or if a reference names something unknown.

    Examples
    --------
    >>> dumbbell.take(run, "goodput[1]", "rtt_p95_ms@late")
    goodput[1]: 6.0359 Mbit/s, 0.01 s to 4 s
    rtt_p95_ms@late: 40.8 ms, 2.01 s to 4 s
    """
    known = arguments.run(run)
    named: dict[str, Window] = {"main": Window()}
    for name, keys in _windows(windows).items():
        is_main = name == "main"
        kind = Window if is_main else NamedWindow
        with placed(key=f"windows.{name}"):
            named[name] = validate(kind, dict(keys) if is_main else {"name": name, **keys})
    example = "goodput_mbit_per_s"
    requested = [name for names in quantities for name in plain.names(names, "quantities", example)]
    references = {text: _reference(text) for text in requested}
    return Taken(RunView(known, named, {}), references)


def _reference(text: str) -> Reference:
    """Read a reference whose name may be a short one."""
    reference = short_names.quantity(text)
    quantity(reference.name, short_names.OF_QUANTITIES)
    return reference


def _windows(windows: object) -> WindowTables:
    if windows is None:
        return {}
    valid = '{"late": {"from": "50s"}}'
    if not isinstance(windows, Mapping):
        raise plain.wrong("windows", windows, "not a mapping", valid)
    for name, keys in windows.items():
        if not isinstance(keys, Mapping):
            raise plain.wrong(f"windows.{name}", keys, "not a mapping", valid)
    return windows


def series(run: result.Run, name: str, spans: int = _SPANS) -> pl.DataFrame:
    """Return a quantity of a run over time.

    Parameters
    ----------
    run
        The run.
    name
        ``goodput_mbit_per_s``, ``cwnd_segs``, ``rtt_ms``, ``queue_packets`` ..., or short:
        ``goodput``, ``cwnd``, ``rtt``, ``queue``; ``state:NAME`` is a variable of an algorithm.
    spans
        Number of parts of the run. A rate has its mean over each part; other quantities keep the
        first, lowest and highest sample of each part. By default every sample is kept.

    Returns
    -------
    polars.DataFrame
        ``label`` of the flow or queue, ``time_s`` in seconds, ``value`` in the unit of the name.

    Raises
    ------
    InputError
        If `run` is not a run, if the name is unknown, or if `spans` is not a number above 0.

    Examples
    --------
    >>> dumbbell.series(run, "goodput", spans=4).columns
    ['label', 'time_s', 'value']
    """
    known = arguments.run(run)
    if not isinstance(name, str):
        raise plain.wrong("name", name, "not the name of a series", 'such as "goodput"')
    return histories.take(known, short_names.series(name), spans=plain.number(spans, "spans", 1))


def latencies(run: result.Run) -> pl.DataFrame:
    """Return how long the requests and transfers of a run took.

    Returns
    -------
    polars.DataFrame
        A row for each kind of flow: flows of one label, algorithm and request size. Columns:
        ``flows`` (their label), ``algorithm``, ``count`` of flows, ``finished`` and ``unfinished``
        requests or transfers, rates per second and in Mbit/s, and mean, percentiles and maximum of
        the latency in milliseconds. The slow-downs are latency / that over an empty path. Null: too
        few requests for a percentile. No rows: the run has neither requests nor transfers.

    Raises
    ------
    InputError
        If `run` is not a run.

    Examples
    --------
    >>> dumbbell.latencies(run).height
    0
    """
    return of_requests.latencies(arguments.run(run))


def list_quantities() -> pl.DataFrame:
    """Return all quantities, the most used first.

    Returns
    -------
    polars.DataFrame
        ``name``, ``unit``, ``per`` (the subjects that have a value each), ``argument`` (the text
        behind a colon, such as a variable; empty: none) and ``needs`` (what the scenario must
        record; empty: nothing in particular). Also ``best`` (the better end; null: neither) and
        ``what`` it is.

    Examples
    --------
    >>> dumbbell.list_quantities()["name"].to_list()[:2]
    ['goodput_mbit_per_s', 'throughput_mbit_per_s']
    """
    return pl.DataFrame(
        {
            "name": quantity.name,
            "unit": quantity.unit,
            "per": ", ".join(quantity.per),
            "argument": quantity.takes,
            "needs": "" if quantity.needs is None else quantity.needs.example,
            "best": None if quantity.best is None else quantity.best.value,
            "what": quantity.what,
        }
        for quantity in registered().values()
    )
