"""``dumbbell score``: one number for a C file, by a race over the paths of a suite."""
