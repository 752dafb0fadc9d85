"""The tables of a run as files of a user's own, CSV or Parquet, one for each."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import polars as pl

from dumbbell.algorithms import catalogue
from dumbbell.base import places
from dumbbell.base.errors import InputError, placed
from dumbbell.engines.modes import readable
from dumbbell.engines.result import Run

SUFFIXES: Final = (".csv", ".parquet")


def check(name: Path) -> None:
    """Refuse a name from which none can be made for the files."""
    valid = "NAME.csv or NAME.parquet, for NAME-flows.csv, NAME-queues.csv and so on"
    if name.suffix not in SUFFIXES:
        raise InputError("neither CSV nor Parquet", key="tables", value=str(name), valid=valid)
    with placed(key="tables"):
        for table in catalogue.schema().tables:
            places.check(path(name, table))


def path(name: Path, table: str) -> Path:
    """Return the file of a table: ``run-flows.csv`` of ``run.csv``."""
    return name.with_name(f"{name.stem}-{table}{name.suffix}")


def tables(run: Run) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield the tables of a run that have rows, by name, as people read them."""
    for name in catalogue.schema().tables:
        frame = run.tables[name]
        if name == "modes":
            frame = readable(frame, run.scenario)
        if not frame.is_empty():
            yield name, frame


def write(frame: pl.DataFrame, file: Path) -> None:
    """Write a table in the format of the file's suffix."""
    # Into memory first, as Polars has errors of its own for what the system refuses.
    content = io.BytesIO()
    if file.suffix == ".csv":
        frame.write_csv(content)
    else:
        frame.write_parquet(content)
    file.write_bytes(content.getbuffer())
