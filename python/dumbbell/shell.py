"""Words of a command as a shell takes them: of every command that is shown to be copied."""

from __future__ import annotations

import shlex
from pathlib import Path


def quoted(word: str | Path) -> str:
    """Return a word so that no shell finds anything in it, nor a command an option."""
    text = str(word)
    return shlex.quote(f"./{text}" if text.startswith("-") else text)
