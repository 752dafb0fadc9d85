"""Our algorithms compared with Linux's own modules (`make linux-modules`; CONTRIBUTING.md)."""
