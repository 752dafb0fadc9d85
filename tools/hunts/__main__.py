"""Replay what hunts have found, and write the page: ``python -m hunts`` (`make hunt`)."""

import argparse
import sys
from contextlib import suppress
from pathlib import Path

from dumbbell.algorithms import catalogue
from dumbbell.base.errors import DumbbellError
from dumbbell.engines.choices import EngineName
from dumbbell.store.store import Store
from hunts.page import How, Others, is_confirmed, page
from hunts.replaying import NoValidRun, replayed
from hunts.subjects import SUBJECTS


def main() -> int:
    """Write the page and the scenario files, and return the exit code."""
    parser = argparse.ArgumentParser(prog="hunts", description=__doc__)
    parser.add_argument("--hunted", type=Path, required=True, help="a folder of each hunt in it")
    parser.add_argument("--goal", choices=list(SUBJECTS), default="goodput")
    parser.add_argument("--hunt", required=True, metavar="OPTIONS", help="options of each hunt")
    parser.add_argument("--runs", type=int, default=6, help="runs of each side in a replay")
    parser.add_argument(
        "--kernel-runs", type=int, default=0, help="runs of each side on the kernel; 0: none"
    )
    parser.add_argument("--markdown", type=Path, required=True, metavar="FILE.md")
    parser.add_argument("--results", type=Path, default=Path("results"))
    options = parser.parse_args()
    subject = SUBJECTS[options.goal]
    place = options.markdown.with_suffix("")
    try:
        replays, without, missing = [], [], []
        store = Store(options.results)
        place.mkdir(exist_ok=True)
        for name in catalogue.algorithms():
            file = place / f"{name}.toml"
            if _copied(options.hunted / name / f"{name}-{subject.goal}.toml", file):
                replays.append(replayed(file, subject.reference, store, options.runs))
            elif (options.hunted / name / "index.html").is_file():
                without.append(name)
            else:
                missing.append(name)
        others = Others(without, missing)
        kernel = {}
        for replay in filter(is_confirmed, replays if options.kernel_runs else ()):
            with suppress(NoValidRun):
                kernel[replay.algorithm] = replayed(
                    place / replay.file,
                    subject.reference,
                    store,
                    options.kernel_runs,
                    against=[replay.best],
                    engine=EngineName.TESTBED,
                )
        how = How(options.hunt, options.runs, place.name, kernel, options.kernel_runs)
        text = page(subject, replays, others, how)
        options.markdown.write_text(text, encoding="utf-8")
    except DumbbellError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    return 0


def _copied(source: Path, file: Path) -> bool:
    """Copy a scenario file with the comments that hold elsewhere; False: there is none."""
    file.unlink(missing_ok=True)
    if not source.is_file():
        return False
    local = ("# Again: ", "# Judge again: ")
    lines = source.read_text(encoding="utf-8").splitlines(keepends=True)
    text = "".join(line for line in lines if not line.startswith(local))
    file.write_text(text, encoding="utf-8")
    return True


if __name__ == "__main__":
    sys.exit(main())
