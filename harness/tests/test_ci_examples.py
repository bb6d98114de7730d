# SPDX-License-Identifier: BSD-3-Clause
"""The examples of docs/how-to/ci.md: their YAML is what GitLab, GitHub and actionlint take, and their lines end as the
page says, with stand-ins for a site's programs. A gate under a real Slurm: test_gate_on_slurm, test_gate_preempted.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
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
from analysis.gate.verdict import GateFound
from analysis.tests import test_gate_verdict as simulated
from harness.base.paths import ROOT

PAGE = ROOT / "docs" / "how-to" / "ci.md"


def blocks(language: str) -> list[str]:
    """The page's blocks in this language."""
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)


def example(word: str) -> dict[str, Any]:
    """The YAML that has this word."""
    (found,) = [text for text in blocks("yaml") if word in text]
    read: dict[str, Any] = yaml.load(found, yaml.BaseLoader)  # by the letter: "on" is a key, and no truth
    return read


def complaints(schema: str, found: dict[str, Any]) -> list[str]:
    published = get_builtin_schema(schema)
    validator = jsonschema.validators.validator_for(published)(published)
    return [error.message for error in validator.iter_errors(found)]


GITLAB, GITHUB = ("gitlab-ci", "SCHEDULER_PARAMETERS"), ("github-workflows", "runs-on")
LINTED = ("aarch64", "x86_64")  # for which pyproject.toml has actionlint; of others there are no wheels


def linted(workflow: str, folder: Path) -> str:
    """What actionlint says of it, and ShellCheck of its scripts. `login` is a label of a cluster's own runners."""
    if platform.machine() not in LINTED:
        pytest.skip(f"there is no wheel of actionlint for {platform.machine()}")
    (folder / "gate.yml").write_text(workflow)
    (folder / "actionlint.yml").write_text("self-hosted-runner: {labels: [login]}\n")
    tool = str(Path(sys.executable).with_name("actionlint"))
    command = [tool, "-oneline", "-config-file", "actionlint.yml", "gate.yml"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120, cwd=folder)
    assert done.returncode == (1 if done.stdout else 0), done.stderr
    return done.stdout


@pytest.mark.parametrize(("schema", "word"), [GITLAB, GITHUB])
def test_the_yaml_is_what_the_services_take(schema: str, word: str) -> None:
    found = yaml.safe_load(next(text for text in blocks("yaml") if word in text).replace("\non:", '\n"on":'))
    assert not complaints(schema, found)


def installing() -> str:
    """The lines of the job that builds the candidate."""
    (script,) = [step["run"] for step in example("runs-on")["jobs"]["install"]["steps"] if "run" in step]
    return str(script)


def handed_on(made: Path, folder: Path) -> str:
    """Put the file that one job keeps where the next one has it; gives the line with which that unpacks it."""
    jobs = example("runs-on")["jobs"]
    before, steps = jobs[jobs["gate"]["needs"]]["steps"], jobs["gate"]["steps"]
    (kept,) = [step["with"] for step in before if "upload-artifact" in step.get("uses", "")]
    (place,) = [n for n, step in enumerate(steps) if "download-artifact" in step.get("uses", "")]
    assert steps[place]["with"]["name"] == kept["name"]
    shutil.copyfile(made / kept["path"], folder / kept["path"])  # as an artifact: who may run it is not kept
    return str(steps[place + 1]["run"])


CMAKE = (
    'if [ "$1" = --install ]; then mkdir -p "$4/bin"; echo >"$4/bin/progress-run"; chmod +x "$4/bin/progress-run"; fi'
)


def test_the_candidate_comes_from_an_earlier_job(tmp_path: Path) -> None:
    """A job's checkout does not have it. Its lines run, with a stand-in for the build."""
    folders = [tmp_path / name for name in ("install", "gate")]
    for folder in folders:
        folder.mkdir()
    built = f"module() {{ :; }}; cmake() {{ {CMAKE}; }}\n{installing()}"
    subprocess.run(["bash", "-e", "-c", built], check=True, timeout=120, cwd=folders[0])
    unpacked = handed_on(*folders)
    subprocess.run(["bash", "-e", "-c", unpacked], check=True, timeout=120, cwd=folders[1])
    (named,) = re.findall(r'--new "prefix:\$PWD/(\w+)"', _github())
    assert os.access(folders[1] / named / "bin" / "progress-run", os.X_OK)


