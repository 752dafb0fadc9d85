"""The command `dumbbell`."""
