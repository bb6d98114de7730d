# SPDX-License-Identifier: BSD-3-Clause
"""What one MPI cannot bear is done for it alone, by what its library says that it is when it runs."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from harness.base.mpis import Mpi

from .conftest import MPICH_FIRST, Launcher, compiled, lines, reports, said_by_engine

pytestmark = pytest.mark.mpi

DESCRIPTIONS = {
    "MPICH Version: 5.0.2 Device: ch4:ucx": True,
    "Open MPI v5.0.11, package: Open MPI": False,
    "IBM Spectrum MPI, 10.4.0.6": False,
}


@pytest.fixture(scope="module")
def polled(mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Launcher:
    if mpi.name == "debian-openmpi":
        pytest.skip(f"{mpi.title} 4 has no partitioned operations")
    return Launcher(mpi, compiled(mpi, "polled.c", tmp_path_factory.mktemp("polled")))


def described(program: Launcher, preset: str, description: str, folder: Path) -> tuple[str, ...]:
    """What goes before a program whose MPI shall call itself so."""
    library = compiled(program.mpi, "description.c", folder, "-ldl", library="description.so")
    preload = f"LD_PRELOAD={program.engine}:{library}"
    return ("env", f"PROGRESS_ENGINE={preset}", preload, f"DESCRIPTION={description}")


@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
@pytest.mark.parametrize(
    ("what", "preset"),
    [
        ("partitioned", "thread"),
        *(pytest.param(*x, marks=pytest.mark.full) for x in (("file", "thread"), ("partitioned", "offload"))),
    ],
)
@pytest.mark.parametrize("description", DESCRIPTIONS)
def test_only_open_mpi_is_left_alone_with_partitions_and_files(
    polled: Launcher, what: str, preset: str, description: str, tmp_path: Path
) -> None:
    """An MPI that is not Open MPI takes polls whatever it is called; it is not tried with Open MPI, which does not."""
    expected = DESCRIPTIONS[description]
    if expected and polled.mpi.family == "openmpi":
        pytest.skip("it may hang or crash")
    words = described(polled, preset, description, tmp_path)
    limits = (f"SECONDS={60 if expected else 0.2}", f"FILE={tmp_path}/file")
    result = polled.run(what, prefix=(*words, *limits), limit=100)
    assert result.returncode == 0, result.stderr
    assert lines(result.stdout) == [f"rank 0: moved {int(expected)}"]


# What MPI_ERROR is after MPI_Recv and MPI_Sendrecv_replace, and whether MPI_Testsome is called beside error handlers.
CALLS = ("MPI_Recv", "MPI_Sendrecv_replace")
UNDER_OFFLOAD = {
    "MPICH Version: 5.0.2": (["kept"], ["success"], False),
    "Intel(R) MPI Library 2021.18": (["success"], ["success"], False),
    "Open MPI v5.0.11": (["kept"], ["kept"], True),
}


@pytest.mark.parametrize("mpi", ["mpich", pytest.param("intel-mpi", marks=pytest.mark.full)], indirect=True)
@pytest.mark.parametrize(
    "description", [pytest.param(x, marks=pytest.mark.full) if x.startswith("Intel") else x for x in UNDER_OFFLOAD]
)
def test_offload_asks_the_library_that_runs_what_it_is(mpi: Mpi, description: str, tmp_path: Path) -> None:
    """One engine serves all MPIs of an ABI, whichever it was compiled with."""
    statuses = Launcher(mpi, compiled(mpi, "statuses.c", tmp_path))
    words = described(statuses, "offload", description, tmp_path)
    said = statuses.run(prefix=words).stdout
    errors = [re.findall(rf"^{call}, itself: .* error (\w+)$", said, re.MULTILINE) for call in CALLS]
    handlers = Launcher(mpi, compiled(mpi, "error_handlers.c", tmp_path))
    by_testsome = "PMPI_Testsome is called" in handlers.run("returns", prefix=words).stderr
    assert (*errors, by_testsome) == UNDER_OFFLOAD[description], said


@pytest.mark.parametrize("handler", ["fatal", "returns"])
@pytest.mark.parametrize(
    "preset", ["adaptive", *(pytest.param(x, marks=pytest.mark.full) for x in ("explicit", "offload"))]
)
@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
def test_a_window_refused_at_the_raised_level_gets_a_sentence(
    mpi: Mpi, preset: str, handler: str, tmp_path: Path
) -> None:
    """Open MPI 4 ends such a program, coarray Fortran's too, and nothing said that it was the level."""
    program = Launcher(mpi, compiled(mpi, "cases.c:window_refused", tmp_path))
    words = described(program, preset, "Open MPI v4.1.4, package: Debian OpenMPI", tmp_path)
    result = program.run(handler, prefix=words)
    refused = preset == "adaptive"
    assert (result.returncode != 0) == (refused and handler == "fatal"), result.stderr
    said = [line for line in said_by_engine(result.stderr) if "refuses windows at MPI_THREAD_MULTIPLE" in line]
    assert len(said) == int(refused)
    windows = "none" if refused else "one"
    if result.returncode == 0:
        assert lines(result.stdout) == [f"rank {rank}: {windows}, handler kept" for rank in range(2)]


