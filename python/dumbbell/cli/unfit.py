"""Own algorithms that the kernel would not take: a warning before they run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress

from dumbbell.algorithms import catalogue
from dumbbell.base.errors import InputError
from dumbbell.cli.output import say
from dumbbell.conformance import interface


def warn(sources: Mapping[str, str]) -> None:
    """Warn of sources of own algorithms, by name."""
    for name, code in sources.items():
        for line in interface.unfit(code, catalogue.file_of(name, code)):
            say.print(f"{line}; `dumbbell check` shows all", soft_wrap=True, markup=False)


def warn_of(choices: Iterable[str]) -> None:
    """Warn of algorithms as a user types them; errors in them are left to the command."""
    sources: dict[str, str] = {}
    for choice in choices:
        with suppress(InputError):
            algorithm, _ = catalogue.split_preset(choice)
            if algorithm.is_own:
                sources[algorithm.name] = algorithm.code
    warn(sources)
