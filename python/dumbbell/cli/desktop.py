"""The browser of the person in front of this machine."""

from __future__ import annotations

import os
import sys
import webbrowser


def show(address: str) -> None:
    """Show a page where there is a desktop; elsewhere do nothing."""
    has_desktop = sys.platform in ("darwin", "win32") or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")
    )
    if has_desktop and sys.stdout.isatty():
        webbrowser.open(address)
