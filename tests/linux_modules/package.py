"""Linux's sources: Debian's package, of which the files that are needed are unpacked.

They are the kernel's, GPL-2.0-only, and stay in ``target``: nothing of them is ever committed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Final

from linux_modules.places import WORK

PACKAGE: Final = "linux-source-6.12"
ARCHIVE: Final = Path("/usr/src") / f"{PACKAGE}.tar.xz"
SOURCE: Final = WORK / "source"

MODULES: Final = {
    "bbr": "tcp_bbr.c",
    "bic": "tcp_bic.c",
    "cdg": "tcp_cdg.c",
    "cubic": "tcp_cubic.c",
    "dctcp": "tcp_dctcp.c",
    "highspeed": "tcp_highspeed.c",
    "htcp": "tcp_htcp.c",
    "hybla": "tcp_hybla.c",
    "illinois": "tcp_illinois.c",
    "lp": "tcp_lp.c",
    "nv": "tcp_nv.c",
    "reno": "tcp_cong.c",
    "scalable": "tcp_scalable.c",
    "vegas": "tcp_vegas.c",
    "veno": "tcp_veno.c",
    "westwood": "tcp_westwood.c",
    "yeah": "tcp_yeah.c",
}
"""Linux's name of each algorithm, which is ours too, and its file in ``net/ipv4``."""

FILES: Final = (
    *(f"net/ipv4/{file}" for file in MODULES.values()),
    "net/ipv4/tcp_dctcp.h",
    "net/ipv4/tcp_vegas.h",
    "include/net/tcp.h",
    "include/linux/win_minmax.h",
    "lib/win_minmax.c",
)


class MissingError(Exception):
    """The package cannot be had; the message gives the reason in a line."""


class SourceError(Exception):
    """The package does not have what this target was written for; the message names it."""


def installed() -> str:
    """Install the package unless it is there; return its version."""
    if shutil.which("dpkg-query") is None:
        raise MissingError(f"{PACKAGE} is a package of Debian, and this is another system")
    if _version() is None or not ARCHIVE.exists():
        _install()
    version = _version()
    if version is None or not ARCHIVE.exists():
        raise MissingError(f"apt knows no {PACKAGE} that has {ARCHIVE}")
    return version


def unpacked(version: str) -> Path:
    """Unpack what is needed of that version, once; return where."""
    stamp = SOURCE / "version"
    if stamp.exists() and stamp.read_text() == version:
        return SOURCE
    shutil.rmtree(SOURCE, ignore_errors=True)
    SOURCE.mkdir(parents=True)
    wanted = {f"{PACKAGE}/{file}": file for file in FILES}
    with tarfile.open(ARCHIVE) as archive:
        for member in archive:
            file = wanted.pop(member.name, None)
            content = archive.extractfile(member) if file is not None else None
            if file is None or content is None:
                continue
            place = SOURCE / file
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content.read())
            if not wanted:
                break
    if wanted:
        raise SourceError(f"{ARCHIVE} has no {', '.join(wanted.values())}")
    stamp.write_text(version)
    return SOURCE


def function(file: str, name: str) -> str:
    """Return the text of a function or table in one of the files, unchanged."""
    text = (SOURCE / file).read_text()
    match = re.search(rf"^[^\n;/*#]*\b{name}\b[^;]*?\n?\{{\n.*?^\}};?\n", text, re.M | re.S)
    if match is None:
        raise SourceError(f"{file} of {PACKAGE} has no {name}, which modules of 6.12.117 call")
    return match[0]


def _version() -> str | None:
    done = subprocess.run(
        ["dpkg-query", "--show", "--showformat=${db:Status-Status} ${Version}", PACKAGE],
        capture_output=True,
        text=True,
        check=False,
    )
    status, _, version = done.stdout.partition(" ")
    return version if status == "installed" else None


def _install() -> None:
    """Ask apt for it: with a fresh list only if the one at hand does not do."""
    if os.geteuid() != 0:
        raise MissingError(f"{PACKAGE} is missing, and only root can: apt install {PACKAGE}")
    install = ["apt-get", "install", "--yes", "-qq", "--no-install-recommends", PACKAGE]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (install, ["apt-get", "update", "-qq"], install):
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        if command is install and done.returncode == 0:
            return
    lines = done.stderr.strip().splitlines()
    raise MissingError(f"apt cannot install {PACKAGE}: {lines[-1] if lines else 'it says nothing'}")