def test_no_pull_request_cancels_the_gate_of_another_one() -> None:
    """Of one group GitHub keeps one job that waits: the newest."""
    assert "${{ github.ref }}" in example("runs-on")["jobs"]["gate"]["concurrency"]


def test_actionlint_finds_nothing_in_the_workflow(tmp_path: Path) -> None:
    (workflow,) = [text for text in blocks("yaml") if "runs-on" in text]
    assert linted(workflow, tmp_path) == ""


def stood_in(
    script: str, status: int, folder: Path, found: GateFound | None = None
) -> subprocess.CompletedProcess[str]:
    """The lines of an example, with stand-ins for the site's programs; the gate ends with this status, and writes the
    files of this verdict, if it comes to one."""
    if found:
        outputs.write(found, folder / "verdict")
    (folder / "bench").write_text(f"#!/bin/sh\n{'cp -r verdict gate' if found else ''}\nexit {status}\n")
    (folder / "bench").chmod(0o755)
    whole = f"module() {{ :; }}; salloc() {{ ./bench; }}\n{script}"
    environment = {"PATH": "/usr/bin:/bin", "GITHUB_STEP_SUMMARY": str(folder / "summary.md")}
    command = ["bash", "-e", "-c", whole]
    return subprocess.run(
        command, check=False, capture_output=True, text=True, timeout=120, cwd=folder, env=environment
    )


def test_a_gate_of_undecided_warns_and_of_slower_fails(tmp_path: Path) -> None:
    """GitHub's step says so itself, GitLab is told which status is a warning."""
    for status, ended in {0: 0, 1: 1, 2: 2, 3: 0}.items():
        done = stood_in(_github(), status, tmp_path)
        assert done.returncode == ended and ("::warning::" in done.stdout) == (status == 3)
        done = stood_in(_gitlab(), status, tmp_path)
        assert (done.returncode, done.stdout + done.stderr) == (status, "")
    assert example("SCHEDULER_PARAMETERS")["gate"]["allow_failure"] == {"exit_codes": ["3"]}


@pytest.mark.parametrize(
    ("trouble", "ended"), [({"new": "exit status 11"}, (1, 1)), ({"base": "x", "new": "x"}, (0, 3))]
)
def test_a_candidate_whose_launches_fail_does_not_pass(
    trouble: dict[str, str], ended: tuple[int, int], tmp_path: Path
) -> None:
    """Nothing is told of its time: that alone would be a warning."""
    found = failing(trouble)
    done = [stood_in(script, found.status, tmp_path, found) for script in (_github(), _gitlab())]
    assert tuple(one.returncode for one in done) == ended
    assert ("::error::" in done[0].stdout) == (ended[0] == 1)
    assert (tmp_path / "summary.md").read_text().startswith("## Gate: undecided")


def test_a_gate_that_fails_itself_leaves_no_verdict_of_an_earlier_run(tmp_path: Path) -> None:
    """In a folder that nobody cleaned."""
    for script, ended in {_github(): 0, _gitlab(): 3, blocks("bash")[0]: 3}.items():
        outputs.write(failing({"new": "exit status 11"}), tmp_path / "gate")
        assert stood_in(script, 3, tmp_path).returncode == ended
        assert not (tmp_path / "gate").exists() and not (tmp_path / "summary.md").exists()


def failing(trouble: dict[str, str]) -> GateFound:
    """The verdict where launches of these arms failed."""
    measured = simulated.gate()
    return judge(replace(measured, series=[replace(measured.series[0], trouble=trouble)]))


def _gitlab() -> str:
    """As its runner takes a job's lines: one script."""
    return "\n".join(["set -e", *example("SCHEDULER_PARAMETERS")["gate"]["script"]])


def _github() -> str:
    (script,) = [step["run"] for step in example("runs-on")["jobs"]["gate"]["steps"] if "salloc" in step.get("run", "")]
    return str(script)
