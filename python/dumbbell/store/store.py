"""The results folder: content-addressed, verified, shared safely by several processes.

::

    format.json              the version of this layout
    runs/ab/ab12.../         one finished run, named by its scenario's key
        run.json             scenario, summary, and the digest of each table's content
        flows.parquet ...    one file per table that has rows
        files.json           size and SHA-256 of these files (`store.run_folder`)
    studies/                 the plans of studies (`dumbbell.results.plans`)
    experiments/             user-defined studies (`dumbbell.experiments`)
    packs/                   many finished runs in a file each (`store.packs`)
    failures/                why runs failed (`store.failures`)
    campaigns/               what commands took (`store.campaigns`)
    quantities/              what was measured of runs (`quantities.kept`)
    answers/                 the tables that commands printed (`store.answers`)

A run is written to a temporary folder next to its final place and then renamed. So it is there as a
whole or not at all, however its process ends. Only a loss of power can leave a damaged one, as
nothing waits for the disk: its digests show that, and it is run again. Nothing that the simulator
leaves in `run.json` depends on when or where it ran; the bytes of the other files are those of one
version of Polars.

A results folder may be somebody else's. So only regular files of stated sizes, to which no link
leads (`dumbbell.base.regular`), are read, under keys that can be those of runs.
"""

from __future__ import annotations

import errno
import io
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import polars as pl

from dumbbell.base import regular
from dumbbell.base.errors import DamagedResult, InputError, MissingResult, StoreError, refusal
from dumbbell.engines import validity
from dumbbell.engines.engine import Output
from dumbbell.engines.result import Run
from dumbbell.scenario.resolve import ResolvedScenario
from dumbbell.store import answers, run_folder, staging
from dumbbell.store.packs import InPack, Packs
from dumbbell.store.result_files import InFolder, InMemory, is_key
from dumbbell.store.run_folder import RunFile

FORMAT: Final = 2
FORMAT_FILE: Final = "format.json"
_FORMAT_BYTES_MAX: Final = 10_000
_FOLDERS: Final = (
    "runs",
    "studies",
    "experiments",
    "packs",
    "failures",
    "campaigns",
    "quantities",
    answers.FOLDER,
)
_TAKEN: Final = (errno.ENOTEMPTY, errno.EEXIST)


