# SPDX-License-Identifier: BSD-3-Clause
"""How MPI can begin and end: sessions, forks, spawned processes, at exit."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.base.mpis import Mpi

from .conftest import (
    MPICH_FIRST,
    TIME_LIMIT,
    TIMED_OUT,
    Launcher,
    compiled,
    lines,
    reports,
    said_by_engine,
    shared_library,
)

pytestmark = pytest.mark.mpi


@pytest.fixture(scope="module")
def sessions(mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Launcher:
    if mpi.name == "debian-openmpi":
        pytest.skip(f"{mpi.title} 4 has no sessions")
    return Launcher(mpi, compiled(mpi, "sessions.c", tmp_path_factory.mktemp("sessions")))


TRACKED = {"alone": 6, "world": 4, "world-late": 2}


@pytest.mark.elsewhere(arguments="world-late")
@pytest.mark.parametrize("arguments", TRACKED)
def test_sessions(sessions: Launcher, arguments: str, tmp_path: Path) -> None:
    bare = sessions.run(*arguments.split("-"))
    if bare.returncode:
        pytest.skip(f"{sessions.mpi.title} does not run it without the engine")
    result = sessions.run(*arguments.split("-"), variant="adaptive", settings=(f"report_file={tmp_path}/report.%r",))
    assert result.returncode == 0, result.stderr
    assert lines(result.stdout) == lines(bare.stdout) != []
    for report in reports(tmp_path):
        assert report["active"], report["reason"]
        assert report["tracked"] == TRACKED[arguments]
        assert report["pending"] == 0


# What MPI_THREAD_MULTIPLE is refused to, and what comes of it where threads of the engine's need it.
REFUSED_LEVELS = {
    ("explicit", "alone", "begin"): "",
    ("explicit", "world", "begin"): "",
    ("explicit", "world-before", "begin"): "",
    ("adaptive", "world-before", "nothing"): "",
    ("adaptive", "alone", "begin"): "a session for the engine could not be opened",
    ("adaptive", "world-before", "world"): "the MPI does not begin at thread level multiple",
    ("adaptive", "world-before", "level"): "thread level serialized only, the engine needs multiple",
}
ONLY_FULL = {("explicit", "alone"), ("explicit", "world"), ("adaptive", "world-before")}


@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
@pytest.mark.parametrize(
    ("preset", "arguments", "refused"),
    [pytest.param(*x, marks=pytest.mark.full) if x[:2] in ONLY_FULL else x for x in REFUSED_LEVELS],
)
def test_sessions_get_no_other_thread_level_than_the_preset_needs(
    sessions: Launcher, preset: str, arguments: str, refused: str, tmp_path: Path
) -> None:
    """The same rule as with MPI_Init, in either order of world and session."""
    bare = sessions.run(*arguments.split("-"))
    if bare.returncode:
        pytest.skip(f"{sessions.mpi.title} does not run it without the engine")
    refuser = shared_library(sessions.mpi, "refuser.c", tmp_path)
    settings = (f"PROGRESS_ENGINE={preset}", f"PROGRESS_ENGINE_REPORT_FILE={tmp_path}/report.%r", f"REFUSER={refused}")
    result = sessions.run(*arguments.split("-"), prefix=("env", *settings, f"LD_PRELOAD={sessions.engine}:{refuser}"))
    assert result.returncode == 0, result.stderr
    # In MPICH 5 a session that asks for nothing leaves the world after it at MPI_THREAD_SINGLE; the engine's own asks.
    # MPICH 4.0's gives more than was asked for, which the library that refuses takes away.
    as_asked = re.sub("world [0-9]" if preset == "adaptive" else "world [23]", "world 1", bare.stdout)
    assert lines(result.stdout) == lines(as_asked) != []
    reason = REFUSED_LEVELS[preset, arguments, refused]
    said = said_by_engine(result.stderr)
    assert len(said) == (1 if reason else 0), result.stderr  # what holds for all one rank says
    assert all(reason in line for line in said)
    for report in reports(tmp_path):
        assert report["active"] is not bool(reason)
        assert reason in report["reason"]


# Of which the preset offload makes the calls: it comes with MPI_Init, as the first in the MPI.
HANDED_OVER = {"alone": False, "world": True, "world-late": True, "world-before": False}


@pytest.mark.elsewhere(arguments="world-late")
@pytest.mark.parametrize("arguments", HANDED_OVER)
def test_sessions_under_offload(sessions: Launcher, arguments: str, tmp_path: Path) -> None:
    """As good as with MPI_Init, or as bare, without a word."""
    bare = sessions.run(*arguments.split("-"))
    if bare.returncode:
        pytest.skip(f"{sessions.mpi.title} does not run it without the engine")
    result = sessions.run(*arguments.split("-"), variant="offload", settings=(f"report_file={tmp_path}/report.%r",))
    assert (result.returncode, result.stderr) == (0, bare.stderr)
    assert lines(result.stdout) == lines(bare.stdout) != []
    for report in reports(tmp_path):
        assert report["active"] is HANDED_OVER[arguments], report["reason"]
        if report["active"]:
            assert report["offload"]["commands"] > 0
        else:
            assert (report["reason"], report["offload"]) == (NO_SESSION, None)


NO_SESSION = "safety=offload comes with MPI_Init where no session is open"


@pytest.mark.parametrize("preset", ["adaptive", "offload"])
@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
def test_a_report_is_made_while_another_thread_waits_for_the_mpis_end(mpi: Mpi, preset: str, tmp_path: Path) -> None:
    """Not while that one begins MPI. Nothing of the engine's is held while the MPI itself ends: it may wait for other
    processes, and they for a thread that begins or ends a session here."""
    program = Launcher(mpi, compiled(mpi, "report_at_end.c", tmp_path, "-lpthread", "-ldl"))
    stand_in = compiled(mpi, "report_at_end.c", tmp_path, "-DSTAND_IN", library="stand_in.so")
    words = ("env", f"PROGRESS_ENGINE={preset}", f"LD_PRELOAD={program.engine}:{stand_in}")
    result = program.run(tasks=1, prefix=words)
    assert result.returncode == 0, result.stderr
    assert lines(result.stdout) == [
        "rank 0: afterwards: a report",
        "rank 0: another thread, at the beginning: no report now",
        "rank 0: another thread, at the end: a report",
        "rank 0: the thread that ends MPI: a report",
    ]


@pytest.mark.parametrize(("preset", "told"), [("adaptive", 1), pytest.param("explicit", 0, marks=pytest.mark.full)])
@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
def test_an_mpi_that_polls_by_itself_is_mentioned(mpi: Mpi, preset: str, told: int, tmp_path: Path) -> None:
    """Once, not by each rank. (Open MPI has no such thread, and none of these variables means anything to it.)"""
    program = Launcher(mpi, compiled(mpi, "scenarios.c", tmp_path, "-lpthread"))
    result = program.run("all", variant=preset, prefix=("env", "MPICH_ASYNC_PROGRESS=1"))
    assert result.returncode == 0, result.stderr
    said = [line for line in said_by_engine(result.stderr) if "MPICH_ASYNC_PROGRESS=1" in line]
    assert len(said) == told


FORKS = 400


@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
def test_a_thread_that_has_forked_ends_in_the_child(mpi: Mpi, tmp_path: Path) -> None:
    """Also where another thread ends at that moment: a race, for which many children are made."""
    program = Launcher(mpi, compiled(mpi, "forks.c", tmp_path, "-lpthread"))
    bare = program.run(str(FORKS), tasks=1)
    if bare.returncode or lines(bare.stdout) != [f"rank 0: {FORKS} children ended"]:
        pytest.skip(f"{mpi.title} does not run it without the engine")
    result = program.run(str(FORKS), tasks=1, variant="adaptive")
    assert (result.returncode, lines(result.stdout)) == (0, lines(bare.stdout)), result.stderr


@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
def test_a_child_may_load_libraries_while_the_engine_looks_for_a_gpus(
    mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The look takes a lock of the loader's: a race, for which many children are made."""
    program = Launcher(mpi, compiled(mpi, "forks.c", tmp_path, "-lpthread", "-ldl"))
    library = tmp_path / "any.so"
    subprocess.run(["gcc", "-shared", "-o", library, "-xc", "/dev/null"], check=True)
    monkeypatch.setenv("MV2_USE_CUDA", "1")  # no MPI here minds it
    result = program.run(str(FORKS), str(library), tasks=1, variant="thread")
    assert (result.returncode, lines(result.stdout)) == (0, [f"rank 0: {FORKS} children ended"]), result.stderr


