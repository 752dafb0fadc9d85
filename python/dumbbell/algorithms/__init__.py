"""The algorithms: built in or a user's own file, each described by its source."""
