"""The workflow and the action to copy do what their guide promises, without a forge."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest
import yaml  # type: ignore[import-untyped]

import short_checklist
from command_line import Command

ROOT: Final = Path(__file__).resolve().parents[2]
EXAMPLES: Final = ROOT / "examples" / "ci"
ACTION: Final[dict[str, Any]] = yaml.safe_load((EXAMPLES / "action.yml").read_text())
WORKFLOW: Final[dict[str, Any]] = yaml.safe_load((EXAMPLES / "workflow.yml").read_text())


ENDED: Final = 7
"""The exit code of a command that only notes its arguments."""


class Runner:
    """Runs steps of the action in a folder.

    Its shell notes the arguments of `dumbbell`; the command itself runs in this process, which has
    imported everything.
    """

    def __init__(self, folder: Path, command: Command) -> None:
        self.folder = folder
        self.command = command
        programs = folder / "bin"
        programs.mkdir()
        self.noted = folder / "noted"
        noting = programs / "dumbbell"
        noting.write_text(f"#!/bin/sh\nprintf '%s\\0' \"$@\" >'{self.noted}'\nexit {ENDED}\n")
        noting.chmod(0o755)
        self.environment = {
            **os.environ,
            "PATH": f"{programs}:{os.environ['PATH']}",
            "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
        }

    def step(self, name: str, **inputs: str) -> int:
        """Return the exit code of a step with these inputs of the action, which is its command's."""
        (step,) = (step for step in ACTION["runs"]["steps"] if step["name"] == name)
        default = {key: spec.get("default", "") for key, spec in ACTION["inputs"].items()}
        given = {
            variable: {**default, **inputs}[text.removeprefix("${{ inputs.").removesuffix(" }}")]
            for variable, text in step["env"].items()
        }
        call = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=self.folder,
            env={**self.environment, **given},
            check=False,
        )
        assert call.returncode == ENDED
        return self.command(*self.noted.read_text().split("\0")[:-1]).code


@pytest.fixture
def runner(tmp_path: Path, dumbbell: Command, monkeypatch: pytest.MonkeyPatch) -> Runner:
    """Return who runs steps where two clauses make the battery."""
    short_checklist.installed(monkeypatch)
    return Runner(tmp_path, dumbbell)


def test_the_steps_check_and_judge_an_algorithm(
    runner: Runner, dumbbell: Command, tmp_path: Path
) -> None:
    assert dumbbell("new", "my_cc").code == 0
    assert runner.step("Check", algorithm="./my_cc.c") == 0
    assert runner.step("Judge", algorithm="./my_cc.c") == 0
    assert "5.1.3 high-loss" in (tmp_path / "summary.md").read_text()
    assert "<svg" in (tmp_path / "checklist.html").read_text()
    verdicts = json.loads((tmp_path / "verdicts.json").read_text())
    worse = tmp_path / "base.json"
    assert runner.step("Judge", algorithm="bbr", baseline="verdicts.json") == 1
    worse.write_text(json.dumps(dict.fromkeys(verdicts, "expectation failed")))
    assert runner.step("Judge", algorithm="bbr", baseline="base.json") == 0


def test_a_fault_in_the_file_fails_the_first_step(runner: Runner, tmp_path: Path) -> None:
    (tmp_path / "my_cc.c").write_text("this is no C\n")
    assert runner.step("Check", algorithm="./my_cc.c") != 0


def test_the_workflow_gives_the_action_what_it_takes() -> None:
    steps = WORKFLOW["jobs"]["judge"]["steps"]
    (judged,) = (step for step in steps if step["uses"].startswith("./"))
    inputs = ACTION["inputs"]
    assert set(judged["with"]) <= set(inputs)
    assert {name for name, spec in inputs.items() if spec.get("required")} <= set(judged["with"])
