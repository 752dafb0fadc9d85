"""One scenario on both engines: whether the simulator is right for it."""
