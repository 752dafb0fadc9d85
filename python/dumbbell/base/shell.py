"""Words of a command as a shell takes them: of every command that is shown to be copied."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from pathlib import Path


def quoted(word: str | Path) -> str:
    """Return a word so that no shell finds anything in it, nor a command an option."""
    text = str(word)
    return shlex.quote(f"./{text}" if text.startswith("-") else text)


def joined(words: Iterable[str]) -> str:
    """Return a command as it was given, to be given again: its options stay options."""
    return shlex.join(words)
