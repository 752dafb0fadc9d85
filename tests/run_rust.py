"""Run test programs that cargo has built, crates at the same time.

``cargo test`` itself runs them one after the other, and with ``--package`` it would build for that
package alone, with other features, what it has built already for all of them.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
NOT_JUDGED: Final = re.compile(r"not judged: held up for ([\d.]+ ?\w+)")
"""A test in real time of a machine that was held up; it passes."""


@dataclass(frozen=True)
class Program:
    """The tests of a crate's library, or those of its folder ``tests``."""

    crate: str
    folder: Path
    name: str
    file: str

    @property
    def environment(self) -> dict[str, str]:
        """The environment that cargo would give it."""
        configured = tomllib.loads((ROOT / ".cargo" / "config.toml").read_text())["env"]
        return {**configured, **os.environ, "CARGO_MANIFEST_DIR": str(self.folder)}

    def run(self, arguments: Sequence[str]) -> tuple[Program, subprocess.CompletedProcess[str]]:
        """Run it where cargo would."""
        done = subprocess.run(
            [self.file, *arguments],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return self, done


def programs(messages: Iterable[str]) -> Iterator[Program]:
    """Yield the programs in the output of ``cargo test --no-run --message-format=json``."""
    for line in messages:
        message = json.loads(line)
        if message["reason"] == "compiler-artifact" and message["executable"]:
            folder = Path(message["manifest_path"]).parent
            yield Program(folder.name, folder, message["target"]["name"], message["executable"])


def main() -> int:
    """Run the selected ones; 1 if a test failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("messages", type=Path, help="what cargo said when it built them, as JSON")
    parser.add_argument("--crate", help="only the tests of this one")
    parser.add_argument("--without", help="all tests but those of this crate")
    parser.add_argument("--beside", type=int, default=1, help="how many run at once")
    parser.add_argument("arguments", nargs="*", help="of the programs, such as a part of names")
    wanted = parser.parse_args()
    chosen = [
        program
        for program in programs(wanted.messages.read_text().splitlines())
        if program.crate == (wanted.crate or program.crate) and program.crate != wanted.without
    ]
    failed, delays = [], []
    with ThreadPoolExecutor(wanted.beside) as pool:
        for program, done in pool.map(lambda program: program.run(wanted.arguments), chosen):
            print(f"{program.crate}: {program.name}\n{done.stdout.strip()}\n", flush=True)
            delays += NOT_JUDGED.findall(done.stdout)
            if done.returncode != 0:
                failed.append(f"{program.crate}: {program.name}")
    if delays:
        print(f"{len(delays)} not judged: held up for {'; '.join(delays)}")
    if failed or not chosen:
        print("failed: " + (", ".join(failed) or "there is no test to run"), file=sys.stderr)
    return int(bool(failed) or not chosen)


if __name__ == "__main__":
    sys.exit(main())
