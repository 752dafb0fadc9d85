"""Notes next to results: small files of which nothing but words and counts comes."""

from __future__ import annotations

from pathlib import Path
from typing import Final, TypeVar

from pydantic import BaseModel, ValidationError

from dumbbell.base import regular
from dumbbell.base.errors import DamagedResult
from dumbbell.store.store import Store

_BYTES_MAX: Final = 1_000_000

Note = TypeVar("Note", bound=BaseModel)


def read(store: Store, file: Path, kind: type[Note]) -> Note:
    """Return a note; one that cannot be read, or is of another kind, is a DamagedResult."""
    try:
        return kind.model_validate_json(regular.read(file, _BYTES_MAX, below=store.root))
    except OSError as error:
        raise DamagedResult(f"{file}: damaged note ({error.strerror or error})") from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise DamagedResult(f"{file}: damaged note ({first['msg']})") from None
