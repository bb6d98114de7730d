# SPDX-License-Identifier: BSD-3-Clause
"""The profiler finds each call site of a program with known answers, with the times that the program itself took."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from analysis import where
from analysis.statistics.interval import difference_of_medians
from harness.base.mpis import Mpi
from harness.job import addresses
from harness.setup import build

from .conftest import MPICH_FIRST, PROGRAMS, TIME_LIMIT, Launcher, compiled, lines
from .known_answers import IN_C, IN_PYTHON, MPI_4, check
from .third_party.mpi4py_suite import environment as mpi4py_of

pytestmark = pytest.mark.mpi


@pytest.fixture(scope="module")
def program(mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Launcher]:
    folder = tmp_path_factory.mktemp("profile")
    return lambda source: Launcher(mpi, compiled(mpi, source, folder, "-g", "-fno-inline", "-lpthread"))


def run(
    launcher: Launcher, folder: Path, *arguments: str, variant: str = "off", settings: tuple[str, ...] = (),
    tasks: int = 2,
) -> tuple[str, where.Where]:  # fmt: skip
    """What the program printed, and its profiles."""
    done = launcher.run(*arguments, variant=variant, settings=(f"profile={folder}", *settings), tasks=tasks)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout, where.read(folder, addresses.source_lines)


MUCH = 1.2 * where.MOSTLY  # of a wait, so that both sides must tell it


def longest(found: where.Where, function: str) -> where.Row:
    """The wait of a function's."""
    rows = [row for row in found.rows if row.start and row.start.place.startswith(f"{function}()")]
    return max(rows, key=lambda row: row.waited_s)


@pytest.mark.parametrize("variant", ["off", pytest.param("adaptive", marks=pytest.mark.full)])
@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
def test_each_call_site_has_its_times(program: Callable[..., Launcher], tmp_path: Path, variant: str) -> None:
    said, found = run(program("where.c"), tmp_path, variant=variant)
    assert check(said, found, "where.c") - MPI_4 == IN_C
    told = re.search(r"^site 1 late .* waited (\S+) .* late (\S+) ", said, re.MULTILINE)
    assert told
    if float(told[2]) > MUCH * float(told[1]):  # else it waited for a CPU that others had
        assert longest(found, "late").cure == "its partner is late: balance the load"
    assert {row.start.call for row in found.blocking if row.start} >= {"MPI_Recv", "MPI_Barrier"}
    (freed,) = {row.count for row in found.every if row.start and row.start.call == "MPI_Cancel"}
    assert freed == 5, "it is a call of its own, and starts nothing"
    parts = [row for row in found.rows if row.start and row.start.place.startswith("partitioned()") and row.completion]
    assert {row.bytes / row.count for row in parts} <= {4 << 20}


@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
def test_the_same_of_cpp(program: Callable[..., Launcher], tmp_path: Path) -> None:
    """Whose functions have parameters and a namespace in their names."""
    head, functions, main = re.split(r"^(?=enum|int main)", (PROGRAMS / "where.c").read_text(), flags=re.MULTILINE)
    source = tmp_path / "where.cpp"
    source.write_text(f"{head}namespace halo {{\n{functions}}}\nusing namespace halo;\n{main}")
    said, found = run(program(str(source)), tmp_path)
    assert check(said, found, "where.cpp", "halo::{}") - MPI_4 == IN_C


@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
def test_operations_of_every_kind_have_the_same_results(program: Callable[..., Launcher], tmp_path: Path) -> None:
    launcher = program("operations.c")
    # one at a time: Intel MPI runs each, and not all in one process
    for kind in ("collectives", "persistent_collectives", "both_ways", "windows", "communicators"):
        bare = lines(launcher.run(kind).stdout)
        said, found = run(launcher, tmp_path / kind, kind)
        assert bare
        assert lines(said) == bare
        assert all(0 <= row.winnable_s <= max(row.waited_s, row.inside_s) + 1e-9 for row in found.rows)


