"""Write the page of commands: ``python -m artifact --markdown FILE``."""

import argparse
from pathlib import Path

from artifact import commands
from dumbbell.study.model import Study


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(prog="artifact", description=__doc__)
    parser.add_argument("--markdown", type=Path, required=True, metavar="FILE.md")
    asked = parser.parse_args()
    found = [commands.of_study(Study.load(name)) for name in Study.names()]
    asked.markdown.write_text(commands.page(found), encoding="utf-8")


if __name__ == "__main__":
    main()
