# SPDX-License-Identifier: BSD-3-Clause
"""The examples of docs/how-to/ci.md: their YAML is what GitLab, GitHub and actionlint take, and their lines end as the
page says, with stand-ins for a site's programs. A gate under a real Slurm: test_gate_on_slurm.
"""

from __future__ import annotations

import platform
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from check_jsonschema.builtin_schemas import get_builtin_schema

from analysis.gate import outputs
from analysis.gate.judge import judge
from analysis.gate.outcome import GateFound
from analysis.tests import test_gate_verdict as simulated
from harness.base.paths import ROOT

PAGE = (ROOT / "docs" / "how-to" / "ci.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


GITLAB, GITHUB = blocks("yaml")


def jobs(text: str) -> dict[str, Any]:
    read: dict[str, Any] = yaml.load(text, yaml.BaseLoader)  # by the letter: "on" is a key, and no truth
    return read


STEPS = jobs(GITHUB)["jobs"]["gate"]["steps"]
ON_GITHUB = next(step["run"] for step in STEPS if "salloc" in step.get("run", ""))
ON_GITLAB = "\n".join(["set -e", *jobs(GITLAB)["gate"]["script"]])  # as its runner takes a job's lines: one script


@pytest.mark.parametrize(("schema", "text"), [("gitlab-ci", GITLAB), ("github-workflows", GITHUB)])
def test_the_yaml_is_what_the_services_take(schema: str, text: str) -> None:
    published = get_builtin_schema(schema)
    validator = jsonschema.validators.validator_for(published)(published)
    found = yaml.safe_load(text.replace("\non:", '\n"on":'))
    assert [error.message for error in validator.iter_errors(found)] == []


@pytest.mark.skipif(platform.machine() not in ("aarch64", "x86_64"), reason="there is no wheel of actionlint")
def test_actionlint_finds_nothing_in_the_workflow(tmp_path: Path) -> None:
    """Nor ShellCheck in its scripts. `login` is a label of a cluster's own runners."""
    (tmp_path / "gate.yml").write_text(GITHUB)
    (tmp_path / "actionlint.yml").write_text("self-hosted-runner: {labels: [login]}\n")
    command = [str(Path(sys.executable).with_name("actionlint")), "-config-file", "actionlint.yml", "gate.yml"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def stood_in(
    script: str, status: int, folder: Path, found: GateFound | None = None
) -> subprocess.CompletedProcess[str]:
    """The lines of an example, with stand-ins for the site's programs; the gate ends with this status, and writes the
    files of this verdict, if it comes to one."""
    if found:
        outputs.write(found, folder / "verdict")
    (folder / "bench").write_text(f"#!/bin/sh\n{'cp -r verdict gate' if found else ''}\nexit {status}\n")
    (folder / "bench").chmod(0o755)
    command = ["bash", "-e", "-c", f"module() {{ :; }}; salloc() {{ ./bench; }}\n{script}"]
    environment = {"PATH": "/usr/bin:/bin", "GITHUB_STEP_SUMMARY": str(folder / "summary.md")}
    return subprocess.run(
        command, check=False, capture_output=True, text=True, timeout=120, cwd=folder, env=environment
    )


def failing(*sides: str) -> GateFound:
    """The verdict where launches of these sides failed."""
    measured = simulated.gate()
    trouble = dict.fromkeys(sides, "exit status 11")
    return judge(replace(measured, series=[replace(measured.series[0], trouble=trouble)]))


def test_a_gate_of_undecided_warns_and_of_slower_fails(tmp_path: Path) -> None:
    """GitHub's step says so itself, GitLab is told which status is a warning. No verdict of an earlier run is taken."""
    for status, ended in {0: 0, 1: 1, 2: 2, 3: 0}.items():
        outputs.write(failing("new"), tmp_path / "gate")
        done = stood_in(ON_GITHUB, status, tmp_path)
        assert done.returncode == ended and ("::warning::" in done.stdout) == (status == 3)
        outputs.write(failing("new"), tmp_path / "gate")
        done = stood_in(ON_GITLAB, status, tmp_path)
        assert (done.returncode, done.stdout + done.stderr) == (status, "")
        assert not (tmp_path / "gate").exists() and not (tmp_path / "summary.md").exists()
    assert jobs(GITLAB)["gate"]["allow_failure"] == {"exit_codes": ["3"]}
    outputs.write(failing("new"), tmp_path / "gate")
    assert stood_in(blocks("bash")[0], 3, tmp_path).returncode == 3 and not (tmp_path / "gate").exists()


@pytest.mark.parametrize(("sides", "ended"), [(["new"], [1, 1]), (["base", "new"], [0, 3])])
def test_a_candidate_whose_launches_fail_does_not_pass(sides: list[str], ended: list[int], tmp_path: Path) -> None:
    """Nothing is told of its time: that alone would be a warning."""
    found = failing(*sides)
    done = [stood_in(script, found.status, tmp_path, found) for script in (ON_GITHUB, ON_GITLAB)]
    assert [one.returncode for one in done] == ended
    assert ("::error::" in done[0].stdout) == (ended[0] == 1)
    assert (tmp_path / "summary.md").read_text().startswith("## Gate: undecided")
