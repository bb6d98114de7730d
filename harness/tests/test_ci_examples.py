# SPDX-License-Identifier: BSD-3-Clause
"""The examples of docs/how-to/ci.md: their YAML is what GitLab, GitHub and actionlint take, and their lines run as they
stand.

They run under a real Slurm on virtual nodes, but for the words that are a cluster's own (OWN).
"""

from __future__ import annotations

import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
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
from harness.base.mpis import MPIS
from harness.base.paths import ROOT, VENV
from harness.setup import build
from harness.sites.systems import virtual_slurm_supported
from harness.tests.sessions import BENCH, bench, results, state
from harness.tests.waiting import eventually
from harness.vcluster import cluster as virtual
from harness.vcluster.cluster import Cluster
from harness.vcluster.tests.vcluster_fixtures import run

__all__ = ["results", "state"]  # fixtures

PAGE = ROOT / "docs" / "how-to" / "ci.md"
MPICH = MPIS["mpich"]
slow = [pytest.mark.full, pytest.mark.mpi, pytest.mark.vcluster, pytest.mark.slurm, pytest.mark.timeout(900)]


def marked(test: Any) -> Any:
    for mark in slow:
        test = mark(test)
    return test


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


def test_what_they_do_not_take_is_seen() -> None:
    wrong = yaml.safe_load("gate: {script: [true], allow_failure: {exit_codes: three}}")
    assert complaints("gitlab-ci", wrong)
    assert complaints("github-workflows", {"on": "push", "jobs": {"gate": {"steps": [{"runs": "x"}]}}})


def test_actionlint_finds_nothing_in_the_workflow(tmp_path: Path) -> None:
    (workflow,) = [text for text in blocks("yaml") if "runs-on" in text]
    assert linted(workflow, tmp_path) == ""


SLIPS = {  # which no schema sees
    "github.ref": ("gitref()", 'undefined function "gitref"'),
    "then cat gate": ("then cat ${{ steps.gate.outputs.file }} gate", 'property "gate" is not defined'),
    '"$GITHUB_STEP_SUMMARY"': ("$GITHUB_STEP_SUMMARY", "SC2086"),
    "login": ("logni", 'label "logni" is unknown'),
}


@pytest.mark.parametrize("right", SLIPS)
def test_a_slip_in_the_workflow_is_seen(right: str, tmp_path: Path) -> None:
    wrong, said = SLIPS[right]
    (workflow,) = [text for text in blocks("yaml") if "runs-on" in text]
    assert said in linted(workflow.replace(right, wrong), tmp_path)


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


CANDIDATE = "prefix:$PWD/candidate"
# What is a cluster's own, and how much is measured.
OWN = {
    "module load mpich/5.0": f"export PATH={MPICH.bin}:$PATH "
    + " ".join(f"{name}={shlex.quote(value)}" for name, value in MPICH.environment("tcp").items()),
    "prefix:/opt/progress-engine": f"prefix:{MPICH.build_dir}",
    CANDIDATE: f"prefix:{MPICH.build_dir}",
    "/shared/gates": "$PWD/gates",
    "--minutes 15": "--minutes 1 --set size_bytes=65536 --set comp_over_comm=1.0 --set pattern=both",
    "./bench": BENCH,
    "--exclusive ": "",
}
FILES = ("gate.md", "gate.json", "junit.xml", "metrics.txt")


# Of the job that builds: the checkout's sources, and its CMake and Ninja, as docs/how-to/cluster.md has them.
BUILT_HERE = {
    "module load mpich/5.0": f"export PATH={MPICH.bin}:{VENV / 'bin'}:$PATH",
    "-S .": f"-S {ROOT}",
    "-DCMAKE_BUILD_TYPE=Release": "-DCMAKE_BUILD_TYPE=Release -DOVERLAP_BENCH_FAST_BUILD=ON",  # on a node with one CPU
}


def in_its_words(text: str, own: Mapping[str, str] = OWN) -> str:
    for theirs, here in own.items():
        text = text.replace(theirs, here)
    return text


@pytest.fixture
def slurm(state: Path, results: Path, tmp_path: Path) -> Cluster:
    """Two nodes with Slurm, the engine that is compared, and a site's file as the page has it made."""
    del state, results
    if reason := virtual_slurm_supported():
        pytest.skip(reason)
    build.ensure(MPICH, "progress_engine/all", "microbench")
    assert bench("vcluster", "up", "--nodes", "2", "--slurm").returncode == 0
    (line,) = [line.strip() for line in PAGE.read_text().splitlines() if line.strip().startswith("./bench site new")]
    made = f"--bin-dir {MPICH.build_dir.parent}/{{mpi}}/bin"
    nodes = virtual.load()
    assert nodes
    done = run(nodes, "vc1", "bash", "-c", f"cd {tmp_path} && {in_its_words(line)} {made}")
    assert done.returncode == 0, done.stderr
    return nodes


