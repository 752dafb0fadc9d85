"""Kinds of files and folders, and the command that takes each, for errors about a wrong one."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from dumbbell.base import documents
from dumbbell.base.errors import InputError
from dumbbell.base.shell import quoted

MEASURED: Final = (".pcap", ".pcapng", ".cap", ".flent", ".flent.gz", ".json", ".json.gz")
"""Suffixes of files that `dumbbell import` reads."""


@dataclass(frozen=True)
class Kind:
    """A kind of file or folder, and the command that takes it."""

    what: str
    command: str

    def refused(self, source: str, wanted: str) -> InputError:
        """Return the error for this where something else is expected."""
        return InputError(
            f"this is {self.what}, not {wanted}", source=source, valid=f"dumbbell {self.command}"
        )


def of_table(path: Path, table: Mapping[str, Any]) -> Kind | None:
    """Return what a TOML file is, by its keys; None if that is no kind of ours."""
    name = quoted(path)
    if "study" in table or "test" in table:
        whole = path.parent if path.name == "study.toml" and len(path.parts) > 1 else path
        return Kind("a study", f"run {quoted(whole)}")
    if "network" in table or "flow" in table or "arrivals" in table:
        return Kind("a scenario", f"simulate {name}")
    if "figure" in table or "claim" in table:
        return Kind("a part of a study", f"run {quoted(path.parent)}")
    if "parameters" in table and isinstance(table.get("algorithm"), str):
        choice = quoted(f"{table['algorithm']}@{path}")
        return Kind("a preset", f"compare {choice} --rate 100mbit --rtt 40ms")
    return None


def of_path(path: Path) -> Kind | None:
    """Return what a file or folder is; None if that is no kind of ours."""
    name = quoted(path)
    if documents.is_file(path / "study.toml"):
        return Kind("a study", f"run {name}")
    if documents.is_file(path / "format.json"):
        return Kind("a folder of results", f"list runs --results {name}")
    return _of_file(path, name) if documents.is_file(path) else None


def _of_file(path: Path, name: str) -> Kind | None:
    if path.suffix == ".c":
        return Kind("an algorithm", f"check {quoted(path if '/' in str(path) else f'./{path}')}")
    if path.name.endswith(MEASURED):
        return Kind("no TOML file", f"import {name}")
    with suppress(InputError):
        return of_table(path, documents.read_toml(path)) if path.suffix == ".toml" else None
    return None


def check(path: Path, wanted: str, table: Mapping[str, Any] | None = None) -> None:
    """Raise InputError if a path is of another kind than the expected one, such as ``a study``.

    `table` is what is in the file, if that has been read.
    """
    kind = of_path(path) if table is None else of_table(path, table)
    if kind is not None and kind.what != wanted:
        raise kind.refused(str(path), wanted)
