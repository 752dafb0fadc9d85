"""Settings of a study for quantities, each as a separate table: ``[settings.convergence]``."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict

from dumbbell.base.validation import FIELD_DOCSTRINGS

KNOWN: dict[str, type[Settings]] = {}
"""The tables that there are."""


class Settings(BaseModel):
    """A table of settings; a subclass is known by its `table`."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        use_attribute_docstrings=FIELD_DOCSTRINGS,
        populate_by_name=True,
    )

    table: ClassVar[str]

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        """Make the table known."""
        super().__pydantic_init_subclass__(**kwargs)
        KNOWN[cls.table] = cls
