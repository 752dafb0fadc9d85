"""`make fuzz`: inputs of every kind that may do no harm, whatever is in them.

Each kind is a module with `prepared`, which puts an input into a folder and says which command
reads it (`cases.Case`). `running` runs the command in a process of its own with limits, and
`judging` says what is wrong with what came out.
"""