@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
def test_sessions_may_be_refused_under_offload(sessions: Launcher) -> None:
    result = sessions.run("alone", variant="offload", settings=("strict=1",))
    assert result.returncode != 0
    assert f"progress engine: {NO_SESSION}; the program is not run without it (strict=1)." in result.stderr


GROWTH = re.compile(r"rank 0: cycles (\d+) threads (-?\d+) descriptors (-?\d+) bytes (-?\d+)")
BALANCE = "balance: {0} sessions, {0} communicators; left: sessions 0 communicators 0 groups 0 infos 0 requests 0"
WARM_UP = 10  # lives before the count begins, of cycles.c
BYTES_A_LIFE = 64  # less than the smallest object of the engine takes with what malloc adds
VARIES_BYTES = 8192  # from launch to launch without the engine, however many lives


def growth(cycling: Launcher, cycles: int, *environment: str) -> tuple[list[int], str]:
    """Threads, descriptors and bytes that so many lives of MPI leave behind; and all that was printed."""
    result = cycling.run(str(cycles), prefix=("env", *environment), tasks=1, limit=TIME_LIMIT + cycles)
    found = GROWTH.search(result.stdout)
    if not environment and not found:
        pytest.skip(f"{cycling.mpi.title} does not begin {cycles} times without the engine")
    assert result.returncode == 0 and found, result.stdout + result.stderr
    return [int(number) for number in found.groups()[1:]], result.stdout


