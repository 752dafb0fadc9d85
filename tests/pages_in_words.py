"""Words that a reader of a page meets."""

import re

_MARKUP = re.compile(r"\]\([^)]*\)|[|#*`\[\]!]|-{3,}")


def words_of(markdown: str) -> int:
    """Count the words of Markdown, without addresses and the lines of tables."""
    return sum(bool(re.search(r"\w", word)) for word in _MARKUP.sub(" ", markdown).split())
