# SPDX-License-Identifier: BSD-3-Clause
"""Programs that the engine cannot help, and that say why: what it needs is missing, or the MPI is another."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from harness.base.mpis import MPIS, Mpi

from .conftest import ALL, MPICH_FIRST, Launcher, compiled, lines, said_by_engine, shared_library

pytestmark = pytest.mark.mpi

# What is taken away, and the reason that must be given: (environment, words of the reason).
REFUSALS = {
    "level": "thread level serialized only, the engine needs multiple",
    "begin": "the MPI does not begin at thread level multiple",
    "threads": "thread could not be started",
}


@pytest.mark.elsewhere(refused="begin")
@pytest.mark.parametrize(("preset", "refused"), [*(("adaptive", what) for what in REFUSALS), ("offload", "threads")])
def test_without_what_it_needs_the_program_runs_without_it_and_says_why(
    launcher: Launcher, preset: str, refused: str, tmp_path: Path
) -> None:
    refuser = shared_library(launcher.mpi, "refuser.c", tmp_path)
    bare = launcher.run("none", tasks=1)
    for strict in (False, True):
        settings = (f"PROGRESS_ENGINE={preset}", f"PROGRESS_ENGINE_STRICT={int(strict)}", f"REFUSER={refused}")
        preload = f"LD_PRELOAD={launcher.engine}:{refuser}"
        result = launcher.run("none", prefix=("env", *settings, preload), tasks=1)
        said = said_by_engine(result.stderr)
        assert len(said) == 1, result.stderr
        assert REFUSALS[refused] in said[0]
        if not strict:
            assert (result.returncode, result.stdout) == (bare.returncode, bare.stdout)
        else:
            assert result.returncode != 0


@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
def test_a_rank_that_ends_the_program_says_why_also_if_it_is_not_the_first(launcher: Launcher, tmp_path: Path) -> None:
    """Into a file: MPICH's launcher may lose what a process said just before MPI_Abort."""
    refuser = shared_library(launcher.mpi, "refuser.c", tmp_path)
    said = tmp_path / "said"
    only_one = (
        f'test "${{PMI_RANK-$OMPI_COMM_WORLD_RANK}}" = 0 || {{ export REFUSER=level; exec 2>{said}; }}; exec "$@"'
    )
    settings = ("PROGRESS_ENGINE=adaptive", "PROGRESS_ENGINE_STRICT=1", "REFUSER=nothing")
    words = ("env", *settings, "sh", "-c", only_one, "-", "env", f"LD_PRELOAD={launcher.engine}:{refuser}")
    result = launcher.run("none", prefix=words, limit=60)
    assert result.returncode not in (0, 124), "timeout(1) has ended it"
    (line,) = said_by_engine(said.read_text())
    assert REFUSALS["level"] in line


@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
def test_an_mpi_program_that_never_begins_is_told_so(mpi: Mpi, tmp_path: Path) -> None:
    source = tmp_path / "never.c"
    source.write_text("#include <mpi.h>\nint main(void) { int begun; return MPI_Initialized(&begun) || begun; }\n")
    program = Launcher(mpi, compiled(mpi, str(source), tmp_path))
    for strict in (0, 1):
        result = program.run(variant="adaptive", settings=(f"strict={strict}", "report=1"), tasks=1)
        assert result.stderr.count("the program never called MPI_Init") == 1 + strict
        assert (result.returncode == 0) is not strict


@pytest.mark.parametrize("strict", [pytest.param(False, marks=pytest.mark.full), True])
def test_a_program_of_another_abi_runs_without_it_and_says_why(strict: bool, tmp_path: Path) -> None:
    """Preloaded past progress-run, which would refuse it: Open MPI's engine into a program of MPICH's, and back."""
    theirs, ours = (MPIS[name] for name in ("mpich", "openmpi"))
    for program_mpi, engine_mpi in ((theirs, ours), (ours, theirs)):
        engine = engine_mpi.build_dir / "lib" / "libprogress_engine.so"
        if not (program_mpi.installed() and engine.exists()):
            pytest.skip("MPICH and Open MPI are not both there")
        launcher = Launcher(program_mpi, compiled(program_mpi, "operations.c", tmp_path, "-lpthread"))
        words = ("env", "PROGRESS_ENGINE=adaptive", f"PROGRESS_ENGINE_STRICT={int(strict)}", f"LD_PRELOAD={engine}")
        result = launcher.run(prefix=words)
        assert "this engine was built for" in result.stderr
        if strict:
            assert result.returncode != 0
            assert lines(result.stdout) == []
        else:
            assert result.returncode == 0, result.stderr
            assert lines(result.stdout) == lines(launcher.run().stdout)


