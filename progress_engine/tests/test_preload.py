# SPDX-License-Identifier: BSD-3-Clause
"""Where the loader drops the engine, progress-run knows it beforehand, or with --strict afterwards."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.base.mpis import MPIS, Mpi

from .conftest import MPICH_FIRST, Launcher, compiled

BUILT = [mpi for mpi in MPIS.values() if (mpi.build_dir / "bin" / "progress-run").exists()]
pytestmark = pytest.mark.skipif(not BUILT, reason="the engine is not built")
NOBODY = 65534


@pytest.fixture
def folder() -> Iterator[Path]:
    """That every user may enter."""
    made = Path(tempfile.mkdtemp(dir="/tmp"))  # pytest's own are the user's alone
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


def installed(prefix: Path) -> Path:
    """progress-run with its engine below `prefix`."""
    for name in ("bin/progress-run", "lib/libprogress_engine.so", "lib/libprogress_engine_offload.so"):
        (prefix / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(BUILT[0].build_dir / name, prefix / name)
    return prefix / "bin" / "progress-run"


def run(
    *words: str | Path, environment: dict[str, str] | None = None, folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words,
        env=os.environ | (environment or {}),
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


# It has the engine: pe_report_json is there. So does one that it starts.
HAS_ENGINE = """
#include <dlfcn.h>
#include <stdio.h>
int main(void) { puts(dlsym(RTLD_DEFAULT, "pe_report_json") ? "there" : "not there"); }
"""


@pytest.fixture
def program(folder: Path) -> Path:
    (folder / "program.c").write_text(HAS_ENGINE)
    subprocess.run(["gcc", "-D_GNU_SOURCE", "-o", folder / "program", folder / "program.c"], check=True)
    return folder / "program"


@pytest.mark.parametrize("name", ["a b", "x:y", "with $ORIGIN"])
def test_a_prefix_that_ld_preload_cannot_hold_is_reached_by_a_link(name: str, program: Path, folder: Path) -> None:
    tool = installed(folder / name)
    own = {"XDG_RUNTIME_DIR": "", "TMPDIR": str(folder)}
    for _ in range(2):  # the link is there the second time
        result = run(tool, "--", program, environment=own)
        assert (result.returncode, result.stdout, result.stderr) == (0, "there\n", "")
    link = Path(folder, f"progress-engine-{os.geteuid()}")
    assert [path.resolve() for path in link.iterdir()] == [(folder / name / "lib").resolve()]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives a folder to another user")
def test_no_link_is_made_where_another_user_could_change_it(program: Path, folder: Path) -> None:
    tool = installed(folder / "a b")
    for place in ("one", "two"):
        theirs = folder / place / "progress-engine-0"
        theirs.mkdir(parents=True)
        os.chown(theirs, NOBODY, NOBODY)
    (folder / "three").mkdir()
    own = {"XDG_RUNTIME_DIR": str(folder / "one"), "TMPDIR": str(folder / "two")}
    result = run(tool, "--", program, environment=own)
    assert not [*folder.glob("one/*/*"), *folder.glob("two/*/*")]
    assert (result.returncode, result.stdout) in ((0, "there\n"), (2, "")), result.stderr  # by /tmp, or a sentence


def test_the_name_of_the_library_in_the_environment_may_be_relative(program: Path, folder: Path) -> None:
    tool = installed(folder)
    (folder / "elsewhere").mkdir()
    named = {"PROGRESS_ENGINE_LIBRARY": "lib/libprogress_engine.so"}
    shell = ("sh", "-c", f"cd elsewhere; {program}")
    assert run(tool, "--", *shell, environment=named, folder=folder).stdout == "there\n"
    lacking = run(tool, "--", program, environment={"PROGRESS_ENGINE_LIBRARY": "lib/none.so"}, folder=folder)
    assert (lacking.returncode, lacking.stderr.count("\n")) == (2, 1)
    assert "PROGRESS_ENGINE_LIBRARY=lib/none.so: no such file" in lacking.stderr


# How a file gives a program rights that its caller does not have, and whether the caller may be root.
RIGHTS = {"set-user-ID": True, "set-group-ID": True, "file capabilities": False}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives a file to another user")
@pytest.mark.parametrize("rights", RIGHTS)
def test_a_program_with_rights_of_its_own_is_refused(rights: str, program: Path, folder: Path) -> None:
    tool = installed(folder)
    caller: tuple[str, ...] = ()
    if rights == "file capabilities":
        if not (shutil.which("setcap") and shutil.which("setpriv")):
            pytest.skip("needs setcap and setpriv")
        if run("setcap", "cap_net_raw+ep", program).returncode != 0:
            pytest.skip("no file can have capabilities here")
        caller = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
    elif rights == "set-user-ID":
        os.chown(program, NOBODY, -1)
        program.chmod(0o4755)
    else:
        os.chown(program, -1, NOBODY)
        program.chmod(0o2755)
    if run(*caller, "env", f"LD_PRELOAD={folder}/lib/libprogress_engine.so", program).stdout == "there\n":
        pytest.skip("such rights are not given here")
    result = run(*caller, tool, "--", program)
    assert (result.returncode, result.stdout) == (0, "not there\n")
    assert f"{rights}, and the loader takes nothing from LD_PRELOAD for such a program" in result.stderr
    assert run(*caller, tool, "--strict", "--", program).returncode == 2


def boxed(*seen: Path) -> list[str]:
    """A container's command, up to the program: of this machine it shows the system and these folders."""
    if not (bwrap := shutil.which("bwrap")):
        pytest.skip("bubblewrap is not installed")
    there = ["/usr", "/etc", "/sys", *map(str, seen)]
    bound = [word for path in there for word in ("--ro-bind", path, path)]
    links = [word for name in ("lib", "lib64", "bin") for word in ("--symlink", f"usr/{name}", f"/{name}")]
    box = [bwrap, *bound, *links, "--proc", "/proc", "--dev", "/dev"]
    if run(*box, "true").returncode != 0:
        pytest.skip("no namespaces can be made here")
    return box


