# SPDX-License-Identifier: BSD-3-Clause
"""MPI may begin before main does: in a library's constructors, before the engine's own constructors have run, or while
the loader has not yet returned from opening a plug-in."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.base.mpis import Mpi

from .conftest import Launcher, compiled, lines, reports

pytestmark = pytest.mark.mpi

HOW = {"object": 1, "constructor": 2, "session": 3, "tools": 4, "within": 5}
# A thread that waits for events; with --full the thread that makes all calls (of one way also without), nothing at all,
# in the program's calls, several threads.
PRESETS = ("adaptive", *(pytest.param(name, marks=pytest.mark.full) for name in ("offload", "off", "explicit", "idle")))


# Linked each way; as a plug-in by default those two whose moments differ from that of a linked one.
WAYS = [(how, form) for form in ("linked", "plug-in") for how in HOW]
QUICK = [("object", "plug-in"), ("within", "plug-in")]


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(way, id="-".join(way), marks=[] if way in QUICK or way[1] == "linked" else pytest.mark.full)
        for way in WAYS
    ],
)
def early(
    request: pytest.FixtureRequest, mpi: Mpi, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Launcher, tuple[str, ...]]:
    """A program that begins MPI early, and its arguments."""
    how, form = request.param
    if how == "session" and mpi.name == "debian-openmpi":
        pytest.skip(f"{mpi.title} 4 has no sessions")
    folder = tmp_path_factory.mktemp("early")
    library = compiled(mpi, "early.cpp", folder, f"-DHOW={HOW[how]}", library=f"lib{how}-{mpi.name}.so")
    if form == "plug-in":
        return Launcher(mpi, compiled(mpi, "host.c", folder, "-ldl")), (str(library),)
    return Launcher(mpi, compiled(mpi, "early.cpp", folder, "-DPROGRAM", str(library), f"-Wl,-rpath,{folder}")), ()


@pytest.mark.elsewhere(preset="adaptive", early=("object", "linked"))
@pytest.mark.parametrize("preset", PRESETS)
def test_mpi_may_begin_before_main(early: tuple[Launcher, tuple[str, ...]], preset: str, tmp_path: Path) -> None:
    begins_early(early, preset, tmp_path)


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
@pytest.mark.parametrize("early", [("object", form) for form in ("linked", "plug-in")], ids="-".join, indirect=True)
def test_so_it_may_where_one_thread_makes_all_calls(early: tuple[Launcher, tuple[str, ...]], tmp_path: Path) -> None:
    begins_early(early, "offload", tmp_path)


def begins_early(early: tuple[Launcher, tuple[str, ...]], preset: str, tmp_path: Path) -> None:
    program, words = early
    bare = program.run(*words, limit=60)
    if bare.returncode:
        pytest.skip(f"{program.mpi.title} does not run it without the engine")
    result = program.run(*words, variant=preset, settings=(f"report_file={tmp_path}/report.%r",), limit=60)
    assert result.returncode == 0, result.stderr
    assert lines(result.stdout) == lines(bare.stdout) != []
    for report in reports(tmp_path):
        assert report["preset"] == preset
        assert report["pending"] == 0
        if words and "within" in words[0] and preset != "explicit":
            assert report["polls"] == 0, "a thread inside MPI may wait for the loader, which waits for the program"
