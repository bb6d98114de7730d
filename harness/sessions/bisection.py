# SPDX-License-Identifier: BSD-3-Clause
"""git bisect, driven by a gate's verdict: which commit made the engine slower?

It runs in a worktree of its own without files, so that neither the checkout nor a bisection of the user's is touched.
"""

from __future__ import annotations

import contextlib
import json
import re
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from harness.base import machine, process
from harness.base.errors import Failure, UsageError

SLOWER, NO_SIDE = 1, 2  # statuses of ./bench gate
MARKS = {0: "good", SLOWER: "bad", NO_SIDE: "skip", 3: "skip"}
FIRST = re.compile(r"^([0-9a-f]{40}) is the first ('?)bad\2 commit$", re.MULTILINE)  # git 2.55 quotes the word
ONLY_SKIPPED = 2  # the status of git bisect
COMMIT, VERDICT_FILE = "commit", "gate.json"  # what a slower candidate is called in it
Gate = Callable[[str, str, Path], int]  # baseline and candidate, whole names, where its files go -> the status


@dataclass(frozen=True)
class Step:
    """A gate of one commit against the good one: its status, how git bisect was told of it, and the verdict in its own
    file; empty where it wrote none, as one that failed itself."""

    commit: str
    status: int
    mark: str
    verdict: str = ""


@dataclass(frozen=True)
class Found:
    """`first`: the first bad commit; empty where it cannot be told, and `candidates` are those that may be it, or where
    the bad commit itself is not shown to be slower, and there are none."""

    first: str
    candidates: list[str]
    steps: list[Step] = field(default_factory=list)


def run(repository: Path, good: str, bad: str, gate: Gate) -> Found:
    """Find the first commit behind `good` that is slower than it; both are whole names."""
    if machine.ask_git(repository, "merge-base", "--is-ancestor", good, bad).status != 0 or good == bad:
        raise UsageError(f"--good {good[:12]} is no ancestor of --bad {bad[:12]}: there is nothing between them.")
    steps = [_step(gate, good, bad)]
    if steps[0].status == NO_SIDE:
        raise UsageError("The gate of --bad against --good cannot be: see what it said.")
    if steps[0].status != SLOWER:
        return Found("", [], steps)
    with _worktree(repository, bad) as here:
        said = _told(here, "start", "--no-checkout", bad, good)
        while not (first := FIRST.search(said.out)) and said.status == 0:
            commit = machine.ask_git(here, "rev-parse", "BISECT_HEAD").out.strip()
            if any(step.commit == commit for step in steps):  # else it would be measured for ever
                raise Failure(f"git bisect asks for {commit[:12]} again, of which it was told: '{said.last_line}'.")
            steps.append(_step(gate, good, commit))
            said = _told(here, steps[-1].mark, commit)
        if first:
            return Found(first[1], [first[1]], steps)
        return Found("", _left(here), steps)


def _step(gate: Gate, good: str, commit: str) -> Step:
    """Measure a commit; Failure where the gate's status is none that a verdict has, as of one that was killed, or where
    its own file does not say that the commit is slower: a search that believes it would name an innocent one."""
    with tempfile.TemporaryDirectory(prefix="bench-bisect-") as folder:
        status = gate(good, commit, Path(folder))
        found = _told_in(Path(folder) / VERDICT_FILE)
    if status not in MARKS:
        raise Failure(f"The gate of {commit[:12]} ended with status {status}: the bisection cannot go on.")
    if status == SLOWER and found != COMMIT:
        raise Failure(
            f"The gate of {commit[:12]} ended with status {status}, and {found or 'no verdict'} is what its "
            f"{VERDICT_FILE} says in place of {COMMIT}: the bisection cannot go on."
        )
    return Step(commit, status, MARKS[status], found)


def _told_in(file: Path) -> str:
    """The verdict in a gate's file; empty where there is none."""
    try:
        content = json.loads(file.read_bytes())  # UTF-8, whatever the caller's locale is
    except (OSError, ValueError):
        return ""
    return str(content.get("verdict", "")) if isinstance(content, dict) else ""


def _left(here: Path) -> list[str]:
    """The commits that may be the first bad one: those that are not reached from a good one."""
    refs = machine.ask_git(here, "for-each-ref", "--format=%(refname)", "refs/bisect/").out.split()
    bad = [ref for ref in refs if ref.endswith("/bad")]
    good = [f"^{ref}" for ref in refs if "/good-" in ref]
    return machine.ask_git(here, "rev-list", *bad, *good).out.split()


@contextlib.contextmanager
def _worktree(repository: Path, commit: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="bench-bisect-") as folder:
        here = Path(folder) / "here"
        made = machine.ask_git(repository, "worktree", "add", "--detach", "--no-checkout", str(here), commit)
        if made.status != 0:
            raise Failure(f"git cannot make a worktree of {repository}: {made.last_line}.")
        try:
            yield here
        finally:
            machine.ask_git(repository, "worktree", "remove", "--force", str(here))


def _told(here: Path, *words: str) -> process.Answer:
    said = machine.ask_git(here, "bisect", *words)
    if said.status not in (0, ONLY_SKIPPED):
        raise Failure(f"git bisect {words[0]}: {said.last_line}.")
    return said
