# SPDX-License-Identifier: BSD-3-Clause
"""A cluster's login node, as far as its commands answer: what sites' files and the guide are tested on."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from harness.cli import main
from spack_env import make_site

NUMBER = itertools.count()
MODULES = ("--mpi", "mpich=mpich/4.2", "--modules-system", "lmod")


def program(folder: Path, name: str, script: str) -> None:
    """A stand-in for a cluster's command."""
    path = folder / name
    path.write_text(f"#!/bin/bash\n{script}\n")
    path.chmod(0o755)


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A login node with Slurm, PBS, two partitions, Lmod with three modules, and an MPI that two of them bring."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("sbatch", "qsub"):
        program(folder, name, "exit 1")
    program(folder, "sinfo", "printf 'batch\\ndebug\\n'")
    program(folder, "qstat", "printf 'Queue Max\\n----- ---\\nworkq 0\\n'")
    modules = tmp_path / "modules"
    modules.mkdir()
    program(modules, "mpicc", "exit 0")
    unknown = 'echo "Lmod has detected the following error: $1 is unknown" >&2; return 1'
    load = f"case $1 in mpich/4.2|mvapich2/2.3.7) PATH={modules}:$PATH;; gcc/12) ;; *) {unknown};; esac"
    program(folder, "lmod", "echo 'Modules based on Lua: Version 8.7.20' >&2")
    monkeypatch.setenv("LMOD_CMD", str(folder / "lmod"))
    profile = f"module() {{ shift; while [ $# != 0 ]; do {load}; shift; done; }}"
    no_other = "unset BASH_ENV  # a real Lmod's `module` comes by it\n"
    (tmp_path / ".bash_profile").write_text(f"{no_other}export PATH={folder}:$PATH\n{profile}\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.setattr(make_site, "SITES", tmp_path / "sites")
    (tmp_path / "sites" / "cluster").mkdir(parents=True)
    (tmp_path / "sites" / "cluster" / "packages.yaml").write_text("packages: {}\n")
    (tmp_path / "programs").mkdir()
    (tmp_path / "programs" / "progress-run").write_text("")
    return tmp_path


def new(host: Path, *options: str) -> tuple[int, Path]:
    """./bench site new of a site that is in order but for the options given; a later one overrides."""
    file = host / f"site_{next(NUMBER)}.py"
    good = ("--name", "cluster", "--scheduler", "slurm", "--fabric", "infiniband", "--cores", "32", "--hostname", ".*")
    return main(["site", "new", str(file), *good, *options]), file
