"""What is generated: ``make docs [FOLDER]``, or `make docs`.

In ``docs/`` it is the reference of files and results (`reference`), a page for each algorithm
(`algorithm_page`), and a figure for each page (`algorithm_figure`); in the package it is the types
of the contract with the engines (`contract`). Tests hold what is there to it.
"""

import os

# Commands start without the docstrings of fields; those that tests start, too.
os.environ["DUMBBELL_FIELD_DOCSTRINGS"] = "1"
import dumbbell.quantities.registry
import dumbbell.study.model

dumbbell.quantities.registry.quantities()
del os.environ["DUMBBELL_FIELD_DOCSTRINGS"]
