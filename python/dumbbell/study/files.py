"""Finding and reading the files of a study."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dumbbell.base import documents, kinds
from dumbbell.base.errors import InputError, placed, unknown
from dumbbell.base.keys import index_of, numbered
from dumbbell.study import experiment_names, kept_paths

if TYPE_CHECKING:
    from dumbbell.base.validation import Model

_PACKAGE = Path(__file__).parent.parent
RESULTS = Path("results")
"""Default results folder to find experiments in."""


@dataclass(frozen=True)
class StudyFiles:
    """The content of a study's files as one table, and which file each part came from."""

    path: Path
    data: Mapping[str, Any]
    origins: Mapping[str, tuple[tuple[Path, int], ...]]
    """Top-level key -> the files that have it, with the index of their first entry."""

    def validate(self, model: type[Model]) -> Model:
        """Validate the whole; errors name the file and the key inside it."""
        from dumbbell.base import validation  # noqa: PLC0415 - what lists studies needs no models

        try:
            return validation.validate(model, self.data, str(self.path))
        except InputError as error:
            others = [self._placed(other) for other in error.others]
            raise documents.located(replace(self._placed(error), others=others)) from None

    def _placed(self, error: InputError) -> InputError:
        source, key = self.place(error.key or "")
        return replace(error, source=source, key=key or None)

    def place(self, key: str) -> tuple[str, str]:
        """Return the file that holds a key of the whole, and the key in that file."""
        first, _, rest = key.partition(".")
        if first not in self.origins:
            return str(self.path), key
        file, start = self.origins[first][0]
        position, dot, inner = rest.partition(".")
        index = index_of(position, self.data[first])
        if index is not None:
            # The last file whose entries begin at or before this one holds it.
            file, start = [origin for origin in self.origins[first] if origin[1] <= index][-1]
            key = f"{first}.{index - start + 1}{dot}{inner}"
        return str(file), key

    def keeping(self, key: str, kept: Sequence[int]) -> StudyFiles:
        """Return the files of a study of which only some entries of an array are kept."""
        # Looked up before entries are left out, so that errors still name the file of each.
        places = [self.place(f"{key}.{number + 1}")[0] for number in kept]
        origins = tuple((Path(file), index) for index, file in enumerate(places))
        data = {**self.data, key: [self.data[key][number] for number in kept]}
        return replace(self, data=data, origins={**self.origins, key: origins})


def folders() -> list[Path]:
    """Return where studies are looked for by name: here, then in the package."""
    return [folder for folder in (Path("studies"), _PACKAGE / "studies") if folder.is_dir()]


def names() -> list[str]:
    """Return the names of the studies in these folders."""
    by_name = {
        entry.stem if entry.is_file() else entry.name: None
        for folder in folders()
        for entry in sorted(folder.iterdir())
        if entry.suffix == ".toml" or (entry / "study.toml").is_file()
    }
    return list(by_name)


def find(study: str | Path, results: Path = RESULTS) -> Path:
    """Return the folder or file of a study, given its name or path.

    An experiment of a results folder comes after all studies of its name, and a study that has run
    by its path comes last.
    """
    path = Path(study)
    is_name = isinstance(study, str) and path.name == study and not path.suffix
    if is_name:
        for folder in folders():
            for candidate in (folder / study / "study.toml", folder / f"{study}.toml"):
                if documents.is_file(candidate):
                    return candidate.parent if candidate.name == "study.toml" else candidate
        experiment = experiment_names.find(path.name, results)
        if experiment is not None:
            return experiment
        kept = kept_paths.find(path.name, results)
        if kept is not None and header(kept)["name"] == path.name:
            return kept
    if documents.exists(path):
        return path
    if is_name:
        known = [*names(), *experiment_names.names(results), *kept_paths.names(results)]
        raise unknown("study", path.name, known, "dumbbell list studies")
    raise InputError("no such file or folder", source=str(study), valid="a name, folder or file")


def read(study: str | Path, results: Path = RESULTS) -> StudyFiles:
    """Read a study's files into one table: arrays are joined, tables must differ.

    An experiment that is found by its name must match it; see `experiment_names`.
    """
    path = find(study, results)
    if path.suffix != ".toml":
        kinds.check(path, "a study")
    data: dict[str, Any] = {}
    origins: dict[str, list[tuple[Path, int]]] = {}
    for file in parts(path):
        table = _table(file, path, results)
        if path == file:
            kinds.check(path, "a study", table)
        for key, value in table.items():
            known = data.get(key, [])
            if key in data and not (isinstance(known, list) and isinstance(value, list)):
                raise InputError(f"already set in {origins[key][0][0]}", source=str(file), key=key)
            origins.setdefault(key, []).append((file, len(known)))
            data[key] = [*known, *value] if isinstance(value, list) else value
    if str(study) == path.name and path.parent == results / experiment_names.FOLDER:
        experiment_names.check(path, data)
    return StudyFiles(path, data, {key: tuple(files) for key, files in origins.items()})


def _table(file: Path, study: Path, results: Path, key: str | None = None) -> dict[str, Any]:
    """Read a file of a study; of an experiment no link to it is followed."""
    below = results if study.parent == results / experiment_names.FOLDER else None
    return documents.read_toml(file, key=key, must_be_regular=file != study, below=below)


def parts(path: Path) -> list[Path]:
    """Return the files of a study, given its folder or file; none are an InputError."""
    files = sorted(path.glob("*.toml")) if path.is_dir() else [path]
    if not files:
        raise InputError("holds no TOML file", source=str(path), valid="study.toml")
    return files


def header(study: str | Path, results: Path = RESULTS) -> dict[str, str | int]:
    """Return name, title and year of a study, without a look at anything else in it."""
    path = find(study, results)
    for file, tables in _entries(path, results, "study"):
        return _fields(file, "study", tables, ("name", "title", "year"))
    raise InputError("is missing", source=str(path), key="study", valid="a [study] table")


def figures(study: str | Path, results: Path = RESULTS) -> list[dict[str, str | int]]:
    """Return name and title of a study's figures, without a look at anything else in it."""
    return [
        _fields(file, key, figure, ("name", "title"))
        for file, lines in _entries(find(study, results), results, "figure")
        for key, figure in numbered("figure", lines if isinstance(lines, list) else [lines])
    ]


def _entries(path: Path, results: Path, key: str) -> Iterator[tuple[Path, Any]]:
    """Yield what the files of a study have at the top under a key; only these files are parsed."""
    for file in parts(path):
        content = _table(file, path, results, key)
        if key in content:
            yield file, content[key]


def _fields(file: Path, key: str, table: Any, names: Sequence[str]) -> dict[str, str | int]:
    """Return some fields of a table, which are texts or numbers."""
    with placed(source=str(file), key=key):
        if not isinstance(table, dict):
            raise InputError("not a table", value=table, valid="a table of keys")
        for name in names:
            if name not in table:
                raise InputError("is missing", key=name)
            if not isinstance(table[name], str | int):
                raise InputError("neither a text nor a number", key=name, value=table[name])
    return {name: table[name] for name in names}
