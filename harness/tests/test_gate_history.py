# SPDX-License-Identifier: BSD-3-Clause
"""./bench history: which commits it names, of which comparison a change is; ./bench bisect: the commit that made it
slower is found from recorded verdicts, and nothing of the search is left."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from analysis.figures.render import figure_of
from analysis.gate import changes, store
from harness.base import machine, process
from harness.base.errors import Failure, UsageError
from harness.cli import main
from harness.sessions import bisection as bisect

OLD, NEW, CHECKOUT = "0123456789abcdef" * 2 + "01234567", "f" * 40, "c" * 40


def entry(number: int, ratio: float) -> store.Entry:
    return store.Entry(
        session=f"gate-{number:02d}",
        time=f"2026-11-{number + 1:02d}",
        where="vcluster (vc1, vc2), mpich",
        base=f"commit:{OLD}",
        new=f"commit:{NEW},timer" if number >= 10 else "adaptive",
        verdict="same",
        ratios={"overlap: 1 MB": ratio},
        values={},
        commit=CHECKOUT,
    )


def stepped(number: int) -> float:
    """A tenth slower from the tenth gate on."""
    return (1.1 if number >= 10 else 1.0) + number * 7 % 5 / 1e4


def test_the_commits_of_a_gate_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in (1, 11):
        store.add(tmp_path, entry(number, 1.0))
    store.add(tmp_path, replace(entry(12, 1.0), commit=f"{CHECKOUT}+changes"))
    assert main(["history", "--store", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert f"| adaptive | commit:{OLD[:12]} | {CHECKOUT[:12]} | same | gate-01 |" in said
    assert f"| commit:{NEW[:12]},timer | commit:{OLD[:12]} |" in said
    assert f"| {CHECKOUT[:12]}+changes | same | gate-12 |" in said


def test_a_change_is_told_with_what_was_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(20):
        store.add(tmp_path, replace(entry(number, stepped(number)), new=f"commit:{NEW}"))
    assert main(["history", "--store", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert f"overlap: 1 MB on vcluster (2 nodes), mpich, against commit:{OLD}: +10" in said
    assert f"since gate-10 (commit:{NEW[:12]} of checkout {CHECKOUT[:12]})" in said


def test_a_folder_that_takes_no_figures_is_a_wrong_call(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also where there is nothing to draw yet."""
    (tmp_path / "file").write_text("")
    for gates in range(2):
        for out in ("file", "file/figures"):
            call = ["history", "--store", str(tmp_path / "store"), "--out", str(tmp_path / out)]
            assert main(call) == 2
            told = capsys.readouterr()
            assert f"--out {tmp_path / out} cannot be written (Not a directory)" in " ".join(told.err.split())
            assert not told.out
        store.add(tmp_path / "store", entry(gates, 1.0))


@pytest.mark.full
def test_figures_and_json_have_every_series_with_its_changes(tmp_path: Path) -> None:
    """One of the gates has no interval."""
    for number in range(20):
        slower = stepped(number)
        kept = replace(entry(number, slower), new=f"commit:{NEW}", ratios={"overlap: 1 MB": slower, "latency: 8": 1.0})
        known = {"overlap: 1 MB": [slower - 0.01, slower + 0.01]} if number else {}
        store.add(tmp_path / "store", replace(kept, intervals=known))
    out = tmp_path / "out"
    assert main(["history", "--store", str(tmp_path / "store"), "--out", str(out)]) == 0
    found = {one["point"]: one for one in json.loads((out / "history.json").read_text())}
    assert [change["session"] for change in found["overlap: 1 MB"]["changes"]] == ["gate-10"]
    assert not found["latency: 8"]["changes"]
    first, second = found["overlap: 1 MB"]["gates"][:2]
    assert (first["low"], second["low"]) == (None, pytest.approx(0.9902)) and first["commit"] == CHECKOUT
    for one in found.values():
        assert {path.suffix for path in out.glob(f"{one['figure']}.*")} == {".png", ".svg", ".pdf", ".csv"}
    (change,) = changes.changes(store.read(tmp_path / "store"))
    gates = changes.series(store.read(tmp_path / "store"))[change.key]
    drawn = changes.draw(changes._told(change.key, gates, [change]))
    upright = [line for line in figure_of(drawn).axes[0].lines if np.asarray(line.get_xdata()).tolist() == [9.5, 9.5]]
    assert len(upright) == 1, "between the ninth gate and the tenth"
    assert "+10" in drawn.caption and "since gate-10" in drawn.caption


@pytest.mark.full
def test_a_program_of_ones_own_is_drawn_whatever_its_command_is(tmp_path: Path) -> None:
    """Its dollars are no formula, and XML has no way to write some of its characters."""
    point = "own-program: sh -c 'echo $x_{ $y^\x07', 2 ranks"
    store.add(tmp_path / "store", replace(entry(1, 1.0), ratios={point: 1.0}))
    out = tmp_path / "out"
    assert main(["history", "--store", str(tmp_path / "store"), "--out", str(out)]) == 0
    (figure,) = out.glob("*.svg")
    assert "echo $x_{ $y^ '" in "".join(ElementTree.parse(figure).getroot().itertext())
    assert [one["point"] for one in json.loads((out / "history.json").read_text())] == [point]


def test_a_change_is_drawn_at_its_gate_also_where_another_one_has_its_sessions_name() -> None:
    """Those of two folders of results that began in one second."""
    gates = [replace(entry(number, stepped(number)), session="gate", origin=str(number)) for number in range(20)]
    ((key, series),) = changes.series([replace(one, new="adaptive") for one in gates]).items()
    (change,) = changes.changes([one for one, _ in series])
    assert changes._told(key, series, [change]).places == [10]


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
    real = machine.ask_git

    def ask(where: Path, *words: str) -> process.Answer:
        said = real(where, *words)
        return replace(said, out=re.sub("is the first '?bad'? commit", instead, said.out))

    monkeypatch.setattr(machine, "ask_git", ask)


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
    assert machine.commit_line(repository, found.first).endswith(f"change {FIRST_BAD}")


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
        machine.commit_of(repository, "--all")
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
        return bisect.NO_SIDE

    monkeypatch.setattr(process, "attended", attended)
    rest = [*before, "--", "./app", "--out", "x", "--", "y"]
    assert main(["bisect", "--good", "HEAD~1", "--bad", "HEAD", *rest]) == 2
    assert len(asked) == 1 and asked[0][-len(rest) :] == rest and asked[0][-len(rest) - 1].startswith("--out=")
