"""The results folder: content-addressed, verified, shared safely by several processes.

::

    format.json              the version of this layout
    runs/ab/ab12.../         one finished run, named by its scenario's key
        run.json             scenario, summary, and the size and SHA-256 of each other file
        flows.parquet ...    one file per table that has rows
    studies/                 which runs were asked for (`dumbbell.results`)
    failures/                why runs failed (`running.failures`)
    campaigns/               what commands took (`running.campaigns`)

A run is written to a temporary folder beside its final place and then renamed, so it is
there as a whole or not at all, however its process ends. Only a loss of power can leave a
damaged one, as nothing waits for the disk: its digests tell, and it is run again. Nothing that the
simulator leaves in it depends on when or where it ran.
"""

from __future__ import annotations

import errno
import hashlib
import io
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import polars as pl

from dumbbell import catalogue
from dumbbell.errors import DamagedResult, InputError, MissingResult, StoreError
from dumbbell.running import staging, validity
from dumbbell.running.engine import Output
from dumbbell.running.result import Run
from dumbbell.scenario.resolve import ResolvedScenario, canonical_json

FORMAT: Final = 1
FORMAT_FILE: Final = "format.json"
RUN_FILE: Final = "run.json"
_TAKEN: Final = (errno.ENOTEMPTY, errno.EEXIST)


class Store:
    """A results folder; it is created when the first result is put into it."""

    def __init__(self, root: str | Path) -> None:
        self.root = Path(root)
        with self.errors("read"):
            self._check_format()

    def has(self, key: str) -> bool:
        """Return whether there is a result, without verifying it."""
        return (self._folder(key) / RUN_FILE).is_file()

    def get(self, key: str) -> Run:
        """Return a verified result with lazy frames.

        Raises MissingResult if there is none and DamagedResult if it is not what was written.
        """
        folder = self._folder(key)
        content = self.verify(key)
        tables = {
            name.removesuffix(".parquet"): pl.scan_parquet(folder / name, glob=False)
            for name in content["files"]
        }
        return Run(key, content["scenario"], content["summary"], tables)

    def verify(self, key: str) -> dict[str, Any]:
        """Return a result's `run.json` after checking all its files; raises as `get`."""
        if not self.has(key):
            raise MissingResult(key)
        with self.errors("read"):
            return _verified(self._folder(key))

    def described(self, key: str) -> dict[str, Any]:
        """Return a result's `run.json` after checking it, but not the tables; raises as `get`."""
        if not self.has(key):
            raise MissingResult(key)
        with self.errors("read"):
            return _description(self._folder(key))

    def size_bytes(self, key: str, content: Mapping[str, Any]) -> int:
        """Return the size of a result's files; `content` is its `run.json`."""
        tables: int = sum(file["bytes"] for file in content["files"].values())
        return tables + (self._folder(key) / RUN_FILE).stat().st_size

    def keys(self) -> Iterator[str]:
        """Iterate over the keys of all results, in order."""
        for folder in sorted(self.root.glob("runs/??/*/")):
            if not staging.is_staging(folder) and (folder / RUN_FILE).is_file():
                yield folder.name

    def put(self, scenario: ResolvedScenario, output: Output) -> int:
        """Keep a result and return its size in bytes.

        If an intact one is there already, that one stays if it is valid.
        """
        with self.errors("write"):
            self.create()
            files = dict(_encoded(scenario, output))
            target = self._folder(scenario.key)
            with staging.folder(target.parent) as draft:
                for name, content in files.items():
                    (draft / name).write_bytes(content)
                self._install(draft, target)
        return sum(map(len, files.values()))

    def clean(self) -> None:
        """Remove what writers that died have left behind."""
        with self.errors("write"):
            folders = (self.root / name for name in ("studies", "failures", "campaigns"))
            for parent in (self.root, *folders, *self.root.glob("runs/??/")):
                staging.remove_abandoned(parent)

    def _install(self, draft: Path, target: Path) -> None:
        """Rename the draft to its place, unless an intact and valid result is there."""
        while True:
            try:
                draft.rename(target)
            except OSError as error:
                # Another process may be replacing a damaged result at this moment.
                if error.errno not in _TAKEN and not target.is_dir():
                    raise
            else:
                return
            if not _remove_if_useless(target):
                return

    def _folder(self, key: str) -> Path:
        return self.root / "runs" / key[:2] / key

    def create(self) -> None:
        """Make sure that the folder exists and says which format it has.

        Raises StoreError if somebody else has made it a folder of another format meanwhile.
        """
        try:
            if self._check_format():
                return
        except InputError as error:
            raise StoreError(f"{error}; what was kept before is still there") from None
        self.root.mkdir(parents=True, exist_ok=True)
        content = json.dumps({"format": FORMAT}) + "\n"
        staging.replace(self.root / FORMAT_FILE, content.encode(), lasting=True)

    def _check_format(self) -> bool:
        """Return whether the folder is in use; raise InputError if it is not for us."""
        try:
            text = (self.root / FORMAT_FILE).read_bytes()
        except FileNotFoundError:
            self._check_unused()
            return False
        except NotADirectoryError:
            raise InputError("not a folder", source=str(self.root)) from None
        try:
            found = json.loads(text)["format"]
        except (ValueError, TypeError, KeyError):
            raise InputError(
                "this file does not say which format the results have",
                source=str(self.root / FORMAT_FILE),
                valid=f'{{"format": {FORMAT}}}, or another results folder',
            ) from None
        if found != FORMAT:
            raise InputError(
                f"this results folder has format {found}, this Dumbbell reads format {FORMAT}",
                source=str(self.root),
                valid="another results folder, or the Dumbbell that wrote this one",
            )
        return True

    def _check_unused(self) -> None:
        if not self.root.is_dir():
            return
        for entry in self.root.iterdir():
            # Another process may have begun to use the folder; it writes the format first.
            if not staging.is_staging(entry) and not (self.root / FORMAT_FILE).exists():
                raise InputError(
                    f"not a results folder: it holds {entry.name}, but no {FORMAT_FILE}",
                    source=str(self.root),
                    valid="a results folder, an empty folder or a new one",
                )

    @contextmanager
    def errors(self, verb: str) -> Iterator[None]:
        """Turn what the system refuses into a StoreError: what cannot be done, and the way out."""
        try:
            yield
        except OSError as error:
            reason = error.strerror or str(error)
            where = f" ({error.filename})" if error.filename else ""
            raise StoreError(
                f"{self.root}: cannot {verb} results: {reason}{where}; finished results are "
                "kept, so remove the cause and run the same command again"
            ) from error


