# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of whole ./bench sessions share: results and virtual nodes of a test's own, running, waiting."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from harness.base.mpis import MPIS, Mpi
from harness.base.paths import ROOT
from harness.cli import main
from harness.job import records
from harness.sites.virtual import virtual_supported
from harness.tests.waiting import PATIENCE_S, eventually
from harness.vcluster import cluster as virtual
from harness.vcluster.tests.vcluster_fixtures import leftovers, namespaces_of

BENCH = str(ROOT / "bench")


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A results folder of this test's own."""
    monkeypatch.setenv("OVERLAP_BENCH_RESULTS", str(tmp_path / "results"))
    return tmp_path / "results"


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A virtual cluster of this test's own; the path is short because unix sockets are below it."""
    if reason := virtual_supported():
        pytest.skip(reason)
    with tempfile.TemporaryDirectory(prefix="ob") as folder:
        monkeypatch.setenv("OVERLAP_BENCH_STATE", f"{folder}/s")
        yield Path(folder) / "s"
        virtual.down()


@pytest.fixture(scope="session")
def mpich() -> Mpi:
    """The MPI of PyPI on which most is tried."""
    if not MPIS["mpich"].installed():
        pytest.skip("MPICH (PyPI) is not installed")
    return MPIS["mpich"]


# What these start writes past sys.stdout, or takes the place of this process.
PASSING_ON = ("exec", "mpirun", "vcluster")


def bench(*arguments: str, timeout: float = 300) -> subprocess.CompletedProcess[str]:
    """A ./bench that is waited for: in this process, which has imported what a start takes seconds for, where it can.

    `Running` and PASSING_ON start the real one.
    """
    if arguments[0] in PASSING_ON:
        return subprocess.run([BENCH, *arguments], capture_output=True, text=True, check=False, timeout=timeout)
    said, complained = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", [BENCH, *arguments])
        patch.setattr(sys, "stdout", said)
        patch.setattr(sys, "stderr", complained)
        status = main(list(arguments))
    return subprocess.CompletedProcess(sys.argv, status, said.getvalue(), complained.getvalue())


def refused(*arguments: str, status: int = 2) -> str:
    """The one sentence with which ./bench refuses a call, its lines joined."""
    done = bench(*arguments)
    assert done.returncode == status and "Traceback" not in done.stderr, done.stderr
    assert not done.stderr.startswith("bench: ") or done.stderr.count("\n") == 1, done.stderr
    return " ".join(done.stderr.split())


WAITS = ("waiting for another ./bench", "building ")


class Running:
    """A ./bench that runs while the test does something to it. What it says is collected as it comes."""

    def __init__(self, *arguments: str, prefix: Sequence[str] = ()) -> None:
        self.process = subprocess.Popen(
            [*prefix, BENCH, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self.said = ""
        self._spaces: set[str] = set()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said += line

    def wait_for(self, words: str, limit_s: float = PATIENCE_S) -> None:
        """The limit begins anew while the run waits for its turn behind others, or builds: neither is tested."""
        there = False
        while not there:
            there = eventually(lambda: words in self.said or self.process.poll() is not None, limit_s)
            if not self.said.rpartition("\n")[0].rpartition("\n")[2].startswith(WAITS):
                break
        assert there and words in self.said, f"the run never said '{words}':\n{self.said}"

    def nodes(self) -> virtual.Cluster:
        """The virtual nodes that it runs on."""
        assert eventually(lambda: virtual.load() is not None), self.said
        cluster = virtual.load()
        assert cluster
        self.look()
        return cluster

    def look(self) -> None:
        """Remember the namespaces of the nodes, if they are up: nothing of them may be left in the end."""
        if cluster := virtual.load():
            self._spaces |= namespaces_of(cluster)

    def ended(self, limit_s: float = 300) -> int:
        """Its status; what it was on is down then."""
        status = self.process.wait(limit_s)
        self._reader.join(PATIENCE_S)
        return status

    def nothing_left(self, state: Path, limit_s: float = PATIENCE_S, but_files: bool = False) -> bool:
        """No process, namespace, mount, socket or folder of its nodes; what there is stands in the test's output.

        `but_files`: killed before the first process of its nodes began, it leaves their folder, which the next run
        takes.
        """
        may_stay = {str(state)} if but_files else set()
        gone = eventually(lambda: set(leftovers(state, self._spaces)) <= may_stay, limit_s)
        if not gone:
            print("left:", *leftovers(state, self._spaces), sep="\n")
        return gone


def latest(results: Path) -> Path:
    return (results / "latest").resolve()


def facts(session: Path) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((session / "session.json").read_text())
    return read


def reasons(session: Path) -> dict[int, str]:
    """Order of the launch -> why its points are not ok, for the launches of which a record says so."""
    found = {}
    for path in sorted((session / "records").glob("*.jsonl")):
        record = records.read(path)
        assert record.header is not None and record.end is not None, f"{path} is not whole"
        for line in record.points:
            if line["status"] != "ok":
                found[int(record.header["context"]["order"])] = str(line["reason"])
    return found


def measured_once(session: Path, ranks: int = 2) -> bool:
    """Every planned launch has finished points, and none twice."""
    folder = session / "records"
    good = [
        [line for path in records.attempts(folder, identity) for line in records.read(path).points]
        for identity in facts(session)["expected"]
    ]
    return all(
        len({(records.key(line["point"]), line["rank"]) for line in lines if line["status"] == "ok"})
        == len([line for line in lines if line["status"] == "ok"])
        and len(records.finished(folder, identity, ranks)) > 0
        for identity, lines in zip(facts(session)["expected"], good, strict=True)
    )


def completes(session: Path) -> None:
    """--resume runs what is missing, and nothing else."""
    again = bench("run", "--resume", session.name)
    assert again.returncode == 0, again.stderr
    assert facts(session)["state"] == "complete"
    assert measured_once(session)
    assert not list((session / "scratch").iterdir())


def could_be_completed(session: Path, ranks: int = 2) -> None:
    """--resume would run what is missing, and nothing else. That it then runs it other tests see, and all of --full."""
    planned = facts(session)["expected"]
    missing = {name for name in planned if not records.finished(session / "records", name, ranks)}
    plan = bench("run", "--resume", session.name, "--dry-run")
    assert plan.returncode == 0, plan.stderr
    assert set(plan.stdout.split()) == missing != set()


def as_user(uid: int) -> list[str]:
    return ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups"] if os.geteuid() == 0 else []
