"""Lines of the text files that a scenario names: one rule for all."""

from __future__ import annotations

from collections.abc import Iterator


def numbered(text: str) -> Iterator[tuple[int, str]]:
    """Yield lines without comments and outer blanks, with their numbers.

    A line of a comment alone is left out; a blank one is empty.
    """
    for number, line in enumerate(lines(text), start=1):
        content, comment, _ = line.partition("#")
        content = content.strip()
        if content or not comment:
            yield number, content


def lines(text: str) -> list[str]:
    """Return all lines; a byte order mark is no part of the first one."""
    return text.removeprefix("\ufeff").splitlines()
