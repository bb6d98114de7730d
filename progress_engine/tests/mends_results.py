# SPDX-License-Identifier: BSD-3-Clause
"""What mends.py has found, a line a row of the table in a file: so that all rows can be run in several calls."""

from __future__ import annotations

from pathlib import Path

from harness.base import git

from .mend import Mend

FAILS, WRONG = "fails", "WRONG"
CHANGED = "+changes"  # behind the commit, where files are not those of it


def state_of(repository: Path) -> str:
    """The commit that is tried."""
    commit = git.commit_of(repository, "HEAD")[:12]
    return commit if git.dirty(repository) is False else commit + CHANGED


def note(file: Path, state: str, mend: Mend, said: str) -> None:
    """`said`: what is wrong; nothing if the mend's test fails without it."""
    with file.open("a") as lines:
        lines.write("\t".join((state, WRONG if said else FAILS, mend.mpi, mend.name, mend.test)) + "\n")


def failing(file: Path, state: str) -> set[str]:
    """The names of the rows that need not be run again: other changes may have the same name, and so count never."""
    if not file.exists() or state.endswith(CHANGED):
        return set()
    rows = [line.split("\t") for line in file.read_text().splitlines()]
    return {row[3] for row in rows if row[:2] == [state, FAILS]}
