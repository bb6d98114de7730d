# SPDX-License-Identifier: BSD-3-Clause
"""The environments: which MPI each is for, the word by which that MPI gives itself away, what it needs at run time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


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
