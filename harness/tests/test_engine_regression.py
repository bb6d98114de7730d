# SPDX-License-Identifier: BSD-3-Clause
"""A real regression of this project's own engine, found from its history by ./bench bisect and the gate.

The history is HEAD with a few commits on it that change nothing but a comment, and one that makes the distance between
wakes bad. They are made beside the repository: its objects, branches and files stay as they are.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.base.paths import ROOT, STATE_DIR
from harness.tests.sessions import BENCH, bench, latest

SETTINGS = "progress_engine/src/policy/settings.cpp"
PRESETS = "progress_engine/presets.json"
VARIANT, DISTANCE, BAD = "timer", '"timer_us": 2000', '"timer_us": 1000000'
GUILTY = "Wakes as far apart as can be"
# Below the slow-down and above the noise of a quiet machine, so that each commit is told good or bad.
HOW = [f"--variant={VARIANT}", "--margin=5%", "--minutes=3", "--study=overlap-ratio", "--mpi=mpich"]
HOW += [f"--set={setting}" for setting in ("size_bytes=4194304", "comp_over_comm=1.0", "pattern=both")]
Change = Callable[[str], str]


def slower(text: str) -> str:
    """The preset's own distance between wakes; the first place that has it is this one."""
    before, mine, behind = text.partition(f'"{VARIANT}": {{')
    assert DISTANCE in behind.partition("}")[0]
    return before + mine + behind.replace(DISTANCE, BAD, 1)


def harmless(number: int) -> Change:
    return lambda text: f"{text}// {number}\n"


CHANGES = {"A comment": harmless(1), GUILTY: slower, "Another comment": harmless(3)}


def git(*words: str, text: str = "", **variables: str) -> str:
    command = ["git", "-C", str(ROOT), "-c", f"safe.directory={ROOT}", *words]
    done = subprocess.run(
        command, input=text, env=os.environ | variables, check=True, capture_output=True, text=True, timeout=120
    )
    return done.stdout


@pytest.fixture
def history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """HEAD and the commits on it, whose objects lie in a folder of this test's own."""
    if not (ROOT / ".git").exists():
        pytest.skip("this is no clone")
    objects = Path(git("rev-parse", "--path-format=absolute", "--git-path", "objects").strip())
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(tmp_path / "objects"))
    monkeypatch.setenv("GIT_ALTERNATE_OBJECT_DIRECTORIES", str(objects))
    (tmp_path / "objects").mkdir()
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "test")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "test@localhost")
    commits = [git("rev-parse", "HEAD").strip()]
    for subject, change in CHANGES.items():
        commits.append(_commit(commits[-1], subject, change, tmp_path / "index"))
    yield commits
    for commit in commits[1:]:
        shutil.rmtree(STATE_DIR / "gate" / commit[:16], ignore_errors=True)


def _commit(parent: str, subject: str, change: Change, index: Path) -> str:
    file = PRESETS if change is slower else SETTINGS
    text = change(git("show", f"{parent}:{file}"))
    blob = git("hash-object", "-w", "--stdin", text=text).strip()
    own = {"GIT_INDEX_FILE": str(index)}
    git("read-tree", parent, **own)
    git("update-index", "--cacheinfo", f"100644,{blob},{file}", **own)
    tree = git("write-tree", **own).strip()
    return git("commit-tree", tree, "-p", parent, "-m", subject).strip()


@pytest.mark.long
@pytest.mark.alone
@pytest.mark.mpi
@pytest.mark.vcluster
@pytest.mark.timeout(3600)
@pytest.mark.usefixtures("results", "state")
def test_the_commit_that_made_wakes_bad_is_named(history: list[str], tmp_path: Path) -> None:
    before = git("for-each-ref") + git("worktree", "list")
    command = [BENCH, "bisect", f"--good={history[0]}", f"--bad={history[-1]}", *HOW, f"--store={tmp_path / 'store'}"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=3400)
    print(done.stdout)  # shown by pytest -rP
    assert done.returncode == 0, done.stdout + done.stderr
    told = re.findall(r"^\w+ +\(status (\d)\)  \w+ \S+ (.*)$", done.stdout, re.MULTILINE)
    steps = {subject: status for status, subject in told}
    named = [line for line in done.stdout.splitlines() if line.startswith("The first slower commit: ")]
    assert len(named) == 1 and named[0].endswith(GUILTY), done.stdout
    assert steps[list(CHANGES)[-1]] == "1", "the gate of the last commit against the first"
    assert steps[GUILTY] == "1"
    assert git("for-each-ref") + git("worktree", "list") == before


# A workload made 5 % slower is found by `./bench compare` with 6 launches, from the command to the exit status.
ROUNDS = 3  # on a machine that does other work one round may see nothing
SESSION = ["overlap-ratio", "--mpi=mpich", "--variant=bare,adaptive"]
SESSION += [f"--set={setting}" for setting in ("launches=6", "size_bytes=4194304", "pattern=both")]


def run(results: Path, *arguments: str) -> str:
    """Runs a session and returns its name."""
    done = bench("run", *arguments)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return latest(results).name


@pytest.mark.full
@pytest.mark.alone
@pytest.mark.mpi
@pytest.mark.vcluster
@pytest.mark.timeout(900)
@pytest.mark.usefixtures("state")
def test_five_percent_slower_is_found_with_six_launches(results: Path) -> None:
    verdicts: list[str] = []
    while "slower" not in verdicts and len(verdicts) < ROUNDS:
        base = run(results, *SESSION)
        slowed = run(results, "--like", base, "--inject-slowdown", "1.05")
        done = bench("compare", base, slowed, "--format", "json")
        found = json.loads(done.stdout)
        assert done.returncode == found["regression"], done.stderr
        verdicts.append(found["verdict"])
    assert verdicts[-1] == "slower", verdicts
    assert "faster" not in verdicts
