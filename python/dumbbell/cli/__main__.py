"""`python -m dumbbell.cli` is the command `dumbbell`."""

from dumbbell.cli.start import main

main()
