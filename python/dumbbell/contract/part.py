"""Base class of the generated types."""

from __future__ import annotations

import msgspec


class Part(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    gc=False,
):
    """A part of the contract; it cannot change, and holds nothing that Rust does not know of.

    Writing it leaves out the optional fields that have their default values. Parts form trees, so
    the garbage collector need not look for cycles among them.
    """

    __test__ = False  # not a test, whatever pytest makes of the name TestbedSummary
