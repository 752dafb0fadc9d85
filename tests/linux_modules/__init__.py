"""Our algorithms held to Linux's own modules (`make linux-modules`; CONTRIBUTING.md)."""
