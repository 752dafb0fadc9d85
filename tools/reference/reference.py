"""The reference of the files that users write, generated from their models.

For each kind of file there is a JSON Schema and a page, and there is a page about the results.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core.core_schema import NullableSchema, WithDefaultSchema

from dumbbell.algorithms import catalogue
from dumbbell.base import markdown
from dumbbell.base.errors import as_toml
from dumbbell.base.labels import amount
from dumbbell.base.units import BYTE_UNITS, PACKET_UNITS, RATE_UNITS, TIME_UNITS, format_time
from dumbbell.execution import bounds
from dumbbell.scenario.model import Scenario
from dumbbell.study.model import Study
from dumbbell.theory import curves, formulas
from reference import quantities_page, scenarios_page

SCHEMA_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


@dataclass(frozen=True)
class Document:
    """A kind of file: its model, the first and the last part of its page, and an example."""

    name: str
    model: type[BaseModel]
    introduction: str
    example: str
    appendices: tuple[Callable[[], str], ...] = ()


class _TomlSchema(GenerateJsonSchema):
    """JSON Schema of a TOML file, in which nothing is null."""

    def sort(
        self,
        value: JsonSchemaValue,
        parent_key: str | None = None,  # noqa: ARG002 - the signature is pydantic's
    ) -> JsonSchemaValue:
        """Keep the order of the model."""
        return value

    def nullable_schema(self, schema: NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: WithDefaultSchema) -> JsonSchemaValue:
        described = super().default_schema(schema)
        if described.get("format") == "time" and isinstance(described.get("default"), int):
            described["default"] = format_time(described["default"])
        if described.get("default") is None or isinstance(described["default"], dict):
            described.pop("default", None)
        return described


def json_schema(document: Document) -> str:
    """Return the JSON Schema of a kind of file."""
    schema = document.model.model_json_schema(schema_generator=_TomlSchema)
    return json.dumps({"$schema": SCHEMA_DIALECT, **schema}, indent=1) + "\n"


def page(document: Document, folder: Path) -> str:
    """Return the reference page of a kind of file, in Markdown."""
    schema = document.model.model_json_schema(schema_generator=_TomlSchema)
    example = (folder / "examples" / document.example).read_text()
    parts = [
        f"# The {document.name} file\n\n{document.introduction}\n",
        f"This page and [its JSON Schema]({document.name}.schema.json) are generated from the "
        "models by `make docs`.\n",
        f"## Example\n\n```toml\n{example}```\n",
        *_tables(schema),
        *(appendix() for appendix in document.appendices),
    ]
    return "\n".join(parts)


def _tables(schema: Mapping[str, Any]) -> Iterator[str]:
    """Describe the file's top level, then each table in the order of its first mention."""
    defs = schema["$defs"]
    yield _table("Top level", schema, defs)
    seen: set[str] = set()
    waiting = list(_mentions(schema, ""))
    while waiting:
        path, name, is_array = waiting.pop(0)
        if name in seen or "enum" in defs[name]:
            continue
        seen.add(name)
        table = _alternative(defs[name])
        heading = f"`[[{path}]]`" if is_array else f"`[{path}]`"
        yield _table(heading + _kind(table), table, defs)
        waiting = [*_mentions(table, f"{path}."), *waiting]


def _mentions(table: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, str, bool]]:
    """Yield path and model of the tables inside a table, and whether they form an array."""
    for key, described in table["properties"].items():
        for name, is_array in _references(described):
            yield prefix + key, name, is_array


def _references(described: Mapping[str, Any], is_array: bool = False) -> Iterator[tuple[str, bool]]:
    """Yield the names of the models that describe a value, and whether an array holds them."""
    if "$ref" in described:
        yield described["$ref"].rpartition("/")[2], is_array
    if "items" in described:
        yield from _references(described["items"], is_array=True)
    for choice in described.get("oneOf", ()):
        yield from _references(choice, is_array)


