"""The page of an algorithm, from its file: head comment, parameters, presets; and the index."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from dumbbell.algorithms import catalogue
from dumbbell.algorithms.catalogue import Algorithm, Parameter, Preset
from dumbbell.algorithms.head_comments import Block, Form, Kind, Paragraph
from dumbbell.base import markdown
from reference import algorithm_figure

FOLDER: Final = "algorithms"

_SOURCES: Final = "../../algorithms"
_FAMILIES: Final[Mapping[str, str]] = {
    "loss": "lost packets",
    "delay": "the delay of packets",
    "hybrid": "lost packets and their delay",
    "rate": "the rate of delivery",
    "ecn": "congestion marks (ECN)",
}
_NEEDS: Final[Mapping[str, str]] = {
    "pacing": "pacing: it sets the rate of sending",
    "random": "random numbers",
    "ecn": "congestion marks from the network (ECN)",
    "rates": "samples of the delivery rate",
    "one-way": "timestamps (RFC 7323), to measure the one-way delay of data",
}
_HEADINGS: Final = {
    Kind.AS_IN_LINUX: "As in Linux",
    Kind.UNLIKE_LINUX: "Unlike Linux",
    Kind.INTERPRETATION: "Interpretations",
}
_INTERPRETATIONS: Final = (
    "Where the sources leave points open, we read them as follows. Reports whose runs use the "
    "algorithm repeat these notes.\n"
)


def page(algorithm: Algorithm) -> str:
    """Return the page of an algorithm, in Markdown."""
    parts = [
        f"# {algorithm.title}\n",
        f"{_text(algorithm.summary, algorithm)}\n",
        _facts(algorithm),
        _figure(algorithm),
        "## What it does\n",
        *_law(algorithm),
        *_notes(algorithm),
        _parameters(algorithm),
        _presets(algorithm),
        _internals(algorithm),
    ]
    return "\n".join(parts)


def write(folder: Path) -> None:
    """Write all pages and the index below `folder`, and remove those of what is gone."""
    pages = folder / FOLDER
    pages.mkdir(exist_ok=True)
    wanted = {f"{name}.md": page(algorithm) for name, algorithm in catalogue.algorithms().items()}
    wanted["README.md"] = index()
    for path in pages.glob("*.md"):
        if path.name not in wanted:
            path.unlink()
    for name, text in wanted.items():
        (pages / name).write_text(text)


def _facts(algorithm: Algorithm) -> str:
    needs = [_NEEDS[flag] for flag in algorithm.flags]
    rows = {
        "name": f"`{algorithm.name}` ([source]({_SOURCES}/{algorithm.name}.c))",
        "family": f"{algorithm.family}: listens to {_FAMILIES[algorithm.family]}",
        "year": str(algorithm.year),
        "source": _text(algorithm.source, algorithm),
        "needs": "; ".join(needs) or "nothing beyond what every TCP has",
        "runs in": " and ".join(algorithm.engines),
    }
    return markdown.table(["", ""], rows.items())


def _figure(algorithm: Algorithm) -> str:
    path = algorithm_figure.relative_path(algorithm, FOLDER)
    about = f"{algorithm.title}: window and queue of one flow, goodput of two"
    return f"![{about}]({path})\n\n*{algorithm_figure.caption(algorithm)}*\n"


def _law(algorithm: Algorithm) -> Iterator[str]:
    comment = algorithm.comment
    yield _text(comment.sentence, algorithm) + "\n"
    for paragraph in comment.of(Kind.LAW):
        yield _paragraph(paragraph, algorithm)


def _notes(algorithm: Algorithm) -> Iterator[str]:
    for kind, heading in _HEADINGS.items():
        paragraphs = algorithm.comment.of(kind)
        if not paragraphs:
            continue
        yield f"## {heading}\n"
        if kind is Kind.INTERPRETATION:
            yield _INTERPRETATIONS
        for paragraph in paragraphs:
            text = _paragraph(paragraph, algorithm)
            yield _as_item(text) if len(paragraphs) > 1 else text


def _as_item(text: str) -> str:
    lines = text.splitlines()
    return "\n".join([f"- {lines[0]}", *(f"  {line}".rstrip() for line in lines[1:])]) + "\n"


def _paragraph(paragraph: Paragraph, algorithm: Algorithm) -> str:
    return "\n".join(_block(block, algorithm) for block in paragraph.blocks)


def _block(block: Block, algorithm: Algorithm) -> str:
    match block.form:
        case Form.EQUATION:
            return "\n".join(["```", *block.lines, "```"]) + "\n"
        case Form.ITEMS:
            return "\n".join(f"- {_text(line, algorithm)}" for line in block.lines) + "\n"
        case Form.PROSE:
            return "\n".join(_text(line, algorithm) for line in block.lines) + "\n"


_NAME: Final = re.compile(r"\b[A-Za-z]\w*_\w+\b")


def _text(text: str, algorithm: Algorithm) -> str:
    """Return prose as Markdown: names of parameters and the like as code, all else literally."""
    names = [parameter.name for parameter in algorithm.parameters if len(parameter.name) > 2]
    known = re.compile(rf"\b({'|'.join(map(re.escape, names))})\b") if names else None
    words = {name for name in names if _NAME.fullmatch(name) or any(map(str.isdigit, name))}
    pieces = []
    for part, is_code in markdown.parts(text):
        if is_code:
            pieces.append(part)
            continue
        spans = sorted({match.span() for match in _NAME.finditer(part)})
        if known is not None:
            spans += [match.span() for match in known.finditer(part) if match[0] in words]
        pieces.append(_marked(part, sorted(set(spans))))
    return "".join(pieces)


def _marked(text: str, spans: Sequence[tuple[int, int]]) -> str:
    pieces, end = [], 0
    for start, stop in spans:
        pieces += [markdown.literal(text[end:start]), f"`{text[start:stop]}`"]
        end = stop
    return "".join([*pieces, markdown.literal(text[end:])])


def _parameters(algorithm: Algorithm) -> str:
    if not algorithm.parameters:
        return "## Parameters\n\nNone.\n"
    rows = [
        (
            f"`{parameter.name}`",
            parameter.unit,
            _range(parameter),
            str(parameter.initial),
            _text(parameter.what, algorithm),
            _text(parameter.source, algorithm),
        )
        for parameter in algorithm.parameters
    ]
    table = markdown.table(["parameter", "unit", "range", "default", "what", "source"], rows)
    example = (
        f"parameters = {{ {algorithm.parameters[0].name} = {algorithm.parameters[0].initial} }}"
    )
    return f"## Parameters\n\nWhole numbers; in a scenario `{example}`.\n\n{table}"


def _range(parameter: Parameter) -> str:
    """Name the valid values: all of two, or the limits."""
    if parameter.high - parameter.low == parameter.step:
        return f"{parameter.low}, {parameter.high}"
    steps = f" in steps of {parameter.step}" if parameter.step > 1 else ""
    return f"{parameter.low} to {parameter.high}{steps}"


def _presets(algorithm: Algorithm) -> str:
    if not algorithm.presets:
        return "## Presets\n\nNone.\n"
    rows = [
        (f"`{algorithm.name}@{preset.name}`", _values(preset), _text(preset.source, algorithm))
        for preset in algorithm.presets
    ]
    table = markdown.table(["preset", "sets", "source"], rows)
    return f"## Presets\n\nOther parameters keep their defaults.\n\n{table}"


def _values(preset: Preset) -> str:
    values = ", ".join(f"`{name} = {value}`" for name, value in preset.values.items())
    return values or "nothing"


def _internals(algorithm: Algorithm) -> str:
    if not algorithm.info:
        return "## What it reports\n\nNothing beyond what every flow does.\n"
    text = (
        "## What it reports\n\n"
        f"With `algorithm_state = true` in `[record]`, over time: {_names(algorithm.sampled_info)} "
        "(columns `info0` and so on of [`internals`](../results.md#internals)).\n"
    )
    if not algorithm.modes:
        return text
    further = algorithm.info[len(algorithm.sampled_info) :]
    return text + (
        "\nWith `modes = true`, at each change of its mode: all of these"
        + (f", {_names(further)}" if further else "")
        + " ([`modes`](../results.md#modes)). "
        f"The modes are {_names(algorithm.modes)}.\n"
    )


def _names(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


_INDEX: Final = """\
# Algorithms

