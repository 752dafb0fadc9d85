"""The generated part of ``docs/``: ``python -m dumbbell.docs [FOLDER]``, or `make docs`.

The reference of files and results (`reference`), a page for each algorithm (`algorithm_page`), and
a figure for each page (`algorithm_figure`). Tests hold what is in ``docs/`` to it.
"""
