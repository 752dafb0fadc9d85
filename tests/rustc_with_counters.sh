#!/bin/sh
# Compile with counters for coverage: cargo runs it in place of rustc, for the crates of the workspace.
exec "$@" -Cinstrument-coverage
