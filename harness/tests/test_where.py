# SPDX-License-Identifier: BSD-3-Clause
"""./bench where: a program is run, its calls are told; and the same of a folder of profiles."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from analysis import where
from harness.base.mpis import MPIS
from harness.base.paths import ROOT
from harness.commands import own_program
from harness.job import addresses, records
from harness.job.records import Folders, RecordFile
from harness.job.session import Session, facts_of
from harness.sessions import run as runs
from harness.tests import compiler
from harness.tests.sessions import bench, facts, latest
from progress_engine.tests.known_answers import IN_C, MPI_4, check

pytestmark = pytest.mark.mpi


def test_a_program_is_told_which_of_its_calls_wait(program: str, results: Path, tmp_path: Path) -> None:
    out = tmp_path / "where.md"
    words = ("--mpi", "mpich", "--system", "local", "-n", "2", "--depth", "1", "--regions", "levels")
    done = bench("where", *words, "--out", str(out), "--", program)
    assert done.returncode == 0, done.stderr
    said = out.read_text()
    assert "can be won by progress" in said.splitlines()[0]
    assert "| MPI_Irecv main() app | MPI_Waitall main() app | 1 x 1 MB |" in said
    session = latest(results)
    assert facts(session)["state"] == "complete"
    settings = {"profile_clocks": "1", "profile_depth": "1", "profile_regions": "levels"}
    assert facts(session)["request"]["program"]["profiled"] == settings
    html = tmp_path / "where.html"
    again = bench("where", "--json", "--html", str(html), str(session))
    assert again.returncode == 0, again.stderr
    goes_on = f"./bench run --resume {session.name} && ./bench where {session}"
    assert runs.resuming(Session(session, facts_of(session))) == goes_on
    told = json.loads(again.stdout)
    assert "can be won by progress" in html.read_text()
    assert [rank["rank"] for rank in told["ranks"]] == [0, 1]
    assert all(rank["elapsed_s"] >= 0.05 for rank in told["ranks"])


@pytest.mark.full  # by default test_profile.py compares clocks that differ
@pytest.mark.vcluster
@pytest.mark.usefixtures("state")
def test_the_answers_are_the_same_on_two_nodes(results: Path, tmp_path: Path) -> None:
    mpi = MPIS["mpich"]
    source = ROOT / "progress_engine" / "tests" / "programs" / "where.c"
    program = compiler.compiled(mpi.mpicc, mpi, source, tmp_path / "where", "-g")
    done = bench("where", "--mpi", "mpich", "-n", "2", "--", str(program))
    assert done.returncode == 0, done.stderr
    assert "The clocks of 2 machines were compared" in done.stdout
    session = latest(results)
    found = where.read(session / "profiles", addresses.source_lines)
    assert {profile["host"] for profile in found.profiles} == {"vc1", "vc2"}
    (log,) = (session / "logs").glob("*.off.log")
    assert check(log.read_text(), found, "where.c") == IN_C | MPI_4


@pytest.mark.full
@pytest.mark.usefixtures("results")
def test_a_program_that_fails_is_not_told_of() -> None:
    done = bench("where", "--mpi", "mpich", "--system", "local", "--", "false")
    assert done.returncode == 1
    assert "exit status 1" in done.stderr
    assert "Traceback" not in done.stderr


IDLE = """
#include <mpi.h>
#include <stdio.h>
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const double begin = MPI_Wtime();
  while (MPI_Wtime() < begin + 0.2) {
  }
  MPI_Barrier(MPI_COMM_WORLD);
  printf("time: %g s\\n", MPI_Wtime() - begin);
  MPI_Finalize();
  return 0;
}
"""


@pytest.mark.full
def test_what_has_nothing_to_win_is_not_compared(results: Path, tmp_path: Path) -> None:
    (tmp_path / "idle.c").write_text(IDLE)
    mpi = MPIS["mpich"]
    subprocess.run([str(mpi.mpicc), "idle.c", "-o", "idle"], cwd=tmp_path, check=True)
    words = ("--mpi", "mpich", "--system", "local", "--time-from", "time: (.*) s")
    done = bench("compare-program", *words, "--", str(tmp_path / "idle"))
    assert done.returncode == 0, done.stderr
    assert "an engine is not worth having here" in done.stdout
    assert "Nothing was compared: --launches 6 does it all the same." in done.stdout
    assert [path.name.endswith("-where") for path in results.glob("2*")] == [True]


@pytest.mark.parametrize(
    ("waited", "printed", "stops", "count", "turn_ms"),
    [
        (0.01, None, True, 1, 0),
        (0.5, None, False, 490, 409),
        (0.1, None, True, 479, 0),
        (0.1, 4.0, False, 100_000, 100),
        (0.1, 8000.0, True, 1, 0),
    ],
)
def test_a_bound_below_two_per_cent_of_what_is_judged_is_nothing(
    tmp_path: Path, waited: float, printed: float | None, stops: bool, count: int, turn_ms: int
) -> None:
    """Of 10 s; a program that prints 8000 counts in milliseconds, and its whole time is taken. In a turn are 20 of its
    iterations at least, and in a launch 24 turns."""
    site = {"call": "MPI_Irecv", "file": "/nowhere", "offset": 16, "symbol": "f"}
    row = {"start": site, "completion": site, "count": count, "bytes": 8, "inside_s": 0, "computed_s": 1,
           "waited_s": waited, "winnable_s": waited, "then_computed_s": 0}  # fmt: skip
    profile = {"version": where.VERSION, "rank": 0, "world_size": 1, "host": "h", "elapsed_s": 10, "inside_s": 1,
               "began_ns": 0, "pace": 1.0, "clock_error_ns": None, "operations": [row], "numbers_receives": True,
               "streams": [], "waits": []}  # fmt: skip
    folders = Folders(tmp_path)
    for folder in (folders.profiles, folders.records):
        folder.mkdir()
    (folders.profiles / "profile.h.1.json").write_text(json.dumps(profile))
    samples = {"whole_s": [11.0]} | ({"printed_time": [printed]} if printed else {})
    line = {"point": {}, "rank": 0, "status": "ok", "samples": samples}
    records.write(folders.records / "a.off.jsonl", RecordFile({}, [line], {"status": "ok"}))
    said, worth, found_ms = own_program._bound(folders)
    assert (worth, found_ms) == (not stops, turn_ms)
    assert stops or "1 call site: MPI_Irecv f (nowhere+0x10)" in said
    assert ("of 4 s that it prints" in said) is (printed == 4.0)


def test_a_function_that_a_stripped_file_does_not_export_is_not_called_as_its_neighbour(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(
        "static int hidden(int); int shown(int x) { return hidden(x) + 1; }"
        "__attribute__((noinline)) static int hidden(int x) { return x * x; }"
    )
    whole, stripped = tmp_path / "whole.so", tmp_path / "stripped.so"
    subprocess.run(["cc", "-shared", "-fPIC", tmp_path / "a.c", "-o", whole], check=True, timeout=120)
    subprocess.run(["strip", whole, "-o", stripped], check=True, timeout=120)
    listed = subprocess.run(["nm", whole], check=True, capture_output=True, text=True, timeout=120).stdout
    offsets = {name: int(at, 16) + 2 for at, name in re.findall(r"^(\w+) [tT] (hidden|shown)$", listed, re.MULTILINE)}

    def named(file: Path) -> dict[str, str]:
        asked = {(str(file), offset): name if name == "shown" else None for name, offset in offsets.items()}
        found = addresses.source_lines(asked)
        return {name: found.get((str(file), offset), "") for name, offset in offsets.items()}

    assert named(whole) == {"hidden": "hidden() whole.so", "shown": "shown() whole.so"}
    assert named(stripped) == {"hidden": "", "shown": "shown() stripped.so"}


@pytest.mark.parametrize(
    ("function", "said"),
    [
        ("exchange(char*, char*)", "exchange() a.c:7"),
        ("(anonymous namespace)::f<int (*)()>::run(int) const", "(anonymous namespace)::f<int (*)()>::run() a.c:7"),
        ("main::{lambda(int)#1}::operator()(int) const [clone .isra.0]", "main::{lambda(int)#1}::operator()() a.c:7"),
        ("__halo_MOD_exchange", "exchange() a.c:7"),
        ("main", "main() a.c:7"),
        ("??", ""),
    ],
)  # fmt: skip
def test_a_function_has_the_name_that_its_language_gives_it(function: str, said: str) -> None:
    assert addresses._name("app", function, "/src/a.c:7 (discriminator 2)") == said