class Store:
    """A results folder; it is created when the first result is put into it."""

    def __init__(self, root: str | Path) -> None:
        self.root = Path(root)
        self.packs = Packs(self.root)
        with self.errors("read"):
            self._check_format()

    @classmethod
    def of(cls, results: Store | str | Path) -> Store:
        """Return a results folder by its path; one that is open already stays as it is."""
        return results if isinstance(results, Store) else cls(results)

    def has(self, key: str) -> bool:
        """Return whether there is a result, without verifying it."""
        return self._place(key) is not None

    def _place(self, key: str) -> InFolder | InPack | None:
        """Return where a result is; one in a folder takes the place of one in a pack."""
        if not is_key(key):
            return None
        loose = InFolder(self.root, key)
        if loose.is_there:
            return loose
        with self.errors("read"):
            return self.packs.find(key)

    def _existing_place(self, key: str) -> InFolder | InPack:
        place = self._place(key)
        if place is None:
            raise MissingResult(key)
        return place

    def get(self, key: str) -> Run:
        """Return a verified result with lazy frames.

        Raises MissingResult if there is none and DamagedResult if it is not what was written.
        """
        run = self.verify(key)
        files = run_folder.table_files(run)
        return Run(key, run.scenario, run.summary, _Tables(self._existing_place(key), files))

    def verify(self, key: str, *, contents: bool = False, is_wanted: bool = True) -> RunFile:
        """Return a result's `run.json` after checking all its files; raises as `get`.

        With `contents`, what the tables hold is checked, too, which means to read them. Unless it
        `is_wanted`, it may be of another version; see `run_folder.described`.
        """
        with self.errors("read"):
            place = self._existing_place(key)
            return run_folder.verified(place, contents=contents, is_wanted=is_wanted)

    def described(self, key: str, *, is_wanted: bool = True) -> RunFile:
        """Return a result's `run.json` as `verify`, after checking no other file."""
        with self.errors("read"):
            return run_folder.described(self._existing_place(key), is_wanted=is_wanted)

    def take(self, key: str, *, is_wanted: bool = True) -> tuple[RunFile, InMemory]:
        """Return a result whole, to be kept elsewhere, after checking it as `verify` does."""
        with self.errors("read"):
            return run_folder.taken(self._existing_place(key), is_wanted=is_wanted)

    def size_bytes(self, key: str) -> int:
        """Return the size of a result's files."""
        with self.errors("read"):
            return self._existing_place(key).size_bytes()

    def state(self, key: str) -> tuple[tuple[str, int, int], ...]:
        """Return name, size and time of each file of a result: what is changed in it, shows."""
        return self._existing_place(key).state()

    def keys(self) -> Iterator[str]:
        """Iterate over the keys of all results, in order."""
        with self.errors("read"):
            all_keys = {*self.loose(), *self.packs.keys()}
        yield from sorted(all_keys)

    @property
    def is_empty(self) -> bool:
        """True if there is no result."""
        with self.errors("read"):
            return not any(self.loose()) and not any(self.packs.keys())

    def loose(self) -> Iterator[str]:
        """Iterate over the keys of the results in separate folders, in order."""
        for parent in regular.entries(self.root / "runs", below=self.root):
            for folder in regular.entries(self.root / "runs" / parent.name, below=self.root):
                if self._is_result(parent.name, folder.name):
                    yield folder.name

    def _is_result(self, parent: str, name: str) -> bool:
        return is_key(name) and name.startswith(parent) and InFolder(self.root, name).is_there

    def strangers(self) -> Iterator[str]:
        """Yield what lies among results and is none, nor part of one: nothing reads it."""
        for parent in regular.entries(self.root / "runs", below=self.root):
            place = self.root / "runs" / parent.name
            entries = regular.entries(place, below=self.root)
            if not entries and not parent.is_dir(follow_symlinks=False):
                yield str(place)
            for entry in entries:
                if self._is_result(parent.name, entry.name):
                    loose = InFolder(self.root, entry.name)
                    yield from (str(loose.path / name) for name in loose.strangers())
                elif not staging.is_staging(Path(entry.name)):
                    yield str(place / entry.name)
        with self.errors("read"):
            indices = list(self.packs.known().values())
        for index in indices:
            yield from index.strangers

    def size_below(self, name: str) -> int:
        """Return the size of all files in one of the other folders, and in those in it."""
        total = 0
        for entry in regular.entries(self.root / name, below=self.root):
            if entry.is_dir(follow_symlinks=False):
                total += self.size_below(f"{name}/{entry.name}")
            elif entry.is_file(follow_symlinks=False):
                total += entry.stat(follow_symlinks=False).st_size
        return total

    def put(self, scenario: ResolvedScenario, output: Output) -> int:
        """Keep a result as `install` does, and return its size in bytes."""
        result = InMemory(scenario.key, dict(run_folder.encoded(scenario, output)))
        self.install(result)
        return result.size_bytes()

    def install(self, result: InMemory) -> None:
        """Keep the files of a result.

        If an intact one is there already, that one stays if it is valid.
        """
        with self.errors("write"):
            self.create()
            target = self.folder(result.name)
            regular.make(target.parent, below=self.root)
            # In the same folder as the target: a rename is atomic within one file system only.
            with staging.folder(target.parent) as draft:
                for name, content in result.files.items():
                    (draft / name).write_bytes(content)
                self._take_place(draft, InFolder(self.root, result.name))

    def remove(self, key: str) -> None:
        """Remove the folder of a result."""
        folder = self.folder(key)
        with self.errors("write"):
            regular.status(folder.parent, below=self.root)
            with staging.locked(folder.parent):
                if folder.is_dir():
                    staging.discard(folder)

    def clean(self) -> None:
        """Remove what writers that died have left behind."""
        with self.errors("write"):
            for parent in (self.root, *self._folders()):
                staging.remove_abandoned(parent)

    def _folders(self) -> Iterator[Path]:
        """Yield the folders in which others may be writing."""
        for name in ("studies", "failures", "campaigns", "packs", answers.FOLDER):
            yield self.root / name
        for name in ("runs", "quantities"):
            for entry in regular.entries(self.root / name, below=self.root):
                if entry.is_dir(follow_symlinks=False):
                    yield self.root / name / entry.name

    def _take_place(self, draft: Path, result: InFolder) -> None:
        """Rename the draft to its place, unless an intact and valid result is there."""
        target = result.path
        while True:
            try:
                draft.rename(target)
            except OSError as error:
                # Another process may be replacing a damaged result at this moment.
                if error.errno not in _TAKEN and not os.path.lexists(target):
                    raise
            else:
                return
            if not _remove_if_useless(result):
                return

    def folder(self, key: str) -> Path:
        """Return where a result lies, or would."""
        return self.root / "runs" / key[:2] / key

    def create(self) -> None:
        """Make sure that the folder exists and states its format.

        Raises StoreError if somebody else has made it a folder of another format meanwhile.
        """
        with self.errors("write"):
            try:
                if self._check_format():
                    return
            except InputError as error:
                raise StoreError(f"{error}; what was kept before is still there") from None
            self.root.mkdir(parents=True, exist_ok=True)
            content = json.dumps({"format": FORMAT}) + "\n"
            # Lasting: results without a format, after a power failure, would be refused.
            staging.replace(self.root / FORMAT_FILE, content.encode(), lasting=True)

    def _check_format(self) -> bool:
        """Return whether the folder is in use; raise InputError if it is not for us."""
        try:
            text = regular.read(self.root / FORMAT_FILE, _FORMAT_BYTES_MAX, below=self.root)
        except FileNotFoundError:
            self._check_unused()
            return False
        except NotADirectoryError:
            valid = "another --results, or nothing at this path: it is made"
            raise InputError("not a folder", source=str(self.root), valid=valid) from None
        try:
            version = json.loads(text)["format"]
        except (ValueError, TypeError, KeyError, RecursionError):
            raise InputError(
                "this file does not say which format the results have",
                source=str(self.root / FORMAT_FILE),
                valid=f'{{"format": {FORMAT}}}, or another results folder',
            ) from None
        if version != FORMAT:
            raise InputError(
                f"this results folder has format {version}, this Dumbbell reads format {FORMAT}",
                source=str(self.root),
                valid="another results folder, or the Dumbbell that wrote this one",
            )
        for name in _FOLDERS:
            if (self.root / name).is_symlink():
                raise InputError(
                    "a link, which is not followed in a results folder",
                    source=str(self.root / name),
                    valid="a folder; the results folder itself may be a link",
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
        """Turn what the system refuses into a StoreError; see `errors.refusing`."""
        try:
            yield
        except OSError as error:
            refused = refusal(error, f"{verb} results", self.root)
            raise StoreError(
                f"{refused}; finished results are kept: the same command continues"
            ) from error


class _Tables(Mapping[str, pl.LazyFrame]):
    """The tables of a result by their names; those in a pack are read at the first access."""

    def __init__(self, place: InFolder | InPack, files: Mapping[str, str]) -> None:
        self._place = place
        self._files = files

    def __getitem__(self, name: str) -> pl.LazyFrame:
        file = self._files[name]
        if isinstance(self._place, InPack):
            return pl.scan_parquet(io.BytesIO(self._place.read(file)))
        return pl.scan_parquet(self._place.path / file, glob=False)

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)


def _remove_if_useless(result: InFolder) -> bool:
    """Make room for a new result where a damaged or an invalid one is; False: a good one is."""
    with staging.locked(result.path.parent):
        if not os.path.lexists(result.path):
            return True  # removed by another process, which holds this lock to do so
        try:
            useless = bool(validity.reasons(run_folder.verified(result, is_wanted=True).summary))
        except DamagedResult:
            useless = True
        if useless:
            staging.discard(result.path)
        return useless
