# SPDX-License-Identifier: BSD-3-Clause
"""./bench bisect: the commit that made it slower is found from recorded verdicts, and nothing of the search is left."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from harness.base import git as base_git
from harness.base import process
from harness.base.errors import Failure, UsageError
from harness.cli import main
from harness.sessions import bisect

COMMITS = 12
FIRST_BAD = 7
WHO = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]


def git(repository: Path, *words: str) -> str:
    command = ["git", "-C", str(repository), *WHO, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout.strip()


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A repository of some commits, and their names, the oldest first."""
    repository = tmp_path_factory.mktemp("repository")
    git(repository, "init", "-q", "-b", "main")
    for number in range(COMMITS):
        git(repository, "commit", "-q", "--allow-empty", "-m", f"change {number}")
    return repository, git(repository, "rev-list", "--reverse", "main").split()


class Recorded:
    """A gate whose verdicts are known: from commit FIRST_BAD on slower, with other statuses for some."""

    def __init__(self, commits: list[str], others: dict[int, int] | None = None) -> None:
        self.commits, self.others = commits, others or {}
        self.asked: list[int] = []

    def __call__(self, base: str, new: str, files: Path) -> int:
        assert base == self.commits[0]
        number = self.commits.index(new)
        self.asked.append(number)
        status = self.others.get(number, int(number >= FIRST_BAD))
        if status == bisect.SLOWER:
            (files / "gate.json").write_text('{"verdict": "commit"}')
        return status


def nothing_left(repository: Path) -> bool:
    """No worktree, and no ref of a bisection."""
    one = len(git(repository, "worktree", "list").splitlines()) == 1
    return one and not git(repository, "for-each-ref", "refs/bisect/") and not (repository / ".git/BISECT_LOG").exists()