# The engine has a session of its own beside the program's: what the MPI loses by each counts twice.
@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
@pytest.mark.parametrize("cycles", [20, pytest.param(1000, marks=pytest.mark.full)])
@pytest.mark.timeout(600)
def test_starts_and_stops_leave_nothing_behind(sessions: Launcher, cycles: int, tmp_path: Path) -> None:
    if sessions.mpi.family == "openmpi":
        pytest.skip("Open MPI 5.0.11 by itself damages its heap when MPI begins anew, and then crashes or hangs")
    cycling = Launcher(sessions.mpi, compiled(sessions.mpi, "cycles.c", tmp_path))
    preload = f"LD_PRELOAD={sessions.engine}:{shared_library(sessions.mpi, 'balance.c', tmp_path)}"
    bare, _ = growth(cycling, cycles)
    with_engine, output = growth(cycling, cycles, preload, "PROGRESS_ENGINE=idle")
    assert with_engine[:2] == bare[:2]
    assert with_engine[2] <= 2 * max(bare[2], 0) + BYTES_A_LIFE * cycles + VARIES_BYTES
    assert BALANCE.format(cycles + WARM_UP) in output


LEFT = re.compile(r"balance: .* left: (.*)")


@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
@pytest.mark.parametrize("preset", [pytest.param("idle", marks=pytest.mark.full), "adaptive", "offload"])
def test_mpi_may_end_at_exit(mpi: Mpi, preset: str, tmp_path: Path) -> None:
    program = Launcher(mpi, compiled(mpi, "cases.c:late_finalize", tmp_path))
    preload = f"LD_PRELOAD={program.engine}:{shared_library(mpi, 'balance.c', tmp_path)}"
    bare = program.run(tasks=1)  # of several ranks MPICH's launcher loses what they say after MPI_Finalize
    settings = (f"PROGRESS_ENGINE={preset}", f"PROGRESS_ENGINE_REPORT_FILE={tmp_path}/report.%r")
    result = program.run(prefix=("env", preload, *settings), tasks=1)
    assert (result.returncode, result.stderr) == (bare.returncode, bare.stderr) == (0, "")
    assert lines(result.stdout) == lines(bare.stdout) != []
    assert LEFT.findall(result.stdout) == ["sessions 0 communicators 0 groups 0 infos 0 requests 0"]
    (report,) = reports(tmp_path, 1)
    assert report["preset"] == preset
    assert (report["active"], report["reason"], report["pending"]) == (True, "", 0)


@pytest.mark.parametrize("mpi", ["openmpi"], indirect=True)
@pytest.mark.parametrize(
    "preset", ["adaptive", *(pytest.param(x, marks=pytest.mark.full) for x in (None, "thread", "offload"))]
)
def test_who_survives_a_failed_process_is_told_and_goes_on(mpi: Mpi, preset: str | None, tmp_path: Path) -> None:
    """User-level failure mitigation. Its launcher may hang at the end, also without the engine."""

    def with_failures(*how: Any) -> list[str]:
        launcher, *words = mpi.launch_command(*how)
        return [launcher, "--with-ft", "ulfm", *words]

    program = Launcher(mpi, compiled(mpi, "cases.c:survivors", tmp_path))
    program = replace(program, mpi=replace(mpi, command_of=lambda _, *how: with_failures(*how)))
    said = program.run(variant=preset, tasks=3, limit=20).stdout
    expected = [(f"rank {rank}: received {2 - rank}, 2 are left", f"rank {rank}: told 1") for rank in (0, 1)]
    assert lines(said) == [*expected[0], *expected[1]]


