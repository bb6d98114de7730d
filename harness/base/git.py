# SPDX-License-Identifier: BSD-3-Clause
"""git, asked of a repository.

It may be somebody else's: git then answers nothing unless it is told that the folder is meant. And a folder may be an
exported tree: whatever repository it happens to lie in is not its own.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from harness.base import process
from harness.base.errors import UsageError

LIMIT_S = 120.0


def ask(where: Path, *words: str) -> process.Answer:
    """What git says, in English; an answer without status where there is no repository."""
    if not (where / ".git").exists():
        return process.Answer(None, "", f"{where} is no git repository")
    # without the locks that a refreshed index takes: killed, git would leave one behind in somebody's repository
    command = ["git", "--no-optional-locks", "-C", str(where), "-c", f"safe.directory={where}", *words]
    return process.answer(command, LIMIT_S, dict(os.environ) | {"LC_ALL": "C"})


def commit_of(repository: Path, revision: str) -> str:
    """The full name of a commit; UsageError if there is none."""
    found = ask(repository, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if found.status is None:
        raise UsageError(f"There is no commit '{revision}': {found.last_line}.")
    if found.status != 0:
        raise UsageError(f"{repository} has no such commit: '{revision}'.{_shallow(repository)}")
    return found.out.strip()


def _shallow(repository: Path) -> str:
    """What may help where a commit is not there; empty unless the clone was made without its history."""
    if ask(repository, "rev-parse", "--is-shallow-repository").out.strip() != "true":
        return ""
    return (
        " It is a shallow clone, which lacks older commits and other branches: fetch all (git fetch --unshallow; in CI "
        "fetch-depth: 0 or GIT_DEPTH: 0), and name a branch as origin/BRANCH."
    )


def dirty(repository: Path) -> bool | None:
    """Whether its files are not those of its commit; None where that cannot be told."""
    state = ask(repository, "status", "--porcelain")
    return bool(state.out.strip()) if state.status == 0 else None


def state(repository: Path) -> dict[str, Any] | None:
    """`commit` and `dirty` of its files; None where git knows nothing of them."""
    commit, changed = ask(repository, "rev-parse", "HEAD"), dirty(repository)
    return None if commit.status != 0 or changed is None else {"commit": commit.out.strip(), "dirty": changed}


def subject(repository: Path, commit: str) -> str:
    """A commit in a line: its name, its date and what it says of itself."""
    return ask(repository, "log", "-1", "--format=%h %as %s", commit).out.strip()
