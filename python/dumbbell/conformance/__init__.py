"""A user's own algorithm: a file to start from, and what can be checked of it."""
