"""``dumbbell hunt``: the scenario in which an algorithm does worst, compared with others."""
