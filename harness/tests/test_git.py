# SPDX-License-Identifier: BSD-3-Clause
"""What git says of a folder: of a clone, whoever owns it, and of no other repository that the folder lies in."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from harness.base import git
from harness.base.errors import UsageError

SOMEBODY = 12345


def told(*words: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@b")
    return subprocess.run(["git", *who, *words], capture_output=True, text=True, check=True, timeout=120).stdout.strip()


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a commit; what this machine says of owners does not count."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    told("init", "-q", str(tmp_path))
    told("-C", str(tmp_path), "commit", "-q", "--allow-empty", "-m", "first")
    return tmp_path


def test_a_shallow_clone_says_that_it_lacks_commits(clone: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """As those that CI services make."""
    first = git.commit_of(clone, "HEAD")
    assert first == told("-C", str(clone), "rev-parse", "HEAD")
    told("-C", str(clone), "commit", "-q", "--allow-empty", "-m", "second")
    with pytest.raises(UsageError, match=r"no such commit: 'none'\.$"):
        git.commit_of(clone, "none")
    shallow = tmp_path_factory.mktemp("clones") / "shallow"
    told("clone", "-q", "--depth", "1", f"file://{clone}", str(shallow))
    assert git.commit_of(shallow, "HEAD") == git.commit_of(clone, "HEAD")
    with pytest.raises(UsageError, match=r"no such commit: .* It is a shallow clone.*fetch-depth: 0 or GIT_DEPTH: 0"):
        git.commit_of(shallow, first)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_clone_of_another_owner_answers(clone: Path) -> None:
    wanted = told("-C", str(clone), "rev-parse", "HEAD")
    for path in (clone, clone / ".git"):
        os.chown(path, SOMEBODY, SOMEBODY)
    assert git.commit_of(clone, "HEAD") == wanted


def test_an_exported_tree_has_no_commits(clone: Path) -> None:
    tree = clone / "exported"
    tree.mkdir()
    assert git.ask(tree, "rev-parse", "HEAD").status is None
    with pytest.raises(UsageError, match="exported is no git repository"):
        git.commit_of(tree, "HEAD")


def test_asking_takes_no_lock_of_the_index(clone: Path) -> None:
    """A git that is killed with the lock leaves it, and its user can commit no more."""
    (clone / "file").touch()
    told("-C", str(clone), "add", "file")
    os.utime(clone / "file", ns=(1, 1))  # so that git status would write the index anew
    before = (clone / ".git" / "index").stat().st_mtime_ns
    assert git.ask(clone, "status", "--porcelain").status == 0
    assert (clone / ".git" / "index").stat().st_mtime_ns == before