# Where a container's filter refuses what the engine asks of the kernel, the program runs and is told what it lacks.
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
        pytest.skip(f"{refused.mpi.title} itself needs {what}")
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
    found = report(refused, tmp_path, "shmget", "world", "adaptive")
    assert (found["active"], found["doorbell"]) == (True, None)
    assert isinstance(found["events"], dict)
    assert "no doorbell: shmget: Operation not permitted" in found["events"]["lack"]


# What an MPI sees of the engine, and a fault of an MPI that the program does not see: a library below it looks.
def observed(mpi: Mpi, what: str, folder: Path, variant: str = "offload") -> list[str]:
    """What the program prints under the engine, which must be what it prints bare."""
    program = Launcher(mpi, compiled(mpi, "observed.c", folder, "-ldl"))
    observer = compiled(mpi, "observer.c", folder, "-ldl", library="observer.so")
    bare = program.run(what)
    preload = ("env", f"PROGRESS_ENGINE={variant}", f"LD_PRELOAD={program.engine}:{observer}")
    ended = program.run(what, prefix=preload)
    assert (ended.returncode, ended.stderr) == (bare.returncode, bare.stderr) == (0, "")
    told = lines(bare.stdout)
    if mpi.family == "intel":  # whose probes now and then leave something else in a status that was made known before
        told = [line.replace("cancelled 1", "cancelled 0") for line in told]
    assert lines(ended.stdout) == told
    return lines(ended.stdout)


# Open MPI alone minds such polls: src/mpi/requests.hpp says how.
@pytest.mark.parametrize("mpi", ["openmpi"], indirect=True)
def test_no_poll_before_a_partition_is_ready_for_a_test_that_came_before_the_start(mpi: Mpi, tmp_path: Path) -> None:
    assert observed(mpi, "started", tmp_path) == ["rank 0: 0 polls before a partition was ready"]


@pytest.mark.parametrize("mpi", ["openmpi"], indirect=True)
def test_a_freed_partitioned_request_is_polled_for_at_once(mpi: Mpi, tmp_path: Path) -> None:
    for rank, line in enumerate(observed(mpi, "freed", tmp_path)):
        assert line == f"rank {rank}: 100 of 100 freed requests are polled for at once"


@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
def test_a_probe_is_never_cancelled(mpi: Mpi, tmp_path: Path) -> None:
    said = [f"rank {rank}: received {1 - rank}, cancelled 0, matched: cancelled 0" for rank in range(2)]
    assert observed(mpi, "probed", tmp_path) == said


@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
def test_the_mpi_is_asked_once_a_communicator_which_of_its_ranks_are_near(mpi: Mpi, tmp_path: Path) -> None:
    said = [f"rank {rank}: asked 0 times" for rank in range(2)]
    assert observed(mpi, "communicators", tmp_path, "adaptive") == said
