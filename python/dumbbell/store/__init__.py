"""Results on disk: written whole, verified when read."""