def _alternative(table: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the table itself where a text may replace it."""
    for choice in table.get("anyOf", ()):
        if "properties" in choice:
            return {**table, **choice}
    return table


def _kind(table: Mapping[str, Any]) -> str:
    """Name the key that distinguishes a table from others in the same place."""
    for key, described in table["properties"].items():
        if _tells_kinds_apart(key, described):
            values = described.get("enum") or [described["const"]]
            return f" with `{key} = " + "` or `".join(map(as_toml, values)) + "`"
    return ""


def _tells_kinds_apart(key: str, described: Mapping[str, Any]) -> bool:
    only = "const" in described and "description" not in described
    return only or (key == "discipline" and "enum" in described)


def _table(heading: str, table: Mapping[str, Any], defs: Mapping[str, Any]) -> str:
    rows = []
    required = table.get("required", ())
    for key, described in table["properties"].items():
        default = "*required*" if key in required else _code(described.get("default"))
        examples = ", ".join(_code(example) for example in described.get("examples", ()))
        what = described.get("description", "").replace("``", "`")
        if _tells_kinds_apart(key, described):
            what = "Kind of this table."
        rows.append((f"`{key}`", what, _form(described, defs), default, examples))
    heads = ("key", "what", "form", "default", "examples")
    return f"## {heading}\n\n{table['description']}\n\n{markdown.table(heads, rows)}"


def _code(value: Any) -> str:
    return "" if value is None else f"`{as_toml(value)}`"


def _form(described: Mapping[str, Any], defs: Mapping[str, Any]) -> str:
    """Name the form of a value in a word or two."""
    if "enum" in described or "const" in described:
        return ", ".join(map(_code, described.get("enum") or [described["const"]]))
    if "$ref" in described:
        return _table_form(defs[described["$ref"].rpartition("/")[2]], defs)
    if "oneOf" in described:
        choices = described["oneOf"]
        forms = (form for choice in choices for form in _form(choice, defs).split(" or "))
        return " or ".join(dict.fromkeys(forms))
    if "format" in described:
        return str(described["format"])
    if described.get("type") == "array":
        return _array_form(described.get("items") or described["prefixItems"][0], defs)
    kind = str(described.get("type", ""))
    return {"string": "text", "boolean": "true or false", "object": "table"}.get(kind, kind)


def _table_form(table: Mapping[str, Any], defs: Mapping[str, Any]) -> str:
    """Name the form of a table, and of the text that may replace it."""
    if "enum" in table:
        return _form({"enum": table["enum"]}, defs)
    return f"{_form(table['anyOf'][0], defs)} or table" if "anyOf" in table else "table"


def _array_form(items: Mapping[str, Any], defs: Mapping[str, Any]) -> str:
    if "anyOf" in items:
        return f"array of {' or '.join(_form(choice, defs) for choice in items['anyOf'])}"
    form = _form(items, defs)
    if "table" in form.split(" or "):
        return "tables" if form == "table" else "array"
    return f"array of {form}" + ("" if "enum" in items or " or " in form else "s")


def _units() -> str:
    def joined(units: Iterator[str]) -> str:
        return ", ".join(f"`{unit}`" for unit in units)

    rows = (
        ("rate", joined(iter(RATE_UNITS)), "bit/s"),
        ("time", f"{joined(iter(TIME_UNITS))} (`m`: minutes)", "nanosecond"),
        ("size", f"{joined(iter(BYTE_UNITS))}, or a whole number", "byte"),
        ("packets", joined(iter(PACKET_UNITS)), "packet"),
        (
            "queue",
            f"{joined(iter(PACKET_UNITS))}, those of size and time, `bdp`, `%bdp`",
            "packet or byte",
        ),
        ("probability", "none, or `%`", ""),
    )
    return f"""## Quantities

A quantity is a text of a number and a unit, as in `tc`: `"250mbit"`, `"1.5ms"`, `"0.2bdp"`. It is
read exactly. A quantity without a unit, or finer than the base unit, is an error. Multiples are
decimal, except `kib`, `mib` and `gib`. In a size, `tc` means these three by `k`, `m` and `g`.
Capitals are accepted only if their meaning is clear: `"10Gbit"`, `"64KB"`, and for a rate also
`"10G"`. `"64K"` for a size and `"10M"` for a time are errors.

{markdown.table(("form", "units", "base unit"), rows)}"""


def _named_files() -> str:
    return """## Files that a scenario names

Traces, distributions and lists of flows or rates follow the same rules. `#` begins a comment, which
ends with its line. Blank lines and lines with only a comment are ignored, and take no time. In a
file with an `interval` for each line, a blank line before the last value is an error, because a
value may be missing there. Lines may end as on Windows, and a byte order mark is ignored.
"""


def _size() -> str:
    run, memory = amount(bounds.RUN_PACKETS_MAX), amount(bounds.RUN_BYTES_MAX, "B")
    hours = bounds.COMMAND_S_MAX / 3600
    return f"""## Size of a run

Commands first estimate packets, memory and time from the scenario. A run may have {run} packets and
{memory} in memory, and all runs of a command may take {hours:.0f} hours. Above these limits, the
command asks for confirmation on a terminal. Elsewhere it ends with an error. With `--large`
(`large=True` in Python) it runs anyway. The packets are those that flows have to send and links can
carry. The memory is that of the packets in flight and in full queues.
"""


def _stacks() -> str:
    stacks = catalogue.stacks()
    profiles = stacks.profiles.values()
    heads = ("switch", "what", *(f"`{profile.name}`" for profile in profiles))
    rows = (
        (
            f"`{name}`",
            what,
            *(_code(catalogue.switch_in_files(profile.switches[name])) for profile in profiles),
        )
        for name, what in stacks.switches.items()
    )
    summaries = (f"- `{profile.name}`: {profile.summary}" for profile in profiles)
    return "\n".join(("## Stack profiles\n", *summaries, "", markdown.table(heads, rows)))


def _formulas() -> str:
    rows = (
        (f"`{name}`", _arguments(form), _what(form)) for name, form in formulas.FORMULAS.items()
    )
    return f"""## Formulas

Functions for `arithmetic` checks. Arguments have the units of their names. A check may also have
your own formula, such as `formula = "packets * 8 * (1500 + 38) / (rate_gbit * 1e6)"`. Its `args`
are then the names in it.

{markdown.table(("formula", "arguments", "what"), rows)}"""


def _arguments(form: Callable[..., float]) -> str:
    parameters = inspect.signature(form).parameters.values()
    return ", ".join(f"`{parameter.name}{_default(parameter)}`" for parameter in parameters)


def _default(parameter: inspect.Parameter) -> str:
    return "" if parameter.default is parameter.empty else f" = {as_toml(parameter.default)}"


def _what(form: Callable[..., float]) -> str:
    """Return what a function returns, by the first paragraph of its documentation."""
    first = " ".join((inspect.getdoc(form) or "").partition("\n\n")[0].split())
    return first.removeprefix("Return ").removesuffix(".")


def _curves() -> str:
    rows = (
        (f"`{curve.name}`", curve.what, ", ".join(f"`{column}`" for column in curve.columns))
        for curve in curves.CURVES.values()
    )
    return f"""## Curves

`theory` checks compare with these curves, and figures draw them. A curve has a value at each grid
point with its inputs: numbers of axes, and quantities, which are averaged.

{markdown.table(("curve", "what", "depends on"), rows)}"""


def results_page() -> str:
    """Return the reference of what a run leaves behind."""
    schema = catalogue.schema()
    parts = [
        f"# Results\n\n{_RESULTS}\nThis page describes version {schema.version} of the schema.\n"
    ]
    for name, columns in schema.tables.items():
        table = markdown.table(("column", "type", "unit", "what"), map(_column, columns))
        parts.append(f"## `{name}`\n\n{table}")
    return "\n".join(parts)


def _column(column: catalogue.Column) -> tuple[str, ...]:
    codes = catalogue.schema().codes.get(column.name)
    kind = "enumeration" if codes else _TYPES[column.dtype]
    what = column.what if codes is None else f"one of {', '.join(map(_name, codes))}"
    return f"`{column.name}`", kind, column.unit, what


def _name(code: str) -> str:
    return f"`{code}`"


_TYPES: Final = {"|u1": "u8", "<u4": "u32", "<u8": "u64"}

_RESULTS: Final = """\
A results folder holds `format.json`, the version of its layout, and one folder for each finished
run, `runs/ab/ab12...`. The name is the SHA-256 of everything that determines the run: the resolved
scenario, the versions of engine, schema and built-in algorithms, and the sources of other
algorithms. Such a folder contains

- `run.json`: the resolved scenario, the summary by flow and by queue, and the digest of each
  table's content;
- one Parquet file for each of the tables below that has rows;
- `files.json`: the sizes and SHA-256 of the files, which reveal damage.

The results folder also has these parts. You can use results without any of them.

- `studies`: the plans of studies;
- `experiments`: the runs of `simulate` and `compare`, as studies. Each keeps in `copies` your C and
  preset files as it ran them last. So you can change, move or delete your files, and its page still
  shows all runs;
- `failures/ab12....json`: the reason of a run's last failure, until the run succeeds;
- `campaigns`: the cost of each command;
- `quantities`: the values that were computed from runs;
- `answers`: the tables that `compare` printed. A table counts only if the code, the study and every
  byte of its runs are unchanged;
- `packs`: results that `dumbbell store pack` moved from `runs`. They are SQLite files with a table
  `files` of `key`, `name` and `content`.

A run's folder is complete or absent, and it is verified before use. The same run gives the same
`run.json`, byte for byte, on any machine and at any time. The bytes of Parquet files, and so
`files.json`, depend on the version of Polars.

The digest of a table is the SHA-256 over its columns in order. Each column begins with a line of
JSON: its name, its NumPy type and the values of an enumeration, else null, such as
`["kind", "|u1", ["start", "stop"]]`. Then come the column's values as the engine returns them,
little-endian. Null is 4294967295, and an enumeration's values are their positions.
`Store.verify(key, contents=True)` computes it again.

## Engines

The engine of a run is `simulator` with the version of its behaviour, or `testbed` with its version,
the kernel's release and its options. Results of both are in one folder and never mix. Versions are
raised when results change (`behaviour/versions`), not when sources do. `summary.testbed` of a run
on the testbed reports how well the machine kept up. If `invalid` in it names a reason, no result
uses the run, and the next command repeats it.

## Flagged runs

A run of either engine may be doubtful. Such a run is valid and counts, but something other than its
algorithms may explain its result. `simulate`, `run`, `claims` and reports show these five kinds of
doubts, and `simulate --json` has them as `doubts`. The first three are in `summary.doubts`. The
others follow from the scenario, so they are not in the summary.

- `host`: A host's own interface was the bottleneck, and the network neither dropped nor marked its
  packets.
- `locked-out`: A flow had less than a twentieth of an equal share. Its packets were dropped at
  least 50 times as often as those of the flow with most goodput.
- `phase`: A queue of several flows dropped packets of one of them on at least eight occasions. At
  nine of ten of these, or more, another packet's transmission was at the same point.
- `no-marks`: An algorithm needs congestion marks, and no queue on its path marks packets.
- `too-short`: The run is shorter than a flow's round trip.

`dumbbell simulate FILE --perturb 10` shows the effect of packet phase.

## Frames

In frames, 4294967295 in a 32-bit column is null. Tables with a `flow` column also have its `label`
and its `algorithm`. Connections without samples, such as those of `[[arrivals]]`, have no rows in
`flows`; the summary has their outcome. Datagrams have rows in `datagrams` instead.

The columns `flow` and `queue` hold ids that count from 0, in frames as in the stored files. `label`
names the flow. An id counts connections, of which a flow with `parallel` has several, so it is not
the number in `goodput_mbit_per_s[1]`.

In the table `modes`, `mode` and `info0` to `info15` are positions in the lists of an algorithm's
page ([algorithms](algorithms/README.md)). `Run.modes` has them by name.
`dumbbell simulate FILE --tables NAME.csv` writes a file for each table, and the one for `modes` has
the names, too. With `NAME.parquet` the files are Parquet.
"""


DOCUMENTS: Final = (
    Document(
        "scenario",
        Scenario,
        "A scenario file describes one experiment: a network, the flows that share it, and what "
        "to record. `dumbbell simulate FILE` runs it; `dumbbell.Scenario.load` reads it in "
        "Python.",
        "two-htcp.toml",
        (_units, _named_files, _size, _stacks),
    ),
    Document(
        "study",
        Study,
        "A study file describes grids of scenarios, figures of their results, and claims that the "
        "results may support. `dumbbell run FILE` runs it and `dumbbell report FILE` reports on "
        "it. A study may also be a folder of such files, which are read as one. `li2007:fig4,E10` "
        "selects a part of one: a figure with the claims about it, and one more claim. Scenarios "
        "are written as in [the scenario file](scenario.md). [Quantities](quantities.md) lists the "
        "names for claims and figures.",
        "studies/recovery.toml",
        (_formulas, _curves),
    ),
)


def write(folder: Path) -> None:
    """Write all pages and schemas to `folder`."""
    for document in DOCUMENTS:
        (folder / f"{document.name}.schema.json").write_text(json_schema(document))
        (folder / f"{document.name}.md").write_text(page(document, folder))
    (folder / "results.md").write_text(results_page())
    (folder / "quantities.md").write_text(quantities_page.page())
    (folder / "scenarios.md").write_text(scenarios_page.page())