@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
@pytest.mark.parametrize("preset", ["off", "adaptive", "offload"])
def test_a_program_that_never_ends_mpi_gets_its_report(mpi: Mpi, preset: str, tmp_path: Path) -> None:
    """At its exit, once, and none of a child that it forked. One rank: of several MPICH's launcher kills those that are
    left when the first has gone so."""
    program = Launcher(mpi, compiled(mpi, "cases.c:unended", tmp_path))
    settings = (f"report_file={tmp_path}/report.%r.%p", "report=1")
    result = program.run("forks", variant=preset, settings=settings, tasks=1)
    assert lines(result.stdout) == ["rank 0: received 0"]
    assert result.stderr.count(f"progress engine: {preset} on 1 rank: ") == 1
    (file,) = tmp_path.glob("report.*")
    report = json.loads(file.read_text())
    assert (report["preset"], report["active"]) == (preset, preset != "off")


@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
@pytest.mark.parametrize(
    "preset", ["adaptive", "offload", *(pytest.param(name, marks=pytest.mark.full) for name in ("thread", "idle"))]
)
def test_mpi_may_end_in_the_destructor_of_a_static_object(mpi: Mpi, preset: str, tmp_path: Path) -> None:
    program = Launcher(mpi, compiled(mpi, "static_finalize.cpp", tmp_path))
    bare = program.run()
    if bare.returncode == TIMED_OUT and mpi.name == "debian-mpich":
        pytest.skip(f"{mpi.title} 4.0 hangs without the engine where its ranks end one after the other")
    result = program.run(variant=preset, settings=(f"report_file={tmp_path}/report.%r",))
    assert (result.returncode, result.stderr) == (bare.returncode, bare.stderr) == (0, "")
    assert lines(result.stdout) == lines(bare.stdout) != []
    for report in reports(tmp_path):
        assert report["preset"] == preset
        assert (report["active"], report["reason"], report["pending"]) == (True, "", 0)


ENTERED = re.compile(r"rank (\d): called at (\d+), the MPI at (\d+)")


@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
@pytest.mark.parametrize("preset", [pytest.param("timer", marks=pytest.mark.full), "offload"])
@pytest.mark.parametrize(
    "description", ["MPICH Version: 4.1.2 Device: ch4:ucx", "MPICH Version: 4.2.0 Device: ch4:ucx"]
)
def test_an_mpi_that_ends_its_ranks_only_together(mpi: Mpi, preset: str, description: str, tmp_path: Path) -> None:
    """As MPICH before 4.2 over UCX: rank 1 comes late to MPI_Finalize.

    What it does between the engine's barrier and the MPI's own end hangs Debian's MPICH where endpoints are closed.
    """
    program = Launcher(mpi, compiled(mpi, "latecomer.c", tmp_path))
    stand_in = compiled(mpi, "latecomer.c", tmp_path, "-DSTAND_IN", library="stand_in.so")
    words = (f"PROGRESS_ENGINE={preset}", f"DESCRIPTION={description}", f"LD_PRELOAD={program.engine}:{stand_in}")
    linger = ("LINGER=1",) if "4.1.2" in description else ()
    late_s = "0.5" if linger else "60"  # rank 0 waits for rank 1; or has entered sooner, however busy the machine is
    result = program.run(late_s, prefix=("env", *words, f"ENTERED={tmp_path}/entered", *linger))
    assert result.returncode == 0, result.stderr
    entered = {rank: (int(called), int(went_on)) for rank, called, went_on in ENTERED.findall(result.stdout)}
    waited = entered["0"][1] >= entered["1"][0]
    assert waited is ("4.1.2" in description)


@pytest.mark.elsewhere(child_has_engine=True)
@pytest.mark.parametrize("child_has_engine", [pytest.param(False, marks=pytest.mark.full), True])
def test_spawned_processes(mpi: Mpi, child_has_engine: bool, tmp_path: Path) -> None:
    launcher = Launcher(mpi, compiled(mpi, "cases.c:spawn", tmp_path))
    words = (str(launcher.program),)
    bare = launcher.run(*words, tasks=1)
    if bare.returncode:
        pytest.skip(f"{mpi.title} spawns nothing here without the engine")
    child = (str(launcher.progress_run), "--variant", "adaptive", "--", *words) if child_has_engine else words
    result = launcher.run(*child, variant="adaptive", settings=(f"report_file={tmp_path}/report.%r",), tasks=1)
    assert result.returncode == 0, result.stderr
    assert lines(result.stdout) == lines(bare.stdout) != []
    assert reports(tmp_path, 1)[0]["tracked"] == 2
