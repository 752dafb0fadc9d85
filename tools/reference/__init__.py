"""Generators of pages and files: ``make docs``, or ``python -m reference [FOLDER]``.

In ``docs/`` they write the reference of files and results (`reference`), a page for each algorithm
(`algorithm_page`), and a figure for each page (`algorithm_figure`). In the package they write the
types of the contract with the engines (`contract`). Tests compare the files with their output.
"""

import os

# Commands start without the docstrings of fields; those that tests start, too.
os.environ["DUMBBELL_FIELD_DOCSTRINGS"] = "1"
import dumbbell.quantities.registry
import dumbbell.study.model

dumbbell.quantities.registry.quantities()
del os.environ["DUMBBELL_FIELD_DOCSTRINGS"]
