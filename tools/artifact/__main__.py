"""Write what goes with a publication: ``python -m artifact front|commands --markdown FILE``."""

import argparse
import os
import sys
from pathlib import Path

from artifact import bars, commands, front
from dumbbell.base.errors import DumbbellError
from dumbbell.store.store import Store
from dumbbell.study.model import Study


def main() -> int:
    """Write the page, and return the exit code."""
    parser = argparse.ArgumentParser(prog="artifact", description=__doc__)
    parser.add_argument("page", choices=("front", "commands"))
    parser.add_argument("--markdown", type=Path, required=True, metavar="FILE.md")
    parser.add_argument("--figure", type=Path, metavar="FILE.svg", help="the bars of the front")
    parser.add_argument(
        "--results",
        type=Path,
        action="append",
        metavar="FOLDER",
        help="a results folder for the front; may be repeated, and the fullest of a study counts",
    )
    options = parser.parse_args()
    if (options.page == "front") != (options.figure is not None):
        parser.error("front needs --figure, and only front")
    try:
        studies = [Study.load(name) for name in Study.names()]
        if options.page == "commands":
            text = commands.page([commands.of_study(study) for study in studies])
        else:
            text = _front(studies, options)
        options.markdown.write_text(text, encoding="utf-8")
    except DumbbellError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    return 0


def _front(studies: list[Study], options: argparse.Namespace) -> str:
    stores = [Store(folder) for folder in options.results or [Path("results")]]
    folder = options.markdown.parent
    by_year = sorted(studies, key=lambda study: study.header.year)
    refereed = [front.refereed(study, stores, folder) for study in by_year]
    options.figure.write_text(bars.svg(front.bars(refereed)), encoding="utf-8")
    figure = Path(os.path.relpath(options.figure, folder)).as_posix()
    return front.page(refereed, front.themes(), figure)


if __name__ == "__main__":
    sys.exit(main())
