# SPDX-License-Identifier: BSD-3-Clause
"""Nothing of what was started is left: not after a timeout, not after a signal, not what ignores one. And git, asked
so, says of a folder what it is of: of a clone, whoever owns it, and of no other repository that the folder lies in."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness.base import machine, process
from harness.base.errors import UsageError
from harness.base.paths import ROOT
from harness.tests.waiting import eventually, lives

# A child and a grandchild that both ignore SIGTERM, say "here", tell their PIDs and stay; the parent stays or ends.
STUBBORN = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
parent = os.fork()
print("here", flush=True)
os.write(3, f"{os.getpid()}\\n".encode())
if parent and sys.argv[1] == "ends":
    sys.exit(5)
time.sleep(600)
"""


class Family:
    """The stubborn program, and whether any of it lives."""

    def __init__(self, folder: Path) -> None:
        self.told = folder / "pids"

    def command(self, parent: str) -> list[str]:
        return ["sh", "-c", f'exec 3>>{self.told}; exec "$@"', "sh", sys.executable, "-c", STUBBORN, parent]

    def pids(self) -> list[int]:
        return [int(line) for line in self.told.read_text().split()] if self.told.exists() else []

    def both(self) -> bool:
        return len(self.pids()) == 2

    def alive(self) -> list[int]:
        return [pid for pid in self.pids() if lives(pid)]


@pytest.fixture
def family(tmp_path: Path) -> Family:
    return Family(tmp_path)


def gone(family: Family) -> bool:
    return family.both() and eventually(lambda: not family.alive())


@pytest.fixture
def limit_from_when_both_are_there(family: Family, monkeypatch: pytest.MonkeyPatch) -> None:
    """How long they take to begin is the machine's affair."""
    wait_for = process.wait_for

    def once_there(started: subprocess.Popen[bytes], timeout_s: float | None) -> int | None:
        assert eventually(family.both)
        return wait_for(started, timeout_s)

    monkeypatch.setattr(process, "wait_for", once_there)


@pytest.mark.usefixtures("limit_from_when_both_are_there")
@pytest.mark.parametrize("answer", [False, True])
def test_a_timeout_ends_a_grandchild_that_ignores_sigterm(family: Family, tmp_path: Path, answer: bool) -> None:
    if answer:
        said = process.answer(family.command("stays"), 0.1)
        assert said.status is None and said.out == "here\nhere\n" and "did not end within 0.1 s" in said.err
    else:
        ended = process.run(family.command("stays"), {}, tmp_path / "log", 0.1)
        assert ended.status is None and ended.last_line == "here"
    assert gone(family), family.alive()


def test_what_a_program_leaves_behind_ends_with_it_and_keeps_nobody_waiting(family: Family) -> None:
    said = process.answer([*family.command("ends")], 300)
    assert said.status == 5
    assert eventually(lambda: not family.alive()), family.alive()


def test_the_end_is_told_and_not_asked_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Who asks every 50 ms measures whole times in steps of 50 ms."""
    monkeypatch.setattr(time, "sleep", lambda _: pytest.fail("it asks again and again whether the program has ended"))
    assert process.run(["sleep", "0.2"], {}, tmp_path / "log", 60).status == 0


def test_a_kernel_without_pidfd_open_will_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def missing(_: int) -> int:
        raise OSError(errno.ENOSYS, "not implemented")

    monkeypatch.setattr(os, "pidfd_open", missing)
    assert process.run(["sh", "-c", "sleep 0.1; exit 3"], {}, tmp_path / "log", 60).status == 3
    assert process.run(["sleep", "600"], {}, tmp_path / "log", 0.2).status is None


def test_an_exception_ends_it_too(family: Family) -> None:
    with pytest.raises(KeyboardInterrupt), process.group(family.command("stays")):
        assert eventually(family.both)
        raise KeyboardInterrupt
    assert gone(family), family.alive()


def test_a_program_reads_what_it_is_told_and_one_that_is_not_there_is_said_to_be(tmp_path: Path) -> None:
    assert process.answer(["cat"], 120, told="words\n").out == "words\n"
    assert process.answer(["cat"], 120) == process.Answer(0, "", "")
    said = process.answer(["no-such-program"], 5, {"PATH": str(tmp_path)})
    assert said.status is None and said.last_line == "there is no program no-such-program"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_signal_to_whoever_waits_ends_it(number: signal.Signals, tmp_path: Path) -> None:
    """By this process where it still can, by the kernel where it was killed: the program itself at least."""
    told = tmp_path / "pid"
    waits = (
        "import signal, sys\nfrom pathlib import Path\nfrom harness.base import process\n"
        "def stop(*_): raise KeyboardInterrupt\nsignal.signal(signal.SIGTERM, stop)\n"
        f"process.run(['sh', '-c', 'echo $$ > {told}; exec sleep 600'], {{}}, Path({str(tmp_path / 'log')!r}), 600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", waits], cwd=ROOT, stderr=subprocess.DEVNULL) as waiting:
        assert eventually(lambda: told.exists() and bool(told.read_text().strip()))
        sleeper = int(told.read_text())
        os.kill(waiting.pid, number)
        waiting.wait(120)
    assert eventually(lambda: not lives(sleeper))


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
    first = machine.commit_of(clone, "HEAD")
    assert first == told("-C", str(clone), "rev-parse", "HEAD")
    told("-C", str(clone), "commit", "-q", "--allow-empty", "-m", "second")
    with pytest.raises(UsageError, match=r"no such commit: 'none'\.$"):
        machine.commit_of(clone, "none")
    shallow = tmp_path_factory.mktemp("clones") / "shallow"
    told("clone", "-q", "--depth", "1", f"file://{clone}", str(shallow))
    assert machine.commit_of(shallow, "HEAD") == machine.commit_of(clone, "HEAD")
    with pytest.raises(UsageError, match=r"no such commit: .* It is a shallow clone.*fetch-depth: 0 or GIT_DEPTH: 0"):
        machine.commit_of(shallow, first)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_clone_of_another_owner_answers(clone: Path) -> None:
    wanted = told("-C", str(clone), "rev-parse", "HEAD")
    for path in (clone, clone / ".git"):
        os.chown(path, SOMEBODY, SOMEBODY)
    assert machine.commit_of(clone, "HEAD") == wanted


def test_an_exported_tree_has_no_commits(clone: Path) -> None:
    tree = clone / "exported"
    tree.mkdir()
    assert machine.ask_git(tree, "rev-parse", "HEAD").status is None
    with pytest.raises(UsageError, match="exported is no git repository"):
        machine.commit_of(tree, "HEAD")


def test_asking_takes_no_lock_of_the_index(clone: Path) -> None:
    """A git that is killed with the lock leaves it, and its user can commit no more."""
    (clone / "file").touch()
    told("-C", str(clone), "add", "file")
    os.utime(clone / "file", ns=(1, 1))  # so that git status would write the index anew
    before = (clone / ".git" / "index").stat().st_mtime_ns
    assert machine.ask_git(clone, "status", "--porcelain").status == 0
    assert (clone / ".git" / "index").stat().st_mtime_ns == before
