"""Train the baseline and judge it: ``python -m learner [--evaluate]``."""

import argparse
import sys
from pathlib import Path

import numpy as np

from dumbbell.base.errors import DumbbellError
from dumbbell.learning import Policy, worths
from learner import evaluation, page, training

FOLDER = Path("examples/learnt")
PAGE = Path("docs/learner.md")
FIGURE = Path("docs/images/learner.svg")


def main() -> int:
    """Write the policy, its C file, its page and its figure; return the exit code."""
    parser = argparse.ArgumentParser(prog="learner", description=__doc__)
    parser.add_argument("--evaluate", action="store_true", help="judge what is there already")
    options = parser.parse_args()
    try:
        if not options.evaluate:
            training.write(FOLDER)
        _evaluate()
    except DumbbellError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    return 0


def _evaluate() -> None:
    file = FOLDER / f"{training.NAME}.c"
    curve = page.read_curve(FOLDER / "curve.csv")
    validation = {
        name: float(np.mean(evaluation.shares(worths(name, "validation"))))
        for name in (evaluation.REFERENCE, *evaluation.OTHERS)
    }
    test_set = evaluation.on_test_set(file)
    exported = evaluation.exported(Policy.load(FOLDER / "policy.json"), file)
    text = page.page(
        curve, test_set, evaluation.beside(file.absolute()), evaluation.elsewhere(file), exported
    )
    PAGE.write_text(text, encoding="utf-8")
    page.draw(curve, validation, test_set, FIGURE)
    print(f"{PAGE}, {FIGURE}")


if __name__ == "__main__":
    sys.exit(main())
