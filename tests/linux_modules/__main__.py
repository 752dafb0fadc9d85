"""Hold our algorithms to Linux's own modules; write the page and the vectors.

Ends with 1 if one differs from Linux's beyond what is declared, or no longer in what is.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from typing import Final

from linux_modules import build, compiling, differences, digests, package, page, vectors
from linux_modules.differences import DeclarationError
from linux_modules.judge import Verdict, differing, judged
from linux_modules.places import ALGORITHMS, DIGESTS, PAGE, ROOT, VECTORS, WORK
from linux_modules.runs import tallied
from linux_modules.scenarios import Scenario, corners, drawn

DRAWN: Final = 120


def main() -> int:
    """Do it all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", metavar="NAMES", help="these algorithms, and write nothing")
    only = parser.parse_args().only
    names = only.split(",") if only else list(package.MODULES)
    for name in names:
        if name not in package.MODULES:
            parser.error(f"no module is called '{name}'; there are {', '.join(package.MODULES)}")
    try:
        version = package.installed()
    except package.MissingError as missing:
        print(f"{missing}: nothing is compared; `make test` still holds our files to the vectors")
        return 0
    try:
        package.unpacked(version)
        verdicts = _judged(names)
    except (DeclarationError, compiling.BuildError, package.SourceError) as error:
        print(error, file=sys.stderr)
        return 1
    problems = [problem for verdict in verdicts for problem in verdict.problems()]
    for problem in problems:
        print(problem, file=sys.stderr)
    if not only:
        _write(verdicts, version, are_right=not problems)
    return 1 if problems else 0


def _paths(name: str) -> list[Scenario]:
    """Return the paths that an algorithm's runs take."""
    marks = name == "dctcp"
    return [
        *(drawn(seed, exact_marks=marks) for seed in range(1, DRAWN + 1)),
        *corners(exact_marks=marks),
    ]


def _judged(names: list[str]) -> list[Verdict]:
    programs = build.Build()
    declared = differences.load()
    verdicts = []
    for name in names:
        verdict = judged(
            name,
            (ALGORITHMS / f"{name}.c").read_text(),
            differences.of(name, declared),
            partial(tallied, scenarios=_paths(name)),
            programs.program,
        )
        verdicts.append(verdict)
        print(f"{name}: {differing(verdict.plain)}", flush=True)
        for one in verdict.declared:
            print(f"  {one.difference.words}: {differing(one.alone)}", flush=True)
    return verdicts


def _write(verdicts: list[Verdict], version: str, *, are_right: bool) -> None:
    PAGE.write_text(page.text(verdicts, version))
    print(f"wrote {PAGE.relative_to(ROOT)}")
    if not are_right:
        return
    VECTORS.mkdir(exist_ok=True)
    for verdict in verdicts:
        name = verdict.algorithm
        program = build.program_of(name, "plain")
        (VECTORS / f"{name}.txt").write_text(vectors.text(name, program, version))
    driver = compiling.driver(("ours",), WORK / "objects")
    names = [verdict.algorithm for verdict in verdicts]
    digests.write({name: digests.digest(name, driver, WORK / "programs" / name) for name in names})
    print(f"wrote {VECTORS.relative_to(ROOT)} and {DIGESTS.relative_to(ROOT)}")


if __name__ == "__main__":
    sys.exit(main())
