"""User-defined experiments as studies: those that `simulate` and `compare` run.

An experiment is written as the folder of a study with its results. So everything that studies have
(resuming, pages of runs, figures, claims) is there for it, and it can be copied and changed. Its
name ends with a digest of what is run, so the same command always means the same one.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import tomli_w

from dumbbell.base import documents, regular
from dumbbell.base.errors import InputError, refusing
from dumbbell.base.shell import joined
from dumbbell.results import own_files
from dumbbell.scenario.tables import TITLE_MAX
from dumbbell.store import staging
from dumbbell.study import experiment_names, files
from dumbbell.study.experiment_names import FOLDER
from dumbbell.study.model import Study

OVER_TIME: Final = (
    "goodput_mbit_per_s",
    "cwnd_segs",
    "rtt_ms",
    "one_way_delay_ms",
    "queue_packets",
)
"""Series that figures show over time."""

RUN: Final = "run"
"""The name of the test of one scenario."""

_STEM_LENGTH: Final = 40
_PLACEHOLDER: Final = re.compile(r"\{([^{}]*)\}")


def of_scenario(
    table: Mapping[str, Any],
    file: Path,
    changes: Sequence[str],
    command: Sequence[str],
    prefix: str = "",
) -> dict[str, Any]:
    """Return the study of one scenario; `changes` is what was set otherwise than in its file.

    Its name is that of the file, behind the `prefix` of a command that does more than run it. The
    seed is not part of it: it is that of the plan.
    """
    scenario = {key: value for key, value in table.items() if key != "seed"}
    name = stem(file.stem)
    title = str(table.get("title") or file.stem)
    test = {
        "name": RUN,
        "title": title,
        "seeds": "shared",
        "folder": str(file.parent.absolute()),
        "axes": {"scenario": [name], **spelled(scenario)},
        "scenario": scenario,
    }
    return {
        **head(
            f"{prefix}{name}",
            [test],
            command=command,
            title=title,
            summary=f"{file.name}{' with ' if changes else ''}{', '.join(changes)}",
        ),
        "figure": list(of_traffic(scenario, RUN)),
    }


def of_traffic(
    scenario: Mapping[str, Any], test: str, series: str | None = None
) -> Iterator[dict[str, Any]]:
    """Yield the figures of what a scenario records and sends; `series` has the colours."""
    record = scenario.get("record", {})
    is_sampled = not isinstance(record, Mapping) or record.get("interval") != "none"
    yield from (
        figure for figure in figures(test, series) if is_sampled or figure["kind"] != "overlay"
    )
    flows = [flow for flow in scenario.get("flow", ()) if isinstance(flow, Mapping)]
    has_requests = "arrivals" in scenario or any("workload" in flow for flow in flows)
    # Transfers of one size have nothing to show by size.
    if has_requests or len({str(flow["bytes"]) for flow in flows if "bytes" in flow}) > 1:
        yield {
            "name": "sizes",
            "title": "Completion times by size",
            "kind": "sizes",
            "section": test,
            "test": test,
        } | ({"series": series} if series else {})


def head(
    stem: str,
    tests: Sequence[Mapping[str, Any]],
    *,
    command: Sequence[str],
    title: str,
    summary: str = "",
) -> dict[str, Any]:
    """Return the beginning of an experiment: its name, what it is, its tests."""
    return {
        "study": {
            "name": f"{stem}-{experiment_names.digest(tests)}",
            "title": title if len(title) <= TITLE_MAX else f"{title[: TITLE_MAX - 1]}…",
            "authors": ["you"],
            "year": datetime.now(UTC).year,
            "summary": summary,
            "command": joined(["dumbbell", *command]),
        },
        "test": list(tests),
    }


def stem(name: str) -> str:
    """Return a name for a file that studies may have."""
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower())[:_STEM_LENGTH].strip("-")
    return plain or "scenario"


def spelled(value: Any) -> dict[str, list[str]]:
    """Return axes that leave everything in braces as it is: a single scenario has no other axes."""
    return {
        name: [f"{{{name}}}"]
        for text in documents.texts(value)
        for name in _PLACEHOLDER.findall(text)
    }


def figures(
    test: str, series: str | None = None, quantities: Sequence[str] = OVER_TIME
) -> Iterator[dict[str, Any]]:
    """Yield the figures of any runs: quantities over time, and delays; `series` has the colours."""
    common = {"section": test, "test": test} | ({"series": series} if series else {})
    yield {
        "name": "over-time",
        "title": "Over time",
        "kind": "overlay",
        "quantities": list(quantities),
        **common,
    }
    yield {"name": "delays", "title": "Distribution of delays", "kind": "cdf", **common}


@contextmanager
def saved(content: Mapping[str, Any], results: Path) -> Iterator[Study]:
    """Write an experiment into the results folder as that of a study, and read it.

    The folder must be in use. A file that is there already is not written again. An experiment that
    the block refuses with an InputError is removed again. It has copies of the C and preset files
    that it names; see `own_files`.
    """
    content, copies = own_files.kept(content)
    folder = results / FOLDER / content["study"]["name"]
    text = tomli_w.dumps(content).encode()
    documents.check_size(len(text))
    with refusing("write the experiment", folder):
        is_new = not folder.exists()
        for place, wanted in [*copies.items(), ("study.toml", text)]:
            file = folder / place
            if not (regular.is_file(file, below=results) and file.read_bytes() == wanted):
                regular.make(file.parent, below=results)
                staging.replace(file, wanted, lasting=True)
    try:
        yield Study.load(folder, results)
    except InputError:
        if is_new:
            shutil.rmtree(folder)
        raise


def merge(source: Path, target: Path) -> list[str]:
    """Take over the experiments of another results folder; those that are there stay.

    Returns the folders that were left out, and why: they are no experiments, or not the ones of
    their names. Of an experiment its TOML files and copies of own files come along, and nothing
    else that lies there.
    """
    left = []
    for entry in regular.entries(source / FOLDER, below=source):
        folder = experiment_names.find(entry.name, source)
        copy = target / FOLDER / entry.name
        if os.path.lexists(copy):
            continue
        if folder is None:
            left.append(f"{source / FOLDER / entry.name}: not an experiment")
            continue
        try:
            experiment_names.check(folder, files.read(folder, source).data)
        except InputError as error:
            left.append(str(error))
            continue
        with refusing("copy the experiment", copy):
            regular.make(copy, below=target)
            for place in own_files.places(folder, below=source):
                regular.make((copy / place).parent, below=target)
                staging.replace(
                    copy / place, regular.read(folder / place, own_files.BYTES_MAX, below=source)
                )
            for part in files.parts(folder):
                text = regular.read(part, documents.TOML_BYTES_MAX, below=source)
                staging.replace(copy / part.name, text)
    return left
