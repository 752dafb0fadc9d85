"""Finding and reading the files of a study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from dumbbell import documents
from dumbbell.errors import InputError, unknown

Model = TypeVar("Model", bound=BaseModel)

_PACKAGE = Path(__file__).parent.parent


@dataclass(frozen=True)
class StudyFiles:
    """The content of a study's files as one table, and which file each part came from."""

    path: Path
    data: Mapping[str, Any]
    origins: Mapping[str, tuple[tuple[Path, int], ...]]
    """Top-level key -> the files that have it, with the position of their first entry."""

    def validate(self, model: type[Model]) -> Model:
        """Validate the whole; errors name the file and the key inside it."""
        try:
            return documents.validate(model, self.data, str(self.path))
        except InputError as error:
            placed = self._placed(error)
            placed.others = tuple(self._placed(other) for other in error.others)
            raise placed from None

    def _placed(self, error: InputError) -> InputError:
        first, _, rest = (error.key or "").partition(".")
        source, key = str(self.path), error.key
        if first in self.origins:
            origin, start = self.origins[first][0]
            position, dot, inner = rest.partition(".")
            if position.isdecimal():
                origin, start = self._origin(first, int(position))
                key = f"{first}.{int(position) - start}{dot}{inner}"
            source = str(origin)
        return InputError(
            error.problem,
            source=source,
            key=key,
            value=error.value,
            valid=error.valid,
            near=error.near,
        )

    def _origin(self, key: str, position: int) -> tuple[Path, int]:
        starts = [origin for origin in self.origins[key] if origin[1] <= position]
        return starts[-1]


def folders() -> list[Path]:
    """Return where studies are looked for by name: here, then in the package."""
    candidates = [Path("studies"), _PACKAGE / "studies"]
    return [folder for folder in candidates if folder.is_dir()]


def names() -> list[str]:
    """Return the names of the studies in these folders."""
    found = {
        entry.stem if entry.is_file() else entry.name: None
        for folder in folders()
        for entry in sorted(folder.iterdir())
        if entry.suffix == ".toml" or (entry / "study.toml").is_file()
    }
    return list(found)


def find(study: str | Path) -> Path:
    """Return the folder or file of a study, given its name or path."""
    path = Path(study)
    is_name = isinstance(study, str) and path.name == study and not path.suffix
    if is_name:
        for folder in folders():
            for candidate in (folder / study / "study.toml", folder / f"{study}.toml"):
                if candidate.is_file():
                    return candidate.parent if candidate.name == "study.toml" else candidate
    if path.exists():
        return path
    if is_name:
        raise unknown("study", str(study), names())
    raise InputError("no such file or folder", source=str(study), valid="a name, folder or file")


def read(study: str | Path) -> StudyFiles:
    """Read a study's files into one table: arrays are joined, tables must differ."""
    path = find(study)
    files = sorted(path.glob("*.toml")) if path.is_dir() else [path]
    if not files:
        raise InputError("holds no TOML file", source=str(path), valid="study.toml")
    data: dict[str, Any] = {}
    origins: dict[str, list[tuple[Path, int]]] = {}
    for file in files:
        for key, value in documents.read_toml(file).items():
            known = data.get(key, [])
            if key in data and not (isinstance(known, list) and isinstance(value, list)):
                raise InputError(f"already set in {origins[key][0][0]}", source=str(file), key=key)
            origins.setdefault(key, []).append((file, len(known)))
            data[key] = [*known, *value] if isinstance(value, list) else value
    return StudyFiles(path, data, {key: tuple(files) for key, files in origins.items()})
