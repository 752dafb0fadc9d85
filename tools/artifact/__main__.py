"""Write the page of commands: ``python -m artifact --markdown FILE [--results FOLDER]...``."""

import argparse
import sys
from pathlib import Path

from artifact import commands
from dumbbell.base.errors import DumbbellError
from dumbbell.store.store import Store
from dumbbell.study.model import Study


def main() -> int:
    """Write the page, and return the exit code."""
    parser = argparse.ArgumentParser(prog="artifact", description=__doc__)
    parser.add_argument("--markdown", type=Path, required=True, metavar="FILE.md")
    parser.add_argument(
        "--results",
        type=Path,
        action="append",
        metavar="FOLDER",
        help="a results folder with logs of the commands that ran studies; may be repeated",
    )
    asked = parser.parse_args()
    try:
        stores = [Store(folder) for folder in asked.results or [Path("results")]]
        found = [commands.of_study(Study.load(name), stores) for name in Study.names()]
        asked.markdown.write_text(commands.page(found), encoding="utf-8")
    except DumbbellError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
