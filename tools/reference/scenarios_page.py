"""The page of the scenarios that ship: what each shows, and its source."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Final

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