@pytest.mark.parametrize("inside", [False, True], ids=["progress-run outside", "progress-run inside"])
def test_a_container_that_shows_the_engines_folder_has_it(inside: bool, program: Path, folder: Path) -> None:
    """docs/how-to/containers.md"""
    tool, shows = installed(folder / "engine"), folder / "shown"
    shows.mkdir()
    own = shutil.copy(program, shows)
    box, runs = boxed(shows, folder / "engine"), [str(tool), "--"]
    result = run(*([*box, *runs] if inside else [*runs, *box]), own)
    assert (result.returncode, result.stdout, result.stderr) == (0, "there\n", "")
    hidden = run(*runs, *boxed(shows), own)
    assert (hidden.returncode, hidden.stdout) == (0, "not there\n")
    assert f"object '{tool.parents[1]}/lib/libprogress_engine.so' from LD_PRELOAD cannot be preloaded" in hidden.stderr


def test_strictly_a_container_that_hides_the_engine_fails(strict: Launcher) -> None:
    shown = [strict.program.parent, strict.mpi.prefix.resolve(), *strict.mpi.prefix.parents[:1]]
    result = ran_strictly(strict, *boxed(*shown))
    assert result.returncode == 2
    assert "the engine saw MPI begin in none of its processes" in result.stderr


@pytest.fixture
def strict(mpi: Mpi, tmp_path: Path) -> Launcher:
    return Launcher(mpi, compiled(mpi, "scenarios.c", tmp_path, "-lpthread"))


def ran_strictly(strict: Launcher, *wrapper: str) -> subprocess.CompletedProcess[str]:
    """The program, which `wrapper` starts, by itself: MPICH's launcher would need what some close."""
    words: tuple[str | Path, ...] = (
        strict.progress_run,
        "--variant",
        "adaptive",
        "--strict",
        "--",
        *wrapper,
        strict.program,
        "none",
    )
    return run(*words, environment=strict.mpi.environment("tcp"))


# Of which some close what progress-run has opened for the engine, and one starts it in a process of its own.
CLOSES = f"{sys.executable} -c 'import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:]).returncode)' \"$@\""
KEEPS: dict[str, tuple[str, ...]] = {
    "itself": (),
    "a shell": ("sh", "-c", '"$@"; exit $?', "-"),
    "Python": ("sh", "-c", CLOSES, "-"),
}


