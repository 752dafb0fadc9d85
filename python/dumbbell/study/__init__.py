"""Studies as data: grids of scenarios, and what figures and claims look like."""
