# SPDX-License-Identifier: BSD-3-Clause
"""Where a container's filter refuses what the engine asks of the kernel, the program runs and is told what it lacks."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from harness.base.mpis import Mpi

from .conftest import MPICH_FIRST, Launcher, compiled, lines, reports

pytestmark = pytest.mark.mpi
NO_FILTERS, NO_SESSIONS = 77, 78


@pytest.fixture
def refused(mpi: Mpi, tmp_path: Path) -> Launcher:
    return Launcher(mpi, compiled(mpi, "refused.c", tmp_path))


def report(refused: Launcher, folder: Path, what: str, begin: str, variant: str) -> dict[str, object]:
    """Of a run that says what it says bare."""
    bare = refused.run(what, begin, tasks=1)
    if bare.returncode == NO_FILTERS:
        pytest.skip("system calls cannot be refused here")
    if bare.returncode == NO_SESSIONS:
        pytest.skip(f"{refused.mpi.title} has no sessions")
    if lines(bare.stdout) != ["rank 0: received 42"]:
        pytest.skip(f"{refused.mpi.title} itself needs {what}: {bare.stderr[-300:]}")
    ended = refused.run(what, begin, tasks=1, variant=variant, settings=(f"report_file={folder}/report.%r",))
    assert (ended.returncode, lines(ended.stdout)) == (bare.returncode, lines(bare.stdout)), ended.stderr
    return reports(folder, 1)[0]


@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
@pytest.mark.parametrize(("begin", "variant"), [("world", "adaptive"), ("world", "offload"), ("session", "adaptive")])
def test_without_an_event_source_it_is_off(refused: Launcher, begin: str, variant: str, tmp_path: Path) -> None:
    found = report(refused, tmp_path, "eventfd", begin, variant)
    assert (found["active"], found["reason"]) == (False, "eventfd: Operation not permitted")


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)  # the one here that UCX carries
@pytest.mark.parametrize(("what", "asked"), [("nothing", True), ("eventfd", False)])
def test_ucx_is_asked_for_wakeups_only_where_the_engine_waits(
    refused: Launcher, what: str, asked: bool, tmp_path: Path
) -> None:
    watcher = compiled(refused.mpi, "wakeups.c", tmp_path, "-ldl", library="wakeups.so")
    words = ("PROGRESS_ENGINE=adaptive", "PROGRESS_ENGINE_EVENTS=ucx", f"LD_PRELOAD={refused.engine}:{watcher}")
    ended = refused.run(what, "world", tasks=1, prefix=("env", *words))
    if ended.returncode == NO_FILTERS:
        pytest.skip("system calls cannot be refused here")
    assert (ended.returncode, lines(ended.stdout)) == (0, ["rank 0: received 42"]), ended.stderr
    assert ("UCX is asked for wakeups" in ended.stderr) is asked


@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
def test_a_communication_thread_that_never_sleeps_is_refused_in_a_real_time_class(
    refused: Launcher, tmp_path: Path
) -> None:
    in_class = ("chrt", "--fifo", "1")
    may = subprocess.run([*in_class, "true"], capture_output=True, check=False) if shutil.which("chrt") else None
    if may is None or may.returncode != 0:
        pytest.skip("no program can be started in a real-time class here")
    for wait, active in (("spin", False), ("epoll", True)):
        settings = (f"wait={wait}", f"report_file={tmp_path}/report.%r")
        ended = refused.run("nothing", "world", tasks=1, variant="offload", settings=settings, prefix=in_class)
        assert (ended.returncode, lines(ended.stdout)) == (0, ["rank 0: received 42"]), ended.stderr
        found = reports(tmp_path, 1)[0]
        assert found["active"] is active
        assert ("in a real-time class" in str(found["reason"])) is not active


@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
def test_without_a_doorbell_it_goes_on(refused: Launcher, tmp_path: Path) -> None:
    found = report(refused, tmp_path, "memfd_create", "world", "adaptive")
    assert (found["active"], found["doorbell"]) == (True, None)
    assert isinstance(found["events"], dict)
    assert "no doorbell: memfd_create: Operation not permitted" in found["events"]["lack"]
