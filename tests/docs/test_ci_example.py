"""The workflow and the action to copy do what their guide promises, without a forge."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import yaml  # type: ignore[import-untyped]

ROOT: Final = Path(__file__).resolve().parents[2]
EXAMPLES: Final = ROOT / "examples" / "ci"
ACTION: Final[dict[str, Any]] = yaml.safe_load((EXAMPLES / "action.yml").read_text())
WORKFLOW: Final[dict[str, Any]] = yaml.safe_load((EXAMPLES / "workflow.yml").read_text())


class Runner:
    """Runs steps of the action in a folder, where two clauses make the battery."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        programs = folder / "bin"
        programs.mkdir()
        command = programs / "dumbbell"
        command.write_text(f'#!/bin/sh\nexec {sys.executable} -m short_checklist "$@"\n')
        command.chmod(0o755)
        places = [str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")]
        self.environment = {
            **os.environ,
            "PATH": f"{programs}:{os.environ['PATH']}",
            "PYTHONPATH": ":".join(filter(None, places)),
            "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
        }

    def step(self, name: str, **inputs: str) -> int:
        """Return the exit code of a step with these inputs of the action."""
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
        return call.returncode


def test_the_steps_check_and_judge_an_algorithm(tmp_path: Path) -> None:
    runner = Runner(tmp_path)
    new = [str(tmp_path / "bin" / "dumbbell"), "new", "my_cc"]
    subprocess.run(new, cwd=tmp_path, env=runner.environment, check=True)
    assert runner.step("Check", algorithm="./my_cc.c") == 0
    assert runner.step("Judge", algorithm="./my_cc.c") == 0
    assert "5.1.3 high-loss" in (tmp_path / "summary.md").read_text()
    assert "<svg" in (tmp_path / "checklist.html").read_text()
    verdicts = json.loads((tmp_path / "verdicts.json").read_text())
    worse = tmp_path / "base.json"
    assert runner.step("Judge", algorithm="bbr", baseline="verdicts.json") == 1
    worse.write_text(json.dumps(dict.fromkeys(verdicts, "expectation failed")))
    assert runner.step("Judge", algorithm="bbr", baseline="base.json") == 0


def test_a_fault_in_the_file_fails_the_first_step(tmp_path: Path) -> None:
    (tmp_path / "my_cc.c").write_text("this is no C\n")
    assert Runner(tmp_path).step("Check", algorithm="./my_cc.c") != 0


def test_the_workflow_gives_the_action_what_it_takes() -> None:
    steps = WORKFLOW["jobs"]["judge"]["steps"]
    (judged,) = (step for step in steps if step["uses"].startswith("./"))
    inputs = ACTION["inputs"]
    assert set(judged["with"]) <= set(inputs)
    assert {name for name, spec in inputs.items() if spec.get("required")} <= set(judged["with"])
