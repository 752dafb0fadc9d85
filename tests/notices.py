"""Notices of what others wrote and the package holds: `LICENSES/third-party.txt`.

`make notices` writes it, from cargo's description of the crates that are linked into the engine,
with the testbed, and from the licences next to their sources.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[1]
FILE: Final = ROOT / "LICENSES" / "third-party.txt"

_ENGINE: Final = "dumbbell-python"
_PLATFORM: Final = "x86_64-unknown-linux-gnu"
_LICENCE: Final = re.compile(r"(UN)?LICEN[CS]E|COPYING|NOTICE", re.IGNORECASE)
_NOT_CHOSEN: Final = re.compile(r"APACHE|LGPL|UNLICENSE|COPYING", re.IGNORECASE)
"""Of crates that leave the choice, when another of their files is that of a shorter licence."""
_WITHIN: Final = {"libbpf-sys": ("libbpf/LICENSE.BSD-2-Clause",)}
"""Licences of what crates bring along in other languages."""
_HEAD: Final = """\
Third-party notices

Dumbbell's engine (dumbbell/_core) is linked with the Rust crates below, and with Rust's standard
library. libbpf and what is named with it is only in builds with the testbed. Where a crate leaves a
choice of licences, the shorter one stands here.

Pages draw with Vega, Vega-Lite and Vega-Embed, which come with the Python package
vl-convert-python; their notices are at the head of the pages' assets/vega.js.

Written by `make notices`.
"""


class Unlicensed(Exception):  # noqa: N818 - what was found
    """A crate without a licence whose text is known."""


def _metadata() -> Mapping[str, Any]:
    features = f"{_ENGINE}/extension-module,{_ENGINE}/testbed"
    command = ["cargo", "metadata", "--format-version=1", "--locked", "--features", features]
    run = subprocess.run(
        [*command, "--filter-platform", _PLATFORM],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode != 0:
        raise OSError(run.stderr)
    metadata: Mapping[str, Any] = json.loads(run.stdout)
    return metadata


def linked() -> list[Mapping[str, Any]]:
    """Return the crates of others that are linked into the engine, by name and version."""
    metadata = _metadata()
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    keys: set[str] = set()
    ahead = [key for key, package in packages.items() if package["name"] == _ENGINE]
    while ahead:
        key = ahead.pop()
        if key in keys or _only_compiles(packages[key]):
            continue
        keys.add(key)
        for dependency in nodes[key]["deps"]:
            if any(kind["kind"] is None for kind in dependency["dep_kinds"]):
                ahead.append(dependency["pkg"])
    others = (packages[key] for key in keys if packages[key]["source"] is not None)
    return sorted(others, key=lambda package: (package["name"], package["version"]))


def _only_compiles(package: Mapping[str, Any]) -> bool:
    """True if it is a part of the compiler, of which nothing is linked."""
    return any("proc-macro" in target["kind"] for target in package["targets"])


def notices(package: Mapping[str, Any]) -> list[str]:
    """Return the texts of a crate's licences."""
    folder = Path(package["manifest_path"]).parent
    files = [file for file in sorted(folder.iterdir()) if _LICENCE.match(file.name)]
    chosen = [file for file in files if not _NOT_CHOSEN.search(file.name)] or files
    chosen += [folder / name for name in _WITHIN.get(package["name"], ())]
    texts = [file.read_text("utf-8", errors="replace") for file in chosen if file.is_file()]
    return texts or [_own_words(package)]


def _own_words(package: Mapping[str, Any]) -> str:
    """Return the text of a licence that a crate names, but does not bring."""
    alternatives = re.split(r" OR |/", package["license"] or "")
    if "MIT" not in alternatives or not package["authors"]:
        raise Unlicensed(f"{package['name']} {package['version']}: {package['license']}")
    return _mit(", ".join(package["authors"]))


def _mit(holders: str) -> str:
    """Return the MIT licence of others."""
    text = (ROOT / "LICENSES" / "MIT.txt").read_text("utf-8")
    changed, count = re.subn(r"(?m)^Copyright .*$", f"Copyright (c) {holders}", text)
    assert count == 1, "the text of the MIT licence names its holders once"
    return changed


def _plain(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def document() -> str:
    """Return the notices of all crates; equal texts appear once. Unlicensed if there is none."""
    crates: defaultdict[str, list[str]] = defaultdict(list)
    for package in linked():
        named = f"{package['name']} {package['version']} ({package['license']})"
        for text in notices(package):
            crates[_plain(text)].append(named)
    library = "Rust's standard library (MIT OR Apache-2.0)"
    crates[_plain(_mit("The Rust Project Developers"))].append(library)
    return "\n".join([_HEAD, *_sections(crates)])


def _sections(crates: Mapping[str, list[str]]) -> Iterator[str]:
    for text, names in sorted(crates.items(), key=lambda pair: pair[1]):
        yield "\n".join(["-" * 80, *dict.fromkeys(names), "-" * 80, "", text, ""])


if __name__ == "__main__":
    try:
        FILE.write_text(document(), encoding="utf-8")
    except (OSError, Unlicensed) as error:
        sys.exit(f"error: {error}")
    print(f"{FILE.relative_to(ROOT)}: {len(linked())} crates")
