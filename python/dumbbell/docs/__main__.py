"""Write all that is generated."""

import sys
from pathlib import Path

from dumbbell.docs import algorithm_figure, algorithm_page, reference

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "docs")
reference.write(folder)
algorithm_page.write(folder)
for name in algorithm_figure.write(folder):
    print(f"drawn: {name}")
