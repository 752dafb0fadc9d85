"""The live pages of a results folder, as `dumbbell serve` shows them."""
