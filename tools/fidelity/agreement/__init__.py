"""Agreement: the same scenarios in the simulator and on the real kernel, and how close they are."""