def _remove_if_useless(target: Path) -> bool:
    """Make room for a new result where a damaged or an invalid one is; False: a good one is."""
    with staging.locked(target.parent):
        if not target.is_dir():
            return True  # removed by another process, which holds this lock to do so
        try:
            useless = bool(validity.reasons(_verified(target)["summary"]))
        except DamagedResult:
            useless = True
        if useless:
            staging.discard(target)
        return useless


def _encoded(scenario: ResolvedScenario, output: Output) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of each file of a run; `run.json` comes last."""
    files = {}
    for name, table in sorted(output.tables.items()):
        if table.height:
            content = _parquet(table)
            files[f"{name}.parquet"] = {"bytes": len(content), "sha256": _sha256(content)}
            yield f"{name}.parquet", content
    run: dict[str, Any] = {
        "key": scenario.key,
        "engine": scenario.engine,
        "schema": catalogue.schema().version,
        "scenario": scenario.data,
        "summary": output.summary,
        "files": files,
    }
    run["digest"] = _digest(run)
    yield RUN_FILE, _run_file(run)


def _run_file(run: Mapping[str, Any]) -> bytes:
    return (json.dumps(run, sort_keys=True, indent=1) + "\n").encode()


def _parquet(table: pl.DataFrame) -> bytes:
    """Encode a table; the bytes depend on its content only, not on threads or chunks."""
    buffer = io.BytesIO()
    table.rechunk().write_parquet(
        buffer, compression="zstd", compression_level=3, row_group_size=1 << 18
    )
    return buffer.getvalue()


def _verified(folder: Path) -> dict[str, Any]:
    """Return `run.json` after comparing it and all files with their digests."""
    run = _description(folder)
    for name, expected in run["files"].items():
        try:
            content = (folder / name).read_bytes()
        except FileNotFoundError as error:
            raise _damaged(folder, str(error)) from None
        if _sha256(content) != expected["sha256"]:
            raise _damaged(folder, f"{name} does not match its digest")
    return run


def _description(folder: Path) -> dict[str, Any]:
    """Return `run.json` after comparing it with its digest."""
    try:
        content = (folder / RUN_FILE).read_bytes()
        run = json.loads(content)
        if run["digest"] != _digest(run) or content != _run_file(run):
            raise _damaged(folder, f"{RUN_FILE} does not match its digest")
        if run["key"] != folder.name:
            raise _damaged(folder, "it does not match its name")
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise _damaged(folder, str(error)) from None
    return dict(run)


def _damaged(folder: Path, why: str) -> DamagedResult:
    return DamagedResult(f"{folder}: damaged result ({why}); run it again to replace it")


def _digest(run: Mapping[str, Any]) -> str:
    content = {name: value for name, value in run.items() if name != "digest"}
    return _sha256(canonical_json(content).encode())


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
