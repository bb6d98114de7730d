# SPDX-License-Identifier: BSD-3-Clause
"""What breaks around a run: its results folder, its disk, itself. What was finished stays, nothing half there is read.

On this machine alone, because what happens to the folder must happen to the ranks as well; the virtual nodes have
mounts of their own.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.base.errors import Failure
from harness.job import records
from harness.job import session as sessions
from harness.job.records import trouble
from harness.job.session import Facts
from harness.tests.sessions import Running, bench, completes, could_be_completed, facts, latest, measured_once
from harness.tests.waiting import eventually

pytestmark = [pytest.mark.mpi, pytest.mark.slow, pytest.mark.timeout(300)]

RUN = ("run", "overlap-ratio", "--mpi", "mpich", "--scale", "test")
LOCAL = (*RUN, "--system", "local", "--set", "timeout_s=120")
CHEAP = (
    "run",
    "harm-microbench-latency",
    "--mpi",
    "mpich",
    "--scale",
    "test",
    "--system",
    "local",
    "--variant",
    "bare",
)
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts file systems on this machine")


def mount(*arguments: str) -> None:
    subprocess.run(["mount", *arguments], check=True, timeout=120)


@pytest.fixture
def small_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A file system of 4 MB for the results."""
    place = tmp_path / "disk"
    place.mkdir()
    mount("-t", "tmpfs", "-o", "size=4m", "tmpfs", str(place))
    monkeypatch.setenv("OVERLAP_BENCH_RESULTS", str(place / "results"))
    yield place
    subprocess.run(["umount", "--lazy", place], check=True, timeout=120)


def fill(disk: Path) -> Path:
    """Leave no byte free."""
    filler = disk / "filler"
    with pytest.raises(OSError, match="No space"), filler.open("wb", buffering=0) as stream:
        while stream.write(bytes(4096)):
            pass
    return filler


def finished(session: Path) -> int:
    return sum(records.read(path).end is not None for path in (session / "records").glob("*.jsonl"))


@pytest.mark.full
@needs_root
def test_a_full_disk(small_disk: Path) -> None:
    running = Running(*LOCAL, "--set", "launches=3")
    running.wait_for("1/6")
    filler = fill(small_disk)
    assert running.ended() == 1
    session = latest(small_disk / "results")
    assert "cannot be written any more (No space left on device" in running.said, running.said
    assert f"--resume {session.name}" in running.said
    assert "Traceback" not in running.said
    assert 1 <= finished(session) < 6
    assert not list(session.glob("**/*.part"))
    elsewhere = bench("report", session.name, "--out", str(small_disk.parent / "report"))
    assert elsewhere.returncode == 0, elsewhere.stderr
    filler.unlink()
    could_be_completed(session)


@pytest.mark.full
@needs_root
def test_results_that_become_read_only(results: Path) -> None:
    running = Running(*LOCAL, "--set", "launches=3")
    running.wait_for("2/6")
    session = latest(results)
    mount("--bind", str(session), str(session))
    try:
        mount("-o", "remount,bind,ro", str(session))
        assert running.ended() == 1
        assert "cannot be written any more (Read-only file system" in running.said, running.said
        assert "Traceback" not in running.said
    finally:
        subprocess.run(["umount", "--lazy", session], check=True, timeout=120)
    assert 2 <= finished(session) < 6
    completes(session)


@pytest.mark.full
def test_results_that_are_lost(results: Path) -> None:
    running = Running(*LOCAL, "--set", "launches=3")
    running.wait_for("2/6")
    session = latest(results)
    away = results.parent / "away"
    session.rename(away)
    assert running.ended() == 1
    assert "cannot be written any more (No such file or directory" in running.said, running.said
    assert "Traceback" not in running.said
    assert not (session / "records").exists()
    shutil.rmtree(session, ignore_errors=True)  # ReFrame's own
    away.rename(session)
    assert 2 <= finished(session) < 6
    completes(session)


@pytest.mark.full
def test_a_second_session_waits_for_the_first(results: Path) -> None:
    running = Running(*LOCAL, "--set", "launches=1")
    running.wait_for("1/2")
    first = latest(results)
    second = Running(*CHEAP)
    second.wait_for(f"waiting for another ./bench on this machine (overlap-ratio, PID {running.process.pid})")
    assert latest(results) == first, "the second has not begun"
    assert running.ended() == 0, running.said
    assert second.ended() == 0, second.said
    assert measured_once(first)
    assert measured_once(latest(results))
    assert latest(results) != first


