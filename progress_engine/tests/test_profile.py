# SPDX-License-Identifier: BSD-3-Clause
"""The profiler finds each call site of a program with known answers, with the times that the program itself took."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from analysis import where
from harness.base.mpis import Mpi
from harness.job import addresses

from .conftest import MPICH_FIRST, PROGRAMS, TIME_LIMIT, Launcher, compiled, lines
from .third_party.mpi4py_suite import environment as mpi4py_of

pytestmark = pytest.mark.mpi
SITE = re.compile(r"^site (\d) (\w+) (\w+):(\d+) count (\d+) computed ([\d.]+) waited ([\d.]+) whole ([\d.]+)$",
                  re.MULTILINE)  # fmt: skip


CLOCKS = 1e-4  # seconds by which the program's clock and the profiler's may differ over a run


@pytest.fixture(scope="module")
def program(mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Launcher]:
    folder = tmp_path_factory.mktemp("profile")
    return lambda source, flag="-g": Launcher(mpi, compiled(mpi, source, folder, flag, "-lpthread"))


def run(launcher: Launcher, folder: Path, *arguments: str, variant: str = "off") -> tuple[str, where.Where]:
    """What the program printed, and its profiles."""
    done = launcher.run(*arguments, variant=variant, settings=(f"profile={folder}",))
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout, where.read(folder, addresses.places)


def rows(folder: Path) -> list[tuple[int, dict[str, Any]]]:
    """All rows of all ranks, as they were written, with the names of their places."""
    profiles = [json.loads(file.read_text()) for file in folder.glob(where.PATTERN)]
    return [(profile["rank"], row) for profile in profiles for row in profile["operations"]]


@pytest.mark.parametrize("variant", ["off", pytest.param("adaptive", marks=pytest.mark.full)])
@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
def test_each_call_site_has_its_times(program: Callable[..., Launcher], tmp_path: Path, variant: str) -> None:
    said, found = run(program("where.c"), tmp_path, variant=variant)
    known = {(int(rank), name): rest for rank, name, *rest in SITE.findall(said)}
    names = addresses.places({(r["start"]["file"], r["start"]["offset"]) for _, r in rows(tmp_path) if r["start"]})

    def site(rank: int, name: str) -> list[dict[str, Any]]:
        """Its rows, by the line that the program says."""
        function, line, *_ = known[rank, name]
        place = f"{function}() where.c:{line}"
        return [r for of, r in rows(tmp_path)
                if of == rank and r["start"] and names[r["start"]["file"], r["start"]["offset"]] == place]  # fmt: skip

    assert len(found.ranks) == 2
    assert sorted(known) == [(0, "exchange"), (0, "persistent"), (0, "window"),
                             (1, "blocking"), (1, "exchange"), (1, "late"), (1, "persistent")]  # fmt: skip
    for (rank, name), (_, _, *numbers) in known.items():
        count, computed, waited, whole = map(float, numbers)
        mine = site(rank, name)
        sums = {key: sum(row[key] for row in mine) for key in ("count", "inside_s", "computed_s", "waited_s")}
        assert sums["count"] == count, (rank, name)
        hidden = "waited_s" if name == "window" else "computed_s"  # of a window the target's progress counts
        assert all(row["winnable_s"] <= min(row[hidden], row["waited_s"]) + 1e-9 for row in mine)
        # The program's clock stands around the calls, and within what is computed: so the one is never less, and the
        # other never more than the profiler's, whatever else this machine does.
        share = 2 if name == "exchange" else 1  # its two requests wait in one call
        inside = sums["inside_s"] if name == "blocking" else share * sums["waited_s"]
        least = waited / 2 if name in ("late", "blocking") else 0  # these wait for a tenth of a second
        assert least <= inside <= waited + CLOCKS, (rank, name)
        if name == "blocking":
            assert all(row["completion"] is None for row in mine)
        else:
            assert computed - CLOCKS <= sums["computed_s"] <= whole - inside + CLOCKS, (rank, name)
    late = next(row for row in found.rows if row.start and row.start.place.startswith("late()"))
    assert late.late_s > 0.5 * late.waited_s
    assert late.cure == "its partner is late: balance the load"
    assert found.known == 1.0
    assert {row.start.call for row in found.blocking if row.start} >= {"MPI_Recv", "MPI_Barrier"}


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
def test_a_call_from_python_has_the_line_of_its_script(mpi: Mpi, tmp_path: Path) -> None:
    run_by = [str(mpi.build_dir / "bin" / "progress-run"), "--variant", "off", "--profile", str(tmp_path / "profile")]
    command = [*mpi.launch_command(2, 2), *run_by, "--", sys.executable, str(PROGRAMS / "python_where.py")]
    ended = subprocess.run(
        ["timeout", "-k", "2", str(TIME_LIMIT), *command], env=os.environ | mpi4py_of(mpi), capture_output=True,
        text=True, check=False, stdin=subprocess.DEVNULL, cwd=tmp_path,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stdout + ended.stderr
    found = where.read(tmp_path / "profile", addresses.places)
    both = ((row.start, row.completion) for row in [*found.rows, *found.blocking])
    sites = {f"{site.call.removesuffix('_c')} {site.place}" for pair in both for site in pair if site}
    said = {line.partition(": ")[2] for line in lines(ended.stdout)}
    assert len(said) == 3
    assert said <= sites


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
def test_a_program_that_does_not_finalize_leaves_its_profile(program: Callable[..., Launcher], tmp_path: Path) -> None:
    program("unended.c").run(variant="off", settings=(f"profile={tmp_path}",))
    assert where.read(tmp_path, addresses.places).ranks


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
def test_a_folder_that_is_none_is_said(program: Callable[..., Launcher], tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = program("operations.c").run("both_ways", variant="off", settings=(f"profile={tmp_path}/file",))
    assert done.returncode == 0
    assert "cannot be written" in done.stderr
