"""Generators of pages and files: ``make docs``, or ``python -m reference``.

In ``docs/`` they write the reference of files and results (`reference`), a page for each algorithm
(`algorithm_page`), and a figure for each page (`algorithm_figure`). In the package they write the
types of the contract with the engines (`contract`). ``make lint`` compares the files with their
output (``python -m reference --check``).
"""
