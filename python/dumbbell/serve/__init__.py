"""A results folder as pages that a browser reads live: what `dumbbell serve` shows."""
