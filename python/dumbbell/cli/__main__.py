"""`python -m dumbbell.cli` is the command `dumbbell`."""

from dumbbell.cli.commands import main

main()
