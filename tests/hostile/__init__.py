"""`make fuzz`: inputs of every kind that may do no harm, whatever is in them.

Each kind is a module with `prepared`, which puts an input into a folder and returns the command
that reads it (`cases.Case`). `running` runs the command in a separate process with limits, and
`judging` finds faults in its outcome.
"""
