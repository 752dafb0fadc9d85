"""Packages that some commands need beyond those that come with Dumbbell."""

from __future__ import annotations

import importlib.metadata
import re

from dumbbell.base.shell import joined


def install(extra: str) -> str:
    """Return the command that installs what an extra such as ``serve`` needs.

    It names the packages themselves: Dumbbell is on no index, so pip cannot find its extras.
    """
    marker = re.compile(rf";.*extra\s*==\s*['\"]{extra}['\"]")
    packages = [
        requirement.partition(";")[0].strip()
        for requirement in importlib.metadata.requires("dumbbell") or ()
        if marker.search(requirement)
    ]
    return joined(["pip", "install", *packages])
