# SPDX-License-Identifier: BSD-3-Clause
"""The MPIs of a machine, each told by the mpi.h that its wrapper compiles with, never by a name or a folder."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from spack_env.externals import answer, prefix_of

# C wrappers as MPIs and distributions call them
WRAPPERS = ("mpicc", "mpicc.mpich", "mpicc.openmpi", "mpicc.mvapich", "mpicc.mvapich2", "mpiicx")

# Spack's package -> the macros of its version in mpi.h; derived MPIs stand before the one that they derive from
KINDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("intel-oneapi-mpi", ("I_MPI_VERSION",)),
    ("mvapich", ("MVAPICH_VERSION",)),
    ("mvapich2", ("MVAPICH2_VERSION",)),
    ("openmpi", ("OMPI_MAJOR_VERSION", "OMPI_MINOR_VERSION", "OMPI_RELEASE_VERSION")),
    ("mpich", ("MPICH_VERSION",)),
)
FORTRAN = ("mpif90", "mpifort")


@dataclass(frozen=True)
class Found:
    """An MPI by its C wrapper. `environment`: what its wrapper and its launcher cannot do without."""

    package: str
    version: str
    mpicc: Path
    fortran: bool
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def prefix(self) -> Path:
        return Path(prefix_of(str(self.mpicc)))

    @property
    def label(self) -> str:
        return f"{self.package}-{self.version}"

    def program(self, name: str) -> Path | None:
        """A program of this MPI by its plain name: mpicxx is mpicxx.openmpi beside mpicc.openmpi."""
        suffix = self.mpicc.name.removeprefix("mpicc") if self.mpicc.name.startswith("mpicc.") else ""
        path = self.mpicc.with_name(name + suffix)
        return path if path.exists() else None

    def flags(self) -> list[str]:
        """What the C wrapper adds, as -I, -L and -l."""
        return shlex.split(answer([*with_environment(self.environment), str(self.mpicc), "-show"]))


def with_environment(environment: Mapping[str, str]) -> list[str]:
    return ["env", *(f"{name}={value}" for name, value in environment.items())]


def identify(mpicc: Path, environment: Mapping[str, str] | None = None) -> Found | str:
    """Which MPI a C wrapper compiles for, or the sentence why it cannot be said."""
    prefix = with_environment(environment or {})
    text = answer([*prefix, str(mpicc), "-E", "-dM", "-x", "c", "-include", "mpi.h", os.devnull])
    defined = dict(re.findall(r"^#define (\w+) (.*)$", text, re.MULTILINE))
    for package, names in KINDS:
        if all(name in defined for name in names):
            version = ".".join(defined[name].strip('" ') for name in names)
            return Found(package, version, mpicc, _fortran(mpicc, prefix), environment or {})
    if not text:
        return f"{mpicc}: it does not compile with an mpi.h, so it is left out"
    return f"{mpicc}: its mpi.h names none of {', '.join(package for package, _ in KINDS)}, so it is left out"


def _fortran(mpicc: Path, prefix: list[str]) -> bool:
    """Whether a Fortran program links with the wrapper beside this one: some are there without their library."""
    for name in FORTRAN:
        wrapper = mpicc.with_name(mpicc.name.replace("mpicc", name, 1))
        shown = shlex.split(answer([*prefix, str(wrapper), "-show"])) if wrapper.exists() else []
        if shown and shutil.which(shown[0]):
            return True
    return False


def on_path() -> Iterator[Found | str]:
    """The MPIs whose wrappers are on PATH, each once however many names it has; and why others are left out."""
    seen: set[str] = set()
    for name in WRAPPERS:
        for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
            wrapper = Path(folder) / name
            if not os.access(wrapper, os.X_OK):
                continue
            found = identify(wrapper)
            label = found if isinstance(found, str) else found.label
            if label not in seen:
                yield found
            seen.add(label)


@dataclass(frozen=True)
class Environment:
    """An environment of spack_env/environments. Without `library` it holds no engine, only third-party codes.

    `library` is a word of MPI_Get_library_version; `needs` what a program needs in its environment for several threads
    to call this MPI; `async_progress` switches on its own progress thread.
    """

    name: str
    package: str
    library: str = ""
    needs: Mapping[str, str] = field(default_factory=dict)
    async_progress: Mapping[str, str] = field(default_factory=dict)


# MVAPICH2 gives no MPI_THREAD_MULTIPLE while it binds ranks itself, so binding is the launcher's.
MVAPICH2_THREADS = {"MV2_ENABLE_AFFINITY": "0"}

ENVIRONMENTS: dict[str, Environment] = {
    environment.name: environment
    for environment in (
        Environment("mpich", "mpich", "MPICH Version", async_progress={"MPIR_CVAR_ASYNC_PROGRESS": "1"}),
        Environment("openmpi", "openmpi", "Open MPI"),
        Environment(
            "intel-oneapi-mpi", "intel-oneapi-mpi", "Intel(R) MPI", async_progress={"I_MPI_ASYNC_PROGRESS": "1"}
        ),
        Environment("mvapich", "mvapich", "MVAPICH Version", async_progress={"MPIR_CVAR_ASYNC_PROGRESS": "1"}),
        Environment(
            "mvapich2",
            "mvapich2",
            "MVAPICH2 Version",
            needs=MVAPICH2_THREADS,
            # The first is of MPICH 3.2, which MVAPICH2 2.3 is made of, the second of MVAPICH2-X.
            async_progress={"MPICH_ASYNC_PROGRESS": "1", "MV2_ASYNC_PROGRESS": "1"},
        ),
        Environment(
            "cray-mpich",
            "cray-mpich",
            "CRAY MPICH",
            needs={"MPICH_MAX_THREAD_SAFETY": "multiple"},
            async_progress={"MPICH_ASYNC_PROGRESS": "1"},
        ),
        Environment("nmad", "nmad", "MadMPI"),
        Environment("third-party", "mpich"),
    )
}
