# SPDX-License-Identifier: BSD-3-Clause
"""Which MPI somebody else's program is linked to, and whether the loader finds what it needs."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from harness.base.mpis import MPIS
from harness.base.paths import ROOT
from harness.job.program import another_mpi


@pytest.mark.mpi
@pytest.mark.parametrize(("library", "said"), [("MPICH Version", ""), ("Open MPI", "it links another MPI: ")])
def test_the_loader_says_which_mpi_a_program_has(library: str, said: str) -> None:
    mpi = MPIS["mpich"]
    if not mpi.installed():
        pytest.skip("MPICH (PyPI) is not installed")
    found = another_mpi(str(mpi.bin / "mpivars"), library, mpi.shell_environment())
    assert found.startswith(said) and bool(found) == bool(said)
    assert another_mpi("/bin/sh", library, mpi.shell_environment()) == ""


def test_a_library_that_is_found_in_another_version_is_named(tmp_path: Path) -> None:
    """So it is for a program that has the path of its own MPI built in, where another MPI brings its libfabric."""
    mine, theirs = tmp_path / "mine", tmp_path / "theirs"
    (tmp_path / "part.c").write_text("int part(void) { return 0; }\n")
    (tmp_path / "program.c").write_text("int part(void);\nint main(void) { return part(); }\n")
    for folder, version in ((mine, "PART_1.9"), (theirs, "PART_1.8")):
        folder.mkdir()
        (folder / "version").write_text(f"{version} {{ global: part; }};\n")
        library = ["-shared", f"-Wl,--version-script={folder / 'version'}", "-Wl,-soname,libpart.so"]
        compiled(tmp_path / "part.c", *library, "-o", folder / "libpart.so")
    program = compiled(tmp_path / "program.c", mine / "libpart.so", "-o", tmp_path / "program")
    found = [
        another_mpi(program, "MPICH", {"PATH": "/usr/bin:/bin", "LD_LIBRARY_PATH": str(folder)})
        for folder in (mine, theirs)
    ]
    other = theirs / "libpart.so"
    assert found == ["", f"{program} needs version PART_1.9 of libpart.so, which {other} does not have"]


def compiled(*arguments: str | Path) -> str:
    """By the C compiler; the file that it made."""
    subprocess.run(["cc", *arguments], check=True, timeout=120)
    return str(arguments[-1])


ABI = ROOT / "progress_engine" / "tests" / "abi_test.cpp"


def names(which: str) -> list[str]:
    """The names of libraries that the engine's own test says are, or are none, of an MPI's C functions."""
    (found,) = re.findall(
        rf"for \(const char\* name : \{{([^}}]*)\}}\)\s*EXPECT_{which}\(is_mpi_library", ABI.read_text()
    )
    return re.findall(r'"([^"]+)"', found)


@pytest.mark.mpi
@pytest.mark.parametrize("which", ["TRUE", "FALSE"])
def test_libraries_are_known_by_the_names_that_the_engine_knows(tmp_path: Path, which: str) -> None:
    """A program of cray-mpich's, say: what it links is asked for its version, whatever its library is called."""
    mpi = MPIS["mpich"]
    if not mpi.installed():
        pytest.skip("MPICH (PyPI) is not installed")
    ldd = tmp_path / "ldd"
    for name in names(which):
        file = Path(name).name
        ldd.write_text(f"#!/bin/sh\necho '\t{file} => {mpi.prefix}/lib/libmpi.so.12 (0x00007f0000000000)'\n")
        ldd.chmod(0o755)
        found = another_mpi("/bin/sh", "CRAY MPICH", {"PATH": f"{tmp_path}:/usr/bin:/bin"})
        assert found.startswith("it links another MPI: ") == (which == "TRUE"), name