def verdict(folder: Path) -> dict[str, Any]:
    """Of the files that the job leaves."""
    assert all((folder / "gate" / name).is_file() for name in FILES), list(folder.glob("*"))
    found: dict[str, Any] = json.loads((folder / "gate" / "gate.json").read_text())
    assert found["rounds"] >= 5 and found["verdict"] != "commit", found["sentence"]
    assert len(list((folder / "gates").glob("*.gate.json"))) == 1
    return found


def submit(nodes: Cluster, folder: Path, script: str, *options: str) -> str:
    """The number of a batch job; its output goes to job.out."""
    (folder / "job.sh").write_text(script)
    words = ["sbatch", "--parsable", "-o", str(folder / "job.out"), *options, "job.sh"]
    done = run(nodes, "vc0", *words, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def ended(nodes: Cluster, job: str, folder: Path, limit_s: float = 300) -> str:
    """The state in which a job ended."""

    def over() -> bool:
        return not run(nodes, "vc0", "squeue", "--noheader", "--job", job).stdout.strip()

    assert eventually(over, limit_s), (folder / "job.out").read_text()
    return run(nodes, "vc0", "sacct", "-n", "-P", "-j", job, "-o", "state").stdout.strip()


@marked
def test_gitlab_with_jacamar(slurm: Cluster, tmp_path: Path) -> None:
    """Its runner makes one batch job of a job's lines, with the scheduler's parameters of its variables."""
    job = example("SCHEDULER_PARAMETERS")["gate"]
    script = f"#!/bin/bash\n{_gitlab()}"
    options = shlex.split(in_its_words(f"{job['variables']['SCHEDULER_PARAMETERS']} "))
    number = submit(slurm, tmp_path, in_its_words(script) + "\n", *options)
    state = ended(slurm, number, tmp_path)
    found = verdict(tmp_path)
    assert (state == "COMPLETED") == (found["status"] == 0), (tmp_path / "job.out").read_text()


@marked
@pytest.mark.timeout(1800)  # it builds the engine
def test_github_on_a_login_node(slurm: Cluster, tmp_path: Path) -> None:
    """Both of its jobs: the candidate is what the first one has built."""
    made = tmp_path / "install"
    made.mkdir()

    def step(folder: Path, script: str, limit_s: float) -> None:
        where = f"cd {folder}; export GITHUB_STEP_SUMMARY={tmp_path / 'summary.md'}"
        command = slurm.command("vc0", ["bash", "-e", "-c", f"{where}\n{script}"])
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=limit_s)
        assert done.returncode == 0, done.stdout + done.stderr

    step(made, in_its_words(installing(), BUILT_HERE), 1000)
    step(tmp_path, handed_on(made, tmp_path), 60)
    as_it_stands = {theirs: here for theirs, here in OWN.items() if theirs != CANDIDATE}
    step(tmp_path, in_its_words(_github(), as_it_stands), 600)
    found = verdict(tmp_path)
    assert found["new"] == f"prefix:{tmp_path}/candidate"
    assert (tmp_path / "summary.md").read_text().startswith("## Gate")


@marked
def test_a_batch_job_that_is_preempted_goes_on_with_what_it_has(slurm: Cluster, tmp_path: Path) -> None:
    (script,) = blocks("bash")
    number = submit(slurm, tmp_path, in_its_words(script))
    records = tmp_path / f"gate-{number}" / "latest" / "records"
    assert eventually(lambda: len(list(records.glob("*.jsonl"))) > 8, 180), (tmp_path / "job.out").read_text()
    before = {path.name for path in records.glob("*.jsonl")}
    assert run(slurm, "vc0", "scontrol", "requeue", number).returncode == 0
    state = ended(slurm, number, tmp_path, 400)
    found = verdict(tmp_path)
    assert (state == "COMPLETED") == (found["status"] == 0), (tmp_path / "job.out").read_text()
    assert before <= {path.name for path in records.glob("*.jsonl")}
    assert len(list((tmp_path / f"gate-{number}").glob("2*"))) == 1, "one session, resumed"
    assert found["rounds"] > 2
