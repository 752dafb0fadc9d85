"""Questions that become studies: compare, sweep, tune, advise, imported transfers."""
