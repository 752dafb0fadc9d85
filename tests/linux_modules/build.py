"""Programs that run one of Linux's modules next to a file of ours."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from linux_modules import compiling, package
from linux_modules.places import WORK, C

CUT: Final = {
    "include/net/tcp.h": (
        "before",
        "between",
        "tcp_min_rtt",
        "tcp_stamp_us_delta",
        "tcp_left_out",
        "tcp_packets_in_flight",
        "tcp_snd_cwnd",
        "tcp_snd_cwnd_set",
        "tcp_in_slow_start",
        "tcp_in_cwnd_reduction",
        "tcp_current_ssthresh",
        "tcp_is_cwnd_limited",
    ),
    "net/ipv4/tcp_cong.c": (
        "tcp_slow_start",
        "tcp_cong_avoid_ai",
        "tcp_reno_cong_avoid",
        "tcp_reno_ssthresh",
        "tcp_reno_undo_cwnd",
        "tcp_reno",
    ),
}
"""Functions of the kernel that modules call: taken from its files, so that they are the
kernel's.
"""

OFFERED: Final = {
    "cubic": "u32 linux_cube_root(u64 value) { return cubic_root(value); }",
    "cdg": "u32 linux_exp(u32 millionths) { return nexp_u32(millionths); }",
}
"""Functions of modules for declared differences (c/linux_facts.h)."""


COMPARE: Final = ("compare", "locked", "alone", "trace")


class Build:
    """Everything that all programs share, compiled."""

    def __init__(self) -> None:
        self._include = WORK / "include"
        self._objects = WORK / "objects"
        self._objects.mkdir(parents=True, exist_ok=True)
        self._write_headers()
        sources = {
            "minmax": (package.SOURCE / "lib/win_minmax.c").read_text(),
            "reno": _cut("net/ipv4/tcp_cong.c"),
            **{name: _module(name) for name in package.MODULES if name != "reno"},
        }
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            modules = list(pool.map(self._kernel, sources, sources.values()))
        self._shared = [*compiling.driver(COMPARE, self._objects), *modules]

    def program(self, name: str, code: str, variant: str) -> Path:
        """Build the program of an algorithm, with this source of ours."""
        program = program_of(name, variant)
        folder = program.parent
        folder.mkdir(parents=True, exist_ok=True)
        ours = compiling.our_side(name, code, folder, variant)
        which = f'-DMODULE="{name}"'
        linux = compiling.compiled(
            C / "linux_side.c", folder / "linux_side.o", which, *self._as_kernel()
        )
        return compiling.linked([*ours, linux, *self._shared], program)

    def _write_headers(self) -> None:
        """Let every header that a module includes lead to kernel_stub.h, except one of the
        module.
        """
        for file in package.FILES:
            text = (package.SOURCE / file).read_text()
            for header in re.findall(r"^#include <(.+)>", text, re.M):
                place = self._include / header
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text('#include "kernel_stub.h"\n')
        win_minmax = "include/linux/win_minmax.h"
        (WORK / win_minmax).write_bytes((package.SOURCE / win_minmax).read_bytes())
        (self._include / "kernel_functions.h").write_text(_cut("include/net/tcp.h"))

    def _as_kernel(self) -> Sequence[str]:
        """Compile without warnings, as what is compiled is Linux's."""
        return ("-w", f"-I{self._include}", f"-I{package.SOURCE / 'net/ipv4'}")

    def _kernel(self, name: str, text: str) -> Path:
        source = self._objects / f"linux_{name}.c"
        source.write_text(f'#include "kernel_stub.h"\n{text}')
        return compiling.compiled(source, source.with_suffix(".o"), *self._as_kernel())


def program_of(name: str, variant: str) -> Path:
    """Return where the program of an algorithm is, once it is built."""
    return WORK / "programs" / name / variant


def _module(name: str) -> str:
    text = (package.SOURCE / "net/ipv4" / package.MODULES[name]).read_text()
    return f"{text}\n{OFFERED.get(name, '')}\n"


def _cut(file: str) -> str:
    return "\n".join(package.function(file, name) for name in CUT[file])