@pytest.mark.mpi
@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
@pytest.mark.parametrize("by", KEEPS)
def test_strictly_a_program_runs_that_has_the_engine(strict: Launcher, by: str) -> None:
    result = ran_strictly(strict, *KEEPS[by])
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.mpi
@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
def test_strictly_a_program_that_has_lost_the_engine_on_the_way_fails(strict: Launcher) -> None:
    result = ran_strictly(strict, "env", "-u", "LD_PRELOAD")
    assert "the engine saw MPI begin in none of its processes" in result.stderr
    assert result.returncode == 2


def test_strictly_a_program_ends_as_it_ends() -> None:
    tool = BUILT[0].build_dir / "bin" / "progress-run"
    assert run(tool, "--strict", "--", "sh", "-c", "exit 7").returncode == 7
    assert run(tool, "--strict", "--", "sh", "-c", "kill -USR1 $$").returncode == -signal.SIGUSR1
    ignores = "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); "
    ignores += "os.execv(sys.argv[1], sys.argv[1:])"
    command = (tool, "--strict", "--", "sh", "-c", "exit 7")
    assert run(sys.executable, "-c", ignores, *command).returncode == 7, "a launcher may ignore the ends of its own"
    sleeper = 'trap "exit 9" TERM; echo here; while :; do sleep 0.01; done'
    with subprocess.Popen([tool, "--strict", "--", "sh", "-c", sleeper], stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout
        assert running.stdout.readline() == "here\n"
        running.terminate()
        assert running.wait(timeout=60) == 9


# A program that ends in the middle of MPI, and what has started it, which goes on without the launcher's socket.
ENDS = "#include <mpi.h>\nint main(void) { return MPI_Init(0, 0); }\n"
GOES_ON = """
import os, subprocess, sys, time
program = subprocess.Popen(sys.argv[1:], close_fds=False)
os.close(int(os.environ["PMI_FD"]))
program.wait()
time.sleep(0.5)
sys.exit(7)
"""


@pytest.mark.mpi
@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
@pytest.mark.parametrize("watched", ["--strict", "--report"])
def test_hydra_does_not_kill_who_watches_a_program(mpi: Mpi, watched: str, tmp_path: Path) -> None:
    """It takes its closed socket for the end of the process that it has started, which is progress-run."""
    (tmp_path / "ends.c").write_text(ENDS)
    program = compiled(mpi, str(tmp_path / "ends.c"), tmp_path)
    tool = mpi.build_dir / "bin" / "progress-run"
    words = (tool, "--variant", "adaptive", watched, "--", sys.executable, "-c", GOES_ON, program)
    result = run(*mpi.launch_command(1, 1), *words, environment=mpi.environment("tcp"))
    assert result.returncode == 7, result.stderr


def test_strictly_nothing_stays_behind_when_a_launcher_kills(tmp_path: Path) -> None:
    tool = BUILT[0].build_dir / "bin" / "progress-run"
    own = os.environ | {"TMPDIR": str(tmp_path)}
    sleeper = "echo $$; while :; do sleep 0.01; done"
    command = (tool, "--strict", "--", "sh", "-c", sleeper)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=own) as running:
        assert running.stdout
        assert running.stdout.readline().strip().isdigit()
        running.kill()
        assert running.stdout.read() == "", "its end closes the pipe: the program has ended, too"
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("library", ["libprogress_engine.so", "libprogress_engine_offload.so"])
def test_no_function_of_a_fabrics_library_is_among_the_engines(library: str) -> None:
    """A program may bring a second UCX: whoever calls it would reach the engine, and behind that the MPI's."""
    command = ["nm", "-D", "--defined-only", "--format=posix", str(BUILT[0].build_dir / "lib" / library)]
    names = [line.split()[0] for line in subprocess.check_output(command, text=True, timeout=60).splitlines()]
    assert names
    assert [name for name in names if name.startswith(("ucp_", "uct_", "ucs_", "fi_", "ibv_", "rdma_"))] == []
