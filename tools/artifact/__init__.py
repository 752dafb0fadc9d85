"""Parts of a publication of the studies' results: a command for each table and figure."""