@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
def test_the_same_of_python(mpi: Mpi, tmp_path: Path) -> None:
    run_by = [str(mpi.build_dir / "bin" / "progress-run"), "--variant", "off", "--profile", str(tmp_path / "profile")]
    command = [*mpi.launch_command(2, 2), *run_by, "--", sys.executable, str(PROGRAMS / "python_where.py")]
    ended = subprocess.run(
        ["timeout", "-k", "2", str(TIME_LIMIT), *command], env=os.environ | mpi4py_of(mpi), capture_output=True,
        text=True, check=False, stdin=subprocess.DEVNULL, cwd=tmp_path,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stdout + ended.stderr
    found = where.read(tmp_path / "profile", addresses.source_lines)
    assert check(ended.stdout, found, "python_where.py") == IN_PYTHON


@pytest.mark.parametrize(
    ("begins", "settings", "places"),
    [
        ("world", (), {"halo() phases.c:{halo}"}),
        ("world", ("profile_depth=2",), {"halo() phases.c:{halo} < solve() phases.c:{solve}",
                                         "halo() phases.c:{halo} < assemble() phases.c:{assemble}"}),
        ("world", ("profile_regions=names",), {"halo() phases.c:{halo} in solver",
                                               "halo() phases.c:{halo} in assembly"}),
        ("session", ("profile_regions=levels",), {"halo() phases.c:{halo} in 7", "halo() phases.c:{halo}"}),
    ],
    ids=("one frame", "two frames", "names", "levels"),
)  # fmt: skip
@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
def test_who_calls_a_wrapper_is_told_apart(
    program: Callable[..., Launcher], tmp_path: Path, begins: str, settings: tuple[str, ...], places: set[str]
) -> None:
    """By its caller, or by the region that the program is in; of a program that begins by a session alone, too."""
    said, found = run(program("phases.c"), tmp_path, begins, settings=settings)
    if "no sessions" in said:
        pytest.skip("this MPI has no sessions")
    numbers = dict(line.split()[1:] for line in lines(said))
    sites = [row for row in found.every if row.start and row.start.call == "MPI_Irecv"]
    assert {str(row.start).removeprefix("MPI_Irecv ") for row in sites} == {one.format(**numbers) for one in places}
    assert sum(row.count for row in sites) == 2 * 2 * 5
    assert [rank.rank for rank in found.ranks] == [0, 1]
    assert found.known == 1.0


@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
def test_a_profile_is_bounded(program: Callable[..., Launcher], tmp_path: Path) -> None:
    """More call sites than the table holds, more messages pending at once than are numbered, and many calls."""
    said, found = run(program("cases.c:many"), tmp_path, settings=("profile_depth=64",), tasks=1)
    sites, pending, calls = (int(word) for word in lines(said)[0].split()[2:])
    (profile,) = found.profiles
    assert len(profile["operations"]) == 4096 + 1, "and what came after together"
    assert sites > 4096
    assert sum(row.count for row in found.every) == sites + 2 * pending + calls
    (after,) = [row for row in found.every if row.start is None]
    assert after.count > sites - 4096
    assert sum(len(one["starts"]) for one in profile["streams"]) == 1 << 17 < 2 * pending
    assert len(profile["waits"]) <= 1 << 16


# MPICH takes each rank for a node here, and compares clocks of nodes alone.
AWAY = "exec unshare --time --monotonic {seconds} --fork --kill-child"  # a clock that shows so much more


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
def test_clocks_that_differ_are_compared(program: Callable[..., Launcher], tmp_path: Path) -> None:
    if subprocess.run([*AWAY.format(seconds=1).split()[1:], "true"], check=False, capture_output=True).returncode:
        pytest.skip("no time namespaces here")
    launcher = program("where.c")
    away = tmp_path / "away"
    rank = "${PMI_RANK:-${OMPI_COMM_WORLD_RANK:-$PMIX_RANK}}"
    away.write_text(f'#!/bin/sh\n[ "{rank}" = 0 ] && {AWAY.format(seconds=5000)} "$@"\nexec "$@"\n')
    away.chmod(0o755)
    settings = (f"profile={tmp_path}", "profile_clocks=1")
    done = launcher.run(variant="off", settings=settings, prefix=(str(away),))
    assert done.returncode == 0, done.stderr
    found = where.read(tmp_path, addresses.source_lines)
    first, second = found.profiles
    assert abs(first["began_ns"] - second["began_ns"]) < 1e9 * found.elapsed_s
    assert 0 < second["clock_error_ns"] < 1e9 * found.elapsed_s
    assert abs(second["pace"] - 1) < 0.1
    assert longest(found, "late").cure == "its partner is late: balance the load"


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
def test_a_program_that_does_not_finalize_leaves_its_profile(program: Callable[..., Launcher], tmp_path: Path) -> None:
    program("cases.c:unended").run(variant="off", settings=(f"profile={tmp_path}",))
    assert where.read(tmp_path, addresses.source_lines).ranks


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
def test_a_folder_that_is_none_is_said(program: Callable[..., Launcher], tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = program("operations.c").run("both_ways", variant="off", settings=(f"profile={tmp_path}/file",))
    assert done.returncode == 0
    assert "cannot be written" in done.stderr


# Of overlap-ratio, collective-overlap, minighost-nonblocking and fft a quick point each, with a fixed number
# of repetitions, so that every launch does the same.
POINTS = {
    "microbench overlap": "pattern=both,size_bytes=4194304,work_units=20000",
    "microbench collective-overlap": "collective=ialltoall,size_bytes=1048576,work_units=20000",
    "minighost solve": "mode=overlapped,nx=64,ny=64,nz=64,variables=20,steps=2",
    "pencil_fft transform": "nx=64,ny=64,nz=64,fields=4,mode=pipelined",
}
LAUNCHES = 5


@pytest.mark.full
@pytest.mark.timeout(900)
@pytest.mark.parametrize("workload", POINTS)
@pytest.mark.parametrize("mpi", ["mpich", "openmpi"], indirect=True)
def test_the_engine_wins_no_more_than_the_bound(mpi: Mpi, tmp_path: Path, workload: str) -> None:
    """So far as its launches can tell: the least that the engine may have won, over launches that alternate."""
    name, study = workload.split()
    build.ensure(mpi, name, "progress_profile")
    arguments = [study, "--point", POINTS[workload], "--output", "/dev/null", "--time-box-s", "600",
                 "--min-samples", "8", "--max-samples", "8", "--warmup", "1"]  # fmt: skip
    launcher = Launcher(mpi, mpi.build_dir / "bin" / name)
    found: dict[str, list[where.Where]] = {"off": [], "adaptive": []}
    for launch in range(LAUNCHES):
        for variant, kept in found.items():
            kept.append(run(launcher, tmp_path / f"{variant}.{launch}", *arguments, variant=variant)[1])
    whole = {variant: [[one.elapsed_s] for one in kept] for variant, kept in found.items()}
    won = difference_of_medians(whole["off"], whole["adaptive"])
    bound = max(one.worst.winnable_s for one in found["off"])
    assert won.low <= bound, f"won {won}, at most {bound}"


# A profiler below the engine gets what the program tells it: MPI_Pcontrol has variable arguments.
@pytest.mark.mpi
@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
def test_a_profiler_gets_the_names_of_regions(mpi: Mpi, tmp_path: Path) -> None:
    program = Launcher(mpi, compiled(mpi, "cases.c:regions", tmp_path))
    tool = compiled(mpi, "tool.c", tmp_path, library="tool.so")

    def told(*variant: str) -> list[str]:
        libraries = ":".join([str(program.engine)] * len(variant) + [str(tool)])
        settings = [f"PROGRESS_ENGINE={name}" for name in variant]
        result = program.run(prefix=("env", *settings, f"LD_PRELOAD={libraries}"), tasks=1)
        assert result.returncode == 0, result.stderr
        return lines(result.stdout)

    bare = told()
    assert any("level 2, region solver, 1, 2, 3, 4, 0.5, 1.5" in line for line in bare)
    for variant in ("off", "adaptive", "offload"):
        assert told(variant) == bare, variant
