# SPDX-License-Identifier: BSD-3-Clause
"""What the report says of a run: what woke the engine, for how long it could help, and one sentence of advice."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from harness.base.mpis import Mpi

from .conftest import MPICH_FIRST, Launcher, compiled, reports, said_by_engine

pytestmark = [pytest.mark.mpi, pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)]

LINE = re.compile(
    r"^progress engine: rank 0: (\w+): .*\(\d+ by calls, \d+ by traffic, \d+ by neighbours, \d+ by timer\).*"
    r"thread level (\w+) asked and (\w+) had, "
    r"(?:MPICH Version: |Open MPI v|Intel\(R\) MPI Library )[\d.]+\S*(?: for Linux\* OS)? "
    r"by libmpi(?:ch)?\.so\.\d+, over .+$",
    re.MULTILINE,
)
SENTENCE = re.compile(
    r"^progress engine: \w+ on \d+ ranks?: (?:at least )?[^;]* could be won[^;]*; [^;]*; it cost [^;]* of CPU and "
    r"[^;]* context switches[^;]* a rank; (.+)$",
    re.MULTILINE,
)
LEAVE_IT_OFF = "nothing that needs progress was pending while the program computed: leave it off"
COMPUTING = 0.25  # seconds of gpu.c's half second beside a receive, at least: what the last wake saw


@pytest.fixture
def computing(mpi: Mpi, tmp_path: Path) -> Launcher:
    """A receive is pending while the program computes, and nothing arrives meanwhile."""
    return Launcher(mpi, compiled(mpi, "gpu.c", tmp_path, "-ldl"))


# It waits at once for what it starts, and computes while nothing is pending.
WAITING = r"""
#include <mpi.h>
int main(int argc, char** argv) {
  int in, out = 1;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  for (int i = 0; i < 300; ++i) {
    for (const double end = MPI_Wtime() + 0.001; MPI_Wtime() < end;) {
    }
    MPI_Irecv(&in, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request);
    MPI_Send(&out, 1, MPI_INT, 0, 0, MPI_COMM_SELF);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  return MPI_Finalize();
}
"""


@pytest.fixture
def waiting(mpi: Mpi, tmp_path: Path) -> Launcher:
    source = tmp_path / "waiting.c"
    source.write_text(WAITING)
    return Launcher(mpi, compiled(mpi, str(source), tmp_path))


def said(
    launcher: Launcher, variant: str, folder: Path, tasks: int, *more: str
) -> tuple[tuple[str, ...], dict[str, object]]:
    settings = ("report=full", f"report_file={folder}/report.%r", *more)
    result = launcher.run(variant=variant, settings=settings, tasks=tasks)
    said = SENTENCE.findall(result.stderr)
    found = LINE.search(result.stderr)
    assert result.returncode == 0 and found and len(said) == 1, result.stderr
    return (*found.groups(), said[0]), reports(folder, tasks)[0]


@pytest.mark.parametrize(
    ("variant", "level"), [("timer", "multiple"), ("adaptive", "multiple"), ("thread", "multiple")]
)
def test_a_run_that_computes_beside_a_receive(computing: Launcher, variant: str, level: str, tmp_path: Path) -> None:
    (name, asked, had, advice), report = said(computing, variant, tmp_path, 1, "eager_bytes=0")
    assert (name, asked, had) == (variant, "single", level)
    assert advice == report["advice"]
    lifetime = report["armed_s"] + report["disarmed_s"]  # type: ignore[operator]
    assert COMPUTING < report["pending_while_computing_s"] <= lifetime  # type: ignore[operator]
    assert "was pending" not in advice


def test_a_small_receive_needs_no_progress(computing: Launcher, tmp_path: Path) -> None:
    (_, _, _, advice), report = said(computing, "adaptive", tmp_path, 1)
    assert report["pending_while_computing_s"] == 0
    assert advice == LEAVE_IT_OFF


def test_a_run_that_waits_at_once_is_told_that_nothing_can_be_won(waiting: Launcher, tmp_path: Path) -> None:
    (_, _, _, advice), report = said(waiting, "timer", tmp_path, 1)
    assert report["tracked"] == 300
    assert advice == LEAVE_IT_OFF


def test_calls_that_are_handed_over_are_counted(computing: Launcher, tmp_path: Path) -> None:
    (_, asked, had, _), report = said(computing, "offload", tmp_path, 1)
    assert (asked, had) == ("single", "serialized")
    assert report["offload"]["commands"] > 0  # type: ignore[index]
    assert report["pending_while_computing_s"] > COMPUTING / 2  # type: ignore[operator]
    assert report["wake_sources"]["timer"] > 0  # type: ignore[index]


def test_one_sentence_is_of_all_ranks_and_comes_first(launcher: Launcher, tmp_path: Path) -> None:
    settings = ("report=full", f"report_file={tmp_path}/report.%r")
    result = launcher.run("all", variant="adaptive", settings=settings)
    said = said_by_engine(result.stderr)
    assert result.returncode == 0
    assert [line.split(": ")[1] for line in said] == ["adaptive on 2 ranks", "rank 0", "rank 1"]
    files = sorted(tmp_path.glob("report.*"))
    asked: list[str | Path] = [launcher.progress_run.with_name("progress-info"), "--job", *files]
    again = subprocess.run(asked, capture_output=True, text=True, check=True, timeout=60)
    assert again.stdout == said[0] + "\n"
    silent = launcher.run("all", variant="adaptive", settings=("report=1",))
    assert [line.split(": ")[1] for line in said_by_engine(silent.stderr)] == ["adaptive on 2 ranks"]


def test_progress_run_in_front_of_the_launcher_hears_all_ranks(launcher: Launcher) -> None:
    command = launcher.mpi.launch_command(2, 2)
    options = ("--variant", "adaptive", "--report", "--")
    words: list[str | Path] = [launcher.progress_run, *options, *command, launcher.program, "all"]
    environment = os.environ | launcher.mpi.environment("tcp")
    result = subprocess.run(words, env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert result.returncode == 0, result.stderr
    (said,) = said_by_engine(result.stderr)
    assert said.startswith("progress engine: adaptive on 2 ranks: ")


def test_a_rank_that_dies_is_counted_and_keeps_nobody(launcher: Launcher) -> None:
    """Its program's end is its own: here only where the launcher does not mind."""
    last = 'case "${PMI_RANK-$OMPI_COMM_WORLD_RANK}" in 1) unset LD_PRELOAD;; esac; exec "$@"'
    words = (str(launcher.progress_run), "--variant", "adaptive", "--report", "--", "sh", "-c", last, "-")
    result = launcher.run("all", prefix=words)
    assert result.returncode == 0, result.stderr
    (said,) = said_by_engine(result.stderr)
    assert said.startswith("progress engine: adaptive on rank 0 of 2: ")
    assert said.endswith("; 1 more ended without a report")


# Nothing that it starts is counted, and others may reach into its memory at any time.
WINDOW = r"""
#include <mpi.h>
int main(int argc, char** argv) {
  int* memory;
  MPI_Win window;
  MPI_Init(&argc, &argv);
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  for (const double end = MPI_Wtime() + 0.05; MPI_Wtime() < end;) {
  }
  MPI_Win_free(&window);
  return MPI_Finalize();
}
"""


def test_a_run_with_windows_is_not_told_to_leave_it_off(mpi: Mpi, tmp_path: Path) -> None:
    source = tmp_path / "window.c"
    source.write_text(WINDOW)
    program = Launcher(mpi, compiled(mpi, str(source), tmp_path))
    (_, _, _, advice), report = said(program, "timer", tmp_path, 1)
    assert (report["tracked"], report["progress_users"]) == (0, 0)
    assert "its windows" in advice
    assert "leave it off" not in advice


# Rank 0 waits for what comes half a second later.
LATE = r"""
#include <mpi.h>
#include <unistd.h>
int main(int argc, char** argv) {
  int rank, in, out = 1;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    MPI_Irecv(&in, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    usleep(500000);
    MPI_Send(&out, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  }
  return MPI_Finalize();
}
"""


def test_who_sleeps_in_a_wait_does_not_compute(mpi: Mpi, tmp_path: Path) -> None:
    source = tmp_path / "late.c"
    source.write_text(LATE)
    program = Launcher(mpi, compiled(mpi, str(source), tmp_path))
    _, report = said(program, "idle", tmp_path, 2)
    assert report["managed_sleeps"] > 0  # type: ignore[operator]
    assert report["world_size"] == 2
    assert report["armed_s"] > COMPUTING  # type: ignore[operator]
    assert report["pending_while_computing_s"] < report["armed_s"] / 4  # type: ignore[operator]


# As languages do that load a library by its name: what the library calls is found in its own libraries first.
DEEP = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
int main(int argc, char** argv) {
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_DEEPBIND);
  int (*run)(void) = library ? (int (*)(void))dlsym(library, "run") : 0;
  return run ? run() : 3;
}
"""
DEEP_LIBRARY = r"""
#include <mpi.h>
int run(void) {
  MPI_Init(0, 0);
  return MPI_Finalize();
}
"""


def test_an_mpi_that_began_unseen_is_not_called_one_that_never_began(mpi: Mpi, tmp_path: Path) -> None:
    for name, text in (("deep.c", DEEP), ("deep_library.c", DEEP_LIBRARY)):
        (tmp_path / name).write_text(text)
    library = compiled(mpi, str(tmp_path / "deep_library.c"), tmp_path, library="libdeep.so")
    program = Launcher(mpi, compiled(mpi, str(tmp_path / "deep.c"), tmp_path, "-ldl"))
    result = program.run(str(library), variant="adaptive", settings=("report=1",), tasks=1)
    assert result.returncode == 0
    assert "MPI began unseen by the engine" in result.stderr
    assert "nothing to help" not in result.stderr
