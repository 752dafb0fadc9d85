"""The page of the scenarios that ship: what each shows, and its source."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from dumbbell.base.labels import listing
from dumbbell.experiments import outcomes
from dumbbell.experiments.outcomes import Outcome
from dumbbell.scenario import library

_INTRODUCTION: Final = """\
# Named scenarios

Dumbbell ships these scenarios. `dumbbell simulate NAME` runs one, and `dumbbell list scenarios`
lists them. Each has an algorithm that you can replace:

```console
dumbbell simulate random-loss --set algorithm=bbr --duration 10s
```

Any other key can change as well, such as `--set network.rtt=80ms`. The file of a scenario is an
ordinary [scenario file](scenario.md): copy it and change it. `dumbbell list scenarios --json` has
the paths of the files. In Python, `dumbbell.simulate("random-loss")` runs one.

## Right outcomes

If a source states the right outcome of a scenario, the scenario has it as a claim. A table lists
the algorithms to which the source refers. Bounds are the source's numbers, or an interpretation of
its words that was fixed before any run. `dumbbell simulate NAME` and
`dumbbell compare ... --on NAME` evaluate these claims. They print a line for each, and show them on
the page of the runs:

```console
dumbbell compare cubic bbr3 --on low-and-up --runs 3
```

An outcome *holds* if its whole 95 % interval lies within the bounds. It *does not hold* if all of
the interval lies outside, and is *undecided* if the interval crosses a bound. A single run has no
interval and decides nothing, so use `--runs 3`. A statement about two algorithms needs both in one
`compare`.

You can change the algorithm, the `stack`, the seed and `record`. With another path or another
duration the source states nothing, so Dumbbell evaluates nothing. Some outcomes do not hold. That
is a result, not an error.
"""


def page() -> str:
    """Return the page, in Markdown."""
    return "\n".join((_INTRODUCTION, *_parts())) + "\n"


def _parts() -> Iterator[str]:
    for entry in library.entries():
        lines = Path(entry["file"]).read_text("utf-8").splitlines()
        comment = itertools.takewhile(lambda line: line.startswith("#"), lines)
        about = " ".join(line.lstrip("# ") for line in comment)
        yield f"## `{entry['name']}`\n\n{entry['title']}. {about}\n"
        if rows := outcomes.of(entry["name"]):
            yield "\n".join((*_HEAD, *map(_row, rows))) + "\n"
        else:
            yield _NONE


_HEAD: Final = (
    "| of | the right outcome | as a run can meet it | source |",
    "| --- | --- | --- | --- |",
)


_NONE: Final = "We found no source that states its right outcome.\n"


def _row(outcome: Outcome) -> str:
    names = [f"`{name}`" for name in outcome.algorithms]
    who = listing(names) if names else "any algorithm"
    than = f", compared with `{outcome.reference}`" if outcome.reference else ""
    return f"| {who}{than} | {outcome.text} | {outcome.expectation} | {outcome.source} |"
