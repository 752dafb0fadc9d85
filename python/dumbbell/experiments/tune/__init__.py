"""``dumbbell tune``: an algorithm's parameters chosen for paths, and judged on others."""