@pytest.mark.full
def test_a_killed_run_is_known_not_to_run(results: Path) -> None:
    """Its session.json says that it runs; the lock, which nobody holds, says that it does not."""
    running = Running(*LOCAL, "--set", "launches=3")
    running.wait_for("2/6")
    os.kill(running.process.pid, signal.SIGKILL)
    running.ended()
    session = latest(results)
    assert facts(session)["state"] == "running"
    assert eventually(lambda: not _workloads(session)), "what it left must stop by itself"

    def known() -> bool:  # once ReFrame, which holds the lock too, has ended
        return bench("report", session.name).returncode == 0 and facts(session)["state"] == "interrupted"

    assert eventually(known)
    completes(session)


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, pytest.param(signal.SIGKILL, marks=pytest.mark.full)], ids=["SIGTERM", "SIGKILL"]
)
def test_a_run_that_ignores_ctrl_c_is_stopped_with_its_job(results: Path, number: signal.Signals) -> None:
    """As under a script's `&` or `trap '' INT`: what is ignored here must not be ignored by the job."""
    endless = [f"--set={name}" for name in ("timeout_s=300", "min_samples=1000000", "max_samples=1000000")]
    running = Running(*LOCAL, "--variant", "bare", *endless, prefix=["env", "--ignore-signal=INT"])
    assert eventually(lambda: any(results.glob("latest/records/*.jsonl"))), running.said
    session = latest(results)
    os.kill(running.process.pid, number)
    assert running.ended() in (1, 130, -signal.SIGKILL)
    assert "Traceback" not in running.said
    assert eventually(lambda: not _processes_of(session)), _processes_of(session)
    could_be_completed(session)


def _processes_of(session: Path) -> list[str]:
    """ReFrame, the runner, mpiexec and the ranks: all have the session in their command line."""
    found = subprocess.run(["pgrep", "-af", session.name], capture_output=True, check=False)
    return found.stdout.decode().splitlines()


def _workloads(session: Path) -> list[str]:
    found = subprocess.run(["pgrep", "-af", f"[b]in/microbench.*{session.name}"], capture_output=True, check=False)
    return found.stdout.decode().splitlines()


def test_a_lock_means_running(tmp_path: Path) -> None:
    session = sessions.Session(tmp_path, Facts("s", "now", "running"))
    session.folders.make()
    other = sessions.Session(tmp_path, Facts("s", "now", "running"))
    with session.alone():
        other.tidy()
        assert other.facts.state == "running"
        with pytest.raises(Failure, match="being run by another"), other.alone(wait_s=0):
            pass
    other.tidy()
    assert sessions.load(str(tmp_path)).facts.state == "interrupted"


def test_a_folder_in_order_has_no_trouble(tmp_path: Path) -> None:
    assert trouble(tmp_path) == "No such file or directory"
    (tmp_path / "records").mkdir()
    assert trouble(tmp_path) == ""
    assert list((tmp_path / "records").iterdir()) == []


@pytest.mark.vcluster
@pytest.mark.full
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT], ids=["SIGKILL", "Ctrl-C"])
def test_stopped_at_random_moments(results: Path, state: Path, number: signal.Signals) -> None:
    """Between the first second and the last; others each day: a failure names its seed. What is left is completed."""
    seed = int(time.time()) // 86400
    moments = random.Random(seed)
    for _ in range(4):
        shutil.rmtree(results, ignore_errors=True)
        running = Running(*RUN, "--set", "launches=3")
        moment = moments.uniform(0.1, 9.0)
        time.sleep(moment)
        running.look()
        running.process.send_signal(number)
        running.ended()
        where = f"seed {seed}, after {moment:.2f} s:\n{running.said}"
        # before the first line of our own, Python itself says "Fatal Python error: init_import_site" and its stack
        assert "Traceback" not in running.said or running.said.startswith("Fatal Python error: init_"), where
        assert running.nothing_left(state, but_files=number == signal.SIGKILL), where
        if (results / "latest").exists():
            assert not list(latest(results).glob("records/*.part")), where
            completes(latest(results))