def saying(instead: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """git says this in place of the words with which it ends a search."""
    real = base_git.ask

    def ask(where: Path, *words: str) -> process.Answer:
        said = real(where, *words)
        return replace(said, out=re.sub("is the first '?bad'? commit", instead, said.out))

    monkeypatch.setattr(base_git, "ask", ask)


@pytest.mark.parametrize("words", ["is the first bad commit", "is the first 'bad' commit"], ids=["2.39", "2.55"])
def test_the_first_slower_commit_is_found_in_few_gates(
    words: str, history: tuple[Path, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As either git says it."""
    repository, commits = history
    saying(words, monkeypatch)
    gate = Recorded(commits)
    found = bisect.run(repository, commits[0], commits[-1], gate)
    assert found.first == commits[FIRST_BAD] and gate.asked[0] == COMMITS - 1
    assert len(gate.asked) <= 6 and len(set(gate.asked)) == len(gate.asked)
    assert [step.mark for step in found.steps] == ["bad" if n >= FIRST_BAD else "good" for n in gate.asked]
    assert nothing_left(repository)
    assert base_git.subject(repository, found.first).endswith(f"change {FIRST_BAD}")


@pytest.mark.parametrize(
    ("others", "candidates"), [({5: 2, 9: 3}, range(FIRST_BAD, FIRST_BAD + 1)), ({6: 3, 7: 2}, range(6, 9))]
)
def test_what_does_not_build_or_cannot_be_told_is_skipped(
    history: tuple[Path, list[str]], others: dict[int, int], candidates: range
) -> None:
    """Beside the first bad one several are left."""
    repository, commits = history
    found = bisect.run(repository, commits[0], commits[-1], Recorded(commits, others))
    assert set(found.candidates or [found.first]) == {commits[number] for number in candidates}
    assert bool(found.first) == (len(candidates) == 1) and nothing_left(repository)


def test_a_git_that_is_not_understood_measures_no_commit_again(
    history: tuple[Path, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    repository, commits = history
    saying("it is", monkeypatch)
    gate = Recorded(commits)
    with pytest.raises(Failure, match="again, of which it was told"):
        bisect.run(repository, commits[0], commits[-1], gate)
    assert len(set(gate.asked)) == len(gate.asked)
    assert nothing_left(repository)


@pytest.mark.parametrize("status", [0, 3])
def test_a_bad_commit_that_is_not_slower_ends_it(history: tuple[Path, list[str]], status: int) -> None:
    repository, commits = history
    found = bisect.run(repository, commits[0], commits[-1], Recorded(commits, {COMMITS - 1: status}))
    assert (found.first, found.candidates, len(found.steps)) == ("", [], 1)


@pytest.mark.parametrize(
    ("status", "written", "said"),
    [
        (0, '{"verdict": "same"}', "HEAD is not slower than HEAD~1: there is nothing to look for."),
        (3, '{"verdict": "node"}', "is not known: the verdict of its gate is 'node'."),
        (3, "", "is not known: its gate failed, and what it said stands above."),
    ],
)
def test_why_nothing_was_looked_for_is_said(
    status: int, written: str, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A gate that failed itself, for want of nodes say, has found nothing out."""

    def attended(command: list[str], **_: object) -> int:
        (out,) = [word.removeprefix("--out=") for word in command if word.startswith("--out=")]
        if written:
            (Path(out) / "gate.json").write_text(written)
        return status

    monkeypatch.setattr(process, "attended", attended)
    assert main(["bisect", "--good", "HEAD~1", "--bad", "HEAD"]) == 3
    assert said in capsys.readouterr().out


def test_a_gate_of_the_bad_commit_that_was_killed_is_no_verdict(history: tuple[Path, list[str]]) -> None:
    """It would read as if nothing were slower."""
    repository, commits = history
    with pytest.raises(Failure, match="ended with status -15: the bisection cannot go on"):
        bisect.run(repository, commits[0], commits[-1], Recorded(commits, {COMMITS - 1: -15}))


@pytest.mark.parametrize("written", [None, "{", "[]", '{"verdict": "undecided"}'])
def test_status_1_without_the_verdict_commit_is_not_believed(
    history: tuple[Path, list[str]], written: str | None
) -> None:
    """A program ends so for many a reason: a commit would be named that is not slower."""
    repository, commits = history

    def gate(_base: str, _new: str, files: Path) -> int:
        if written is not None:
            (files / "gate.json").write_text(written)
        return 1

    with pytest.raises(Failure, match=r"status 1, and \w+.* in place of commit: the bisection cannot go on"):
        bisect.run(repository, commits[0], commits[-1], gate)
    assert nothing_left(repository)


def test_what_cannot_be_bisected(history: tuple[Path, list[str]]) -> None:
    repository, commits = history
    with pytest.raises(UsageError, match="no ancestor"):
        bisect.run(repository, commits[5], commits[2], Recorded(commits))
    with pytest.raises(UsageError, match="cannot be"):
        bisect.run(repository, commits[0], commits[-1], Recorded(commits, {COMMITS - 1: 2}))
    with pytest.raises(UsageError, match="no such commit: '--all'"):
        base_git.commit_of(repository, "--all")
    with pytest.raises(Failure, match="status 143"):
        bisect.run(repository, commits[0], commits[-1], Recorded(commits, {n: 143 for n in range(1, COMMITS - 1)}))
    assert nothing_left(repository)


def test_a_search_that_is_stopped_leaves_nothing(history: tuple[Path, list[str]]) -> None:
    repository, commits = history
    recorded = Recorded(commits)

    def gate(base: str, new: str, files: Path) -> int:
        if recorded.asked:
            raise KeyboardInterrupt
        return recorded(base, new, files)

    with pytest.raises(KeyboardInterrupt):
        bisect.run(repository, commits[0], commits[-1], gate)
    assert nothing_left(repository)


@pytest.mark.parametrize("before", [[], ["--minutes=3"], ["--minutes", "3"], ["-n", "2", "--time-from=t: (.*)"]])
def test_a_program_of_ones_own_is_handed_on_to_the_gate(before: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Its options are its own, whatever stands before it."""
    asked: list[list[str]] = []

    def attended(command: list[str], **_: object) -> int:
        asked.append(command)
        return bisect.NO_ARM

    monkeypatch.setattr(process, "attended", attended)
    rest = [*before, "--", "./app", "--out", "x", "--", "y"]
    assert main(["bisect", "--good", "HEAD~1", "--bad", "HEAD", *rest]) == 2
    assert len(asked) == 1 and asked[0][-len(rest) :] == rest and asked[0][-len(rest) - 1].startswith("--out=")
