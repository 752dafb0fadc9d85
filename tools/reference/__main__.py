"""Write all that is generated."""

import sys
from pathlib import Path

import dumbbell.contract
from reference import algorithm_figure, algorithm_page, contract, reference

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "docs")
contract.write(Path(dumbbell.contract.__file__).parent)
reference.write(folder)
algorithm_page.write(folder)
for name in algorithm_figure.write(folder):
    print(f"drawn: {name}")
