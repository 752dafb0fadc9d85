"""What is generated: ``make docs [FOLDER]``, or `make docs`.

In ``docs/`` it is the reference of files and results (`reference`), a page for each algorithm
(`algorithm_page`), and a figure for each page (`algorithm_figure`); in the package it is the types
of the contract with the engines (`contract`). Tests hold what is there to it.
"""
