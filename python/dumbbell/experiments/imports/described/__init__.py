"""Networks that other tools describe, as the `network` table of a scenario."""
