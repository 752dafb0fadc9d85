"""The report of a study as a static site."""
