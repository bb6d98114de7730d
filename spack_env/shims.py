# SPDX-License-Identifier: BSD-3-Clause
"""MPIs as Spack externals that cannot be mistaken for one another.

Two MPIs that share a prefix, as a distribution's do in /usr, are one to Spack: it takes the mpicc of that prefix, and
a build "with MPICH" links Open MPI and ends with status 0. An MPI that does not have a prefix to itself, in the layout
that Spack's recipe expects, gets one: a folder of one-line scripts and links (a shim).
"""

from __future__ import annotations

import os
import shlex
import shutil
from pathlib import Path

from spack_env.externals import External
from spack_env.mpis import Found

SYSTEM_PREFIXES = ("/", "/usr", "/usr/local")
SYSTEM_LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib")
PROGRAMS = (
    "mpicc", "mpicxx", "mpic++", "mpif77", "mpif90", "mpifort", "mpifc",
    "mpiexec", "mpiexec.hydra", "mpirun", "hydra_pmi_proxy", "ompi_info", "prterun", "prte", "prted", "mpichversion",
)  # fmt: skip
INTEL = "intel-oneapi-mpi"


def external(found: Found, folder: Path) -> External:
    """The entry of packages.yaml for an MPI; writes its shim below `folder` if it needs one."""
    prefix, how = _own_prefix(found), f"{found.mpicc} compiles with its mpi.h"
    if prefix is None:
        prefix = folder / found.label
        _write(found, prefix)
        how += "; it has a prefix of its own in the site's shims"
    return External(found.package, _spec(found), str(prefix), how)


def _spec(found: Found) -> str:
    """The version, and the variants that are facts of this build."""
    if found.package == INTEL:
        return f"{INTEL}@{found.version} {'+generic-names' if found.mpicc.name == 'mpicc' else '~generic-names'}"
    fortran = {"mpich", "openmpi"} & {found.package}
    return f"{found.package}@{found.version}" + (f" {'+' if found.fortran else '~'}fortran" if fortran else "")


def _own_prefix(found: Found) -> Path | None:
    """The MPI's prefix if it has one to itself that Spack's recipe understands.

    Spack puts the whole bin folder first on PATH, so another MPI's programs in it count, and a Python's.
    """
    if found.environment or found.mpicc.name not in ("mpicc", "mpiicx"):
        return None
    if found.package == INTEL:
        layout = Path("mpi") / ".".join(found.version.split(".")[:2])
        above = found.prefix.parent.parent
        return above if found.prefix.relative_to(above) == layout else None
    shared = str(found.prefix.resolve()) in SYSTEM_PREFIXES or (found.prefix / "bin" / "python3").exists()
    return None if shared else found.prefix


def _write(found: Found, prefix: Path) -> None:
    shutil.rmtree(prefix, ignore_errors=True)
    root = prefix / "mpi" / ".".join(found.version.split(".")[:2]) if found.package == INTEL else prefix
    (root / "bin").mkdir(parents=True)
    for name in PROGRAMS:
        if program := found.program(name):
            _script(root / "bin" / name, program, found)
    _link_folders(found, root)
    if found.package == INTEL:  # what Spack reads a oneAPI package's environment from
        (root / "env").mkdir()
        lines = [f"export {name}={shlex.quote(value)}" for name, value in found.environment.items()]
        (root / "env" / "vars.sh").write_text("\n".join([f"export PATH={root}/bin:$PATH", *lines]) + "\n")


def _script(path: Path, program: Path, found: Found) -> None:
    """A script rather than a link: many wrappers look for their settings beside the name that they are called by."""
    lines = [f"export {name}={shlex.quote(value)}" for name, value in found.environment.items()]
    path.write_text("\n".join(["#!/bin/sh", *lines, f'exec {shlex.quote(str(program))} "$@"']) + "\n")
    path.chmod(0o755)


def _link_folders(found: Found, root: Path) -> None:
    """include and lib. Of a system's library folder only the MPI's own libraries: the rest would hide others'."""
    flags = found.flags()
    for folder in (Path(flag[2:]) for flag in flags if flag.startswith("-I")):
        if (folder / "mpi.h").exists():
            (root / "include").symlink_to(folder)
            break
    libraries = [flag[2:] for flag in flags if flag.startswith("-l") and "mpi" in flag]
    (root / "lib").mkdir()
    for folder in dict.fromkeys(_library_folders(flags)):
        for library in libraries:
            for file in sorted(folder.glob(f"lib{library}*.so*")):
                if not (root / "lib" / file.name).exists():
                    (root / "lib" / file.name).symlink_to(file)


def _library_folders(flags: list[str]) -> list[Path]:
    given = [Path(flag[2:]) for flag in flags if flag.startswith("-L")]
    return [folder for folder in [*given, *map(Path, SYSTEM_LIBRARIES)] if os.access(folder, os.R_OK)]
