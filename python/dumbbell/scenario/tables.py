"""Base classes of all tables of a scenario file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final

from pydantic import BaseModel, ConfigDict, Field, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from dumbbell.base.validation import FIELD_DOCSTRINGS

_TEXT_MAX: Final = 10_000
"""Characters of any text of a file."""

TITLE_MAX: Final = 300
NAME_MAX: Final = 100

Title = Annotated[str, Field(max_length=TITLE_MAX)]
"""Title of a table or a figure: a line or two."""

Name = Annotated[str, Field(min_length=1, max_length=NAME_MAX)]
"""Name in the cells of tables and in the legends of figures."""


class Table(BaseModel):
    """A table of the file: its keys are fixed, its values do not change."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        use_attribute_docstrings=FIELD_DOCSTRINGS,
        serialize_by_alias=True,
        str_max_length=_TEXT_MAX,
    )


class Abbreviable(Table):
    """A table that may also be written as a single text."""

    abbreviation: ClassVar[Mapping[str, Any]] = {"type": "string"}
    """JSON Schema of that text."""

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        table = handler.resolve_ref_schema(handler(core_schema))
        described: dict[str, Any] = {
            key: table.pop(key) for key in ("title", "description") if key in table
        }
        return {**described, "anyOf": [dict(cls.abbreviation), table]}