Every algorithm is one C file in [`algorithms/`](../../algorithms). `make docs` generates each page
below from such a file. A page has the law, and the parameters with their sources. It lists the
presets of kernels and studies, and the differences from Linux. Where a source leaves room, the page
has our interpretation.

"""

_OPTIONS: Final = """
Two options of flows work with every algorithm. `tcp_bpf` is
[TCP-BPF](../scenario.md#flowtcp_bpf) (Brakmo 2017). It clamps windows and sets buffers.
`parallel` carries one flow by several connections, as P-TCP does.

"""

_PAGES_END: Final = """
## Studies

Algorithms that have the parameters of a study, as `NAME@STUDY`:

"""


def index() -> str:
    """Return the index of the pages, in Markdown."""
    known = list(catalogue.algorithms().values())
    order = list(_FAMILIES)
    ordered = sorted(
        known, key=lambda algorithm: (order.index(algorithm.family), algorithm.year, algorithm.name)
    )
    rows = [
        (
            f"[{algorithm.title}]({algorithm.name}.md)",
            f"`{algorithm.name}`",
            algorithm.family,
            str(algorithm.year),
            _text(algorithm.summary, algorithm),
            _text(algorithm.source, algorithm),
            ", ".join(algorithm.engines),
        )
        for algorithm in ordered
    ]
    heads = ["algorithm", "name", "family", "year", "what it does", "source", "runs in"]
    figures = f"## Figures\n\n{algorithm_figure.RULE}\n"
    studies = _PAGES_END + _studies(known)
    return _INDEX + markdown.table(heads, rows) + _OPTIONS + figures + studies


_STUDY: Final = re.compile(r"[a-z]+(?:19|20)\d\d")


def _studies(known: Sequence[Algorithm]) -> str:
    presets = {
        name for algorithm in known for name in algorithm.preset_names if _STUDY.fullmatch(name)
    }
    rows = [
        (
            f"`{study}`",
            ", ".join(
                f"[{algorithm.name}]({algorithm.name}.md)"
                for algorithm in known
                if study in algorithm.preset_names
            ),
        )
        for study in sorted(presets)
    ]
    return markdown.table(["study", "algorithms"], rows)