# The other family's MPI under a name of its own, as a vendor or a program has it: Open MPI's is told by its object.
NAMELESS = """
int MPI_Init(int* argc, char*** argv) { return (void)argc, (void)argv, 0; }
int PMPI_Init(int* argc, char*** argv) { return MPI_Init(argc, argv); }
"""


BEGINS = "int MPI_Init(int*, char***);\nint main(int argc, char** argv) { return MPI_Init(&argc, &argv); }\n"


OBJECT = "char ompi_mpi_comm_world[512];\n"


STANDARDS = "int PMPI_Abi_get_version(int* major, int* minor) { return *major = 1, *minor = 0; }\n"


HAS = {"nothing": "", "objects": OBJECT, "a standard ABI": STANDARDS, "both": OBJECT + STANDARDS}


OWN = "standard-abi of mpich"


@pytest.mark.parametrize(
    ("engine_mpi", "has"),
    [(OWN, "nothing"), (OWN, "objects"), ("mpich", "objects"), ("mpich", "a standard ABI"), ("openmpi", "nothing"),
     ("openmpi", "both")],
)  # fmt: skip
def test_an_mpi_whose_name_says_nothing_is_told_by_its_handles(engine_mpi: str, has: str, tmp_path: Path) -> None:
    engine = ALL[engine_mpi].build_dir / "lib" / "libprogress_engine.so"
    if not engine.exists():
        pytest.skip(f"the engine is not built for {ALL[engine_mpi].title}")
    library, program = tmp_path / "libmessages.so", tmp_path / "begins"
    (tmp_path / "library.c").write_text(NAMELESS + HAS[has])
    (tmp_path / "begins.c").write_text(BEGINS)
    named = ["-shared", "-fPIC", f"-Wl,-soname,{library.name}"]
    subprocess.run(["gcc", *named, "-o", library, tmp_path / "library.c"], check=True)
    found = [str(library), f"-Wl,-rpath,{tmp_path}"]
    subprocess.run(["gcc", "-o", program, tmp_path / "begins.c", *found], check=True)
    environment = os.environ | {"LD_PRELOAD": str(engine), "PROGRESS_ENGINE": "adaptive"}
    ended = subprocess.run([program], env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert ended.returncode == 0, ended.stderr
    assert f"the program uses {library.name}, and this engine was built for" in ended.stderr


LACKS = "progress engine: the program calls MPI_Isend_c, which its MPI does not have: the call fails.\n"


@pytest.mark.parametrize("plugin", [False, True])
@pytest.mark.parametrize("engine_mpi", ["mpich", "openmpi"])
def test_what_the_mpi_lacks_is_not_found(engine_mpi: str, plugin: bool, tmp_path: Path) -> None:
    """Open MPI 5.0 has no large counts; MPICH has, and its engine wraps them. The right engine hides none.

    Before MPI_Init as well, where the program is linked with its MPI. A plug-in that brings the MPI finds the wrapper
    then, and a call of it fails as MPI's calls do: an error code, here, and a sentence.
    """
    program_mpi, engine = MPIS["openmpi"], MPIS[engine_mpi].build_dir / "lib" / "libprogress_engine.so"
    if not (program_mpi.installed() and engine.exists()):
        pytest.skip("MPICH and Open MPI are not both there")
    if plugin:
        launcher = Launcher(program_mpi, compiled(program_mpi, "host.c", tmp_path, "-ldl"))
        words: tuple[str, ...] = (str(shared_library(program_mpi, "probing.c", tmp_path)),)
    else:
        launcher, words = Launcher(program_mpi, compiled(program_mpi, "probing.c", tmp_path, "-ldl")), ()
    bare = launcher.run(*words, tasks=1)
    result = launcher.run(*words, prefix=("env", "PROGRESS_ENGINE=explicit", f"LD_PRELOAD={engine}"), tasks=1)
    assert result.returncode == 0, result.stderr
    if engine_mpi == "mpich":
        assert "rank: after weak 0 0, dlsym 0 0" in lines(result.stdout)
    if engine_mpi == "mpich" and plugin:
        assert lines(result.stdout).count("rank: the send fails") == 2
        assert result.stderr.count(LACKS) == 1
    else:
        assert lines(result.stdout) == lines(bare.stdout) != []
        assert LACKS not in result.stderr
